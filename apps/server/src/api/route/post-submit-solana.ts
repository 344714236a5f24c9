import { openTransaction, orderId, submitResponseSchema, submitSolanaRequestSchema } from "@geoswap/protocol";
import { wasOpened } from "../../chain/solana/program/was-opened.ts";
import { readHeight } from "../../chain/solana/read/read-slots.ts";
import { simulateTransaction } from "../../chain/solana/send/simulate-transaction.ts";
import { checkSignedTransaction } from "../../chain/solana/wallet/check-signed-transaction.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import {
	exampleSignedTransaction,
	exampleSolanaOpToken,
	exampleSolanaSwapId,
} from "../openapi/examples/example-solana-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { checkSimulation, checkSolanaBalance } from "../origin/check-origin.ts";
import { readSolanaAvailable, servedSolana } from "../origin/read-origin.ts";
import type { SealedSolanaOp } from "../seal/seal-token.ts";
import { type OriginSubmit, type SubmitDeps, submitRoute } from "../submit/submit-route.ts";

/**
 * POST /swap/submit-solana. The API has no key on Solana. It stores what the wallet signed, and the lane of the fee
 * payer adds its signature and sends the transaction, which needs both. So the order is not open before it has a row.
 * An order whose row was lost is found by its account on chain.
 */
export function postSubmitSolana(deps: SubmitDeps): Route {
	const { solana } = deps;
	const origin: OriginSubmit<SealedSolanaOp, string> = {
		path: "/swap/submit-solana",
		doc: postSubmitSolanaDoc,
		purpose: "op:solana",
		parse(body) {
			const { geoOpToken, signedTransaction } = parseRequest(submitSolanaRequestSchema, body);
			return { geoOpToken, signed: signedTransaction };
		},
		async check(op, order, signedTransaction) {
			const { feePayer, blockhash, lastValidBlockHeight, compute } = op;
			const signature = await checkSignedTransaction({
				deployment: solana?.deployment,
				order,
				parts: op,
				signedTransaction,
			});
			return {
				stored: { kind: "solana", feePayer, blockhash, lastValidBlockHeight, compute, signature },
				expiresAtMs: op.expiresAtMs,
				async wasOpened() {
					if (!solana) return "untold";
					const lastValidHeight = Number(lastValidBlockHeight);
					return wasOpened(solana, { orderId: orderId(order), lastValidHeight });
				},
				// Without a node this is unknown, but then Solana is not served either.
				mayLand: async () =>
					solana !== undefined && (await readHeight(solana, "finalized")) <= lastValidBlockHeight,
				async look(unopened) {
					const chain = servedSolana(solana, order.inputToken);
					const { unsigned } = await openTransaction(chain.deployment, order, op);
					const [available, simulation] = await Promise.all([
						readSolanaAvailable({ chain, order, unopened }),
						simulateTransaction(chain, unsigned),
					]);
					return {
						isOpened: false,
						async check() {
							checkSolanaBalance(order, available);
							checkSimulation(chain, simulation);
						},
						checkBalance: (claimed) => checkSolanaBalance(order, available - claimed),
					};
				},
			};
		},
	};
	return submitRoute(origin, deps);
}

const postSubmitSolanaDoc: RouteDoc = {
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
