import { submitResponseSchema, submitSolanaRequestSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import {
	exampleSignedTransaction,
	exampleSolanaOpToken,
	exampleSolanaSwapId,
} from "./example-solana-swap.ts";

export const postSubmitSolanaDoc: RouteDoc = {
	id: "submitSolana",
	summary: "Submit a swap from Solana",
	description: `Takes the transaction that the wallet signed, adds the fee payer's signature, and sends it. It must be the
transaction that was built, byte for byte: a wallet that changes what it signs cannot be used.

**Once per quote**, as with [submit](#submit): sending the same request again returns the existing swap.

**Next:** [poll the status](#getStatus) until it is terminal.`,
	body: submitSolanaRequestSchema,
	response: submitResponseSchema,
	errors: [
		...(["INVALID_SIGNATURE", "TRANSACTION_CHANGED", "INVALID_TOKEN", "OP_EXPIRED"] as const),
		...(["INSUFFICIENT_BALANCE", "SIMULATION_FAILED", "LIQUIDITY_CHANGED", "NO_ROUTE"] as const),
	],
	example: {
		body: { geoOpToken: exampleSolanaOpToken, signedTransaction: exampleSignedTransaction },
		response: { swapId: exampleSolanaSwapId, status: "pending" },
	},
};
