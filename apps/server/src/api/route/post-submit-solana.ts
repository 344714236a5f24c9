import { orderTransaction, SwapError, submitSolanaRequestSchema } from "@geoswap/protocol";
import type { Hex } from "viem";
import { type DepositSearch, findDeposit, newDepositSearch } from "../../chain/solana/read/find-deposit.ts";
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

/** Unfinished searches to keep. If there are more, the oldest begins anew. */
const mostSearches = 1_000;

/**
 * POST /swap/submit-solana. The API has no key on Solana: it stores what the wallet signed, and the lane of the fee
 * payer signs it too and sends it. So nobody else can have sent it, and the order is not open before it has a row. A
 * transaction whose row was lost is found by its memo.
 */
export function postSubmitSolana(deps: SubmitDeps): Route {
	const { solana } = deps;
	/** Searches for deposits that go on when the caller repeats its request, by the wallet's signature. */
	const searches = new Map<Hex, DepositSearch>();
	const mayLand = async ({ lastValidBlockHeight }: SealedSolanaOp) =>
		// Without a node it is unknown; but then Solana is not served either.
		solana !== undefined && (await readHeight(solana, "finalized")) <= lastValidBlockHeight;
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
		async wasOpened(op, order, { signature }) {
			if (!solana) return "never";
			// A search does not find what lands after it has begun: it is kept only if this one could not land any more.
			const isOver = !(await mayLand(op));
			const search = searches.get(signature) ?? newDepositSearch();
			if (isOver) keep(signature, search);
			const found = await findDeposit(solana, { order, signature, search });
			if (found === "unfinished") throw searchUnfinished(solana.chainId);
			searches.delete(signature);
			// Later steps look only for the message that was signed: they would conclude that this one never landed.
			if (found === "another") throw anotherExecuted();
			return found === "this" ? "opened" : found === "none" ? "never" : "untold";
		},
		mayLand,
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
		signedOp: ({ feePayer, blockhash, lastValidBlockHeight, compute }, { signature }) => ({
			kind: "solana",
			feePayer,
			blockhash,
			lastValidBlockHeight,
			compute,
			signature,
		}),
	};
	return submitRoute(origin, deps);

	function keep(signature: Hex, search: DepositSearch): void {
		searches.set(signature, search);
		const [oldest] = searches.keys();
		if (searches.size > mostSearches && oldest) searches.delete(oldest);
	}
}

function searchUnfinished(chainId: number): SwapError {
	return new SwapError(
		"UPSTREAM_UNAVAILABLE",
		{ upstream: `chain ${chainId}` },
		{
			message:
				"The wallet has so many transactions that it is not known yet whether this one was executed. Send the same request again in a moment, until it is answered; sign nothing else for this swap until then.",
		},
	);
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
