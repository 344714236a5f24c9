import { buildRequestSchema, buildSolanaResponseSchema, solanaOpSchema } from "@geoswap/protocol";
import * as z from "zod";
import { orderFieldsSchema } from "../order-fields.ts";
import type { RouteDoc } from "../route-doc.ts";
import {
	exampleSolanaOp,
	exampleSolanaOpToken,
	exampleSolanaQuoteToken,
	exampleUnsignedTransaction,
} from "./example-solana-swap.ts";

export const postBuildSolanaTxDoc: RouteDoc = {
	id: "buildSolanaTx",
	summary: "Build a swap from Solana",
	description: `Turns a quote into an unsigned v0 transaction. The service pays its fee and signs it first; the wallet is its
second signer. There is nothing to delegate on Solana.

\`geoOp\` holds everything that the transaction is built from. The SDK's \`verifyAndSignSolana\` rebuilds its bytes before it
signs.

**Next:** sign the bytes unchanged with the wallet's key, and [submit-solana](#submitSolana) the transaction
before \`expiresAt\`: a blockhash lives about a minute.`,
	body: buildRequestSchema.extend({
		authorization: z.unknown().optional().describe("Ignored."),
	}),
	response: buildSolanaResponseSchema.extend({
		geoOp: solanaOpSchema
			.extend({ order: orderFieldsSchema })
			.describe("Everything that the transaction is built from. Check it before signing."),
	}),
	errors: ["INVALID_TOKEN", "QUOTE_EXPIRED", "INSUFFICIENT_BALANCE", "SIMULATION_FAILED", "NO_ROUTE"],
	example: {
		body: { geoQuoteToken: exampleSolanaQuoteToken },
		response: {
			unsignedTransaction: exampleUnsignedTransaction,
			geoOpToken: exampleSolanaOpToken,
			expiresAt: "2026-06-01T12:00:52.310Z",
			geoOp: exampleSolanaOp,
		},
	},
};
