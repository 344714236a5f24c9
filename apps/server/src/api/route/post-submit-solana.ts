import { orderTransaction, SwapError, submitSolanaRequestSchema } from "@geoswap/protocol";
import { findDeposit } from "../../chain/solana/read/find-deposit.ts";
import { readHeight } from "../../chain/solana/read/read-height.ts";
import { simulateTransaction } from "../../chain/solana/send/simulate-transaction.ts";
import { checkSignedTransaction } from "../../chain/solana/wallet/check-signed-transaction.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { postSubmitSolanaDoc } from "../openapi/endpoints/post-submit-solana.ts";
import { checkSimulation } from "../origin/check-simulation.ts";
import { checkSolanaBalance } from "../origin/check-solana-balance.ts";
import { readSolanaAvailable } from "../origin/read-solana-available.ts";
import { servedSolana } from "../origin/served-solana.ts";
import type { SealedSolanaOp } from "../seal/sealed-op.ts";
import { type OriginSubmit, type SubmitDeps, submitRoute } from "../submit/submit-route.ts";

/**
 * POST /swap/submit-solana. The API has no key on Solana: it stores what the wallet signed, and the lane of the fee
 * payer signs it too and sends it. So nobody else can have sent it, and the order is not open before it has a row. A
 * transaction whose row was lost is found by its memo.
 */
export function postSubmitSolana(deps: SubmitDeps): Route {
	const { solana } = deps;
	const origin: OriginSubmit<SealedSolanaOp> = {
		path: "/swap/submit-solana",
		doc: postSubmitSolanaDoc,
		purpose: "op:solana",
		parse(body) {
			const { geoOpToken, signedTransaction } = parseRequest(submitSolanaRequestSchema, body);
			return { geoOpToken, signed: signedTransaction };
		},
		checkSignature: async (op, order, signedTransaction) => ({
			signature: await checkSignedTransaction({
				deployment: solana?.deployment,
				order,
				parts: op,
				signedTransaction,
			}),
		}),
		expiresAtMs: ({ expiresAtMs }) => expiresAtMs,
		async wasOpened(_, order, { signature }) {
			const found = solana ? await findDeposit(solana, { order, signature }) : "none";
			// Later steps look only for the message that was signed: they would conclude that this one never landed.
			if (found === "another") throw anotherExecuted();
			return found === "this" ? "opened" : found === "none" ? "never" : "untold";
		},
		mayLand: async ({ lastValidBlockHeight }) =>
			// Without a node nobody can know; but then Solana is not served either.
			solana !== undefined && (await readHeight(solana, "finalized")) <= lastValidBlockHeight,
		async look(op, order, _, unopened) {
			const chain = servedSolana(solana, order.inputToken);
			const { unsigned } = await orderTransaction(chain.deployment, order, op);
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
		signedOp: ({ feePayer, blockhash, lastValidBlockHeight, compute }, signature) => ({
			kind: "solana",
			feePayer,
			blockhash,
			lastValidBlockHeight,
			compute,
			signature,
		}),
	};
	return submitRoute(origin, deps);
}

function anotherExecuted(): SwapError {
	return new SwapError(
		"TRANSACTION_CHANGED",
		{ changed: "blockhash" },
		{
			next: "contact_operator",
			message:
				"Another transaction of the same quote was executed and took the input. Submit that transaction again, with its geoOpToken; if you do not have it, give the operator the wallet and the requestId.",
		},
	);
}
