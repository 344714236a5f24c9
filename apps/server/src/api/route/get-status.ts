import {
	fromSwapId,
	isTerminal,
	type StatusResponse,
	SwapError,
	type SwapUuid,
	statusQuerySchema,
	statusResponseSchema,
} from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { parseRequest } from "../http/parse-request.ts";
import { aboveRate } from "../http/refusal-text.ts";
import type { Route } from "../http/route.ts";
import type { Account } from "../key/api-keys.ts";
import type { HeldCalls } from "../key/held-calls.ts";
import type { RateLimits } from "../key/rate-limits.ts";
import { exampleStatus, exampleSwapId } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { type AnswerParts, swapAnswer } from "../status/swap-answer.ts";
import type { SwapListener } from "../status/swap-listener.ts";
import { createSwapReader } from "../status/swap-reader.ts";

const holdSeconds = 15;
const unheldRetrySeconds = 1;

/**
 * GET /swap/status/{swapId}. The call is held until the swap is terminal or the requested time has passed. A key
 * holds a limited number of calls. A call above that number is answered immediately with `held: false`. A process
 * holds thousands, so a held call keeps nothing of the swap in memory.
 */
export function getStatus({
	db,
	listener,
	heldCalls,
	rateLimits,
	finalitySeconds,
	explorers,
}: AnswerParts & {
	db: Database;
	listener: SwapListener;
	heldCalls: HeldCalls;
	rateLimits: Pick<RateLimits, "takeUnheld">;
}): Route {
	const swaps = createSwapReader({ db });

	async function readOwn(uuid: SwapUuid, { accountId }: Account): Promise<SwapRecord> {
		const swap = await swaps.read(uuid);
		if (swap?.accountId !== accountId) throw new SwapError("SWAP_NOT_FOUND", undefined);
		return swap;
	}

	async function answerNow(uuid: SwapUuid, account: Account): Promise<StatusResponse> {
		return swapAnswer(await readOwn(uuid, account), { finalitySeconds, explorers });
	}

	/** Answers immediately if the call is not to be held. Otherwise returns a function that gives its lease back. */
	async function answerOrHold(
		uuid: SwapUuid,
		{ account, seconds }: { account: Account; seconds: number },
	): Promise<StatusResponse | (() => void)> {
		const { keyId, limits } = account;
		const swap = await readOwn(uuid, account);
		const answer = () => swapAnswer(swap, { finalitySeconds, explorers });
		if (isTerminal(swap.status)) return answer();
		const release = await heldCalls.take(keyId, { limit: limits.heldStatusCalls, seconds });
		if (release) return release;
		// A caller that immediately calls again would otherwise use up the rate of calls that are held.
		const state = await rateLimits.takeUnheld({ keyId, perSecond: limits.rates.status });
		if (!state.isAllowed) throw aboveRate(state.resetSeconds);
		return { ...answer(), held: false };
	}

	return {
		method: "GET",
		path: "/swap/status/:swapId",
		operation: "status",
		doc: getStatusDoc,
		headersFor: (body) =>
			(body as StatusResponse).held === false ? { "retry-after": String(unheldRetrySeconds) } : {},
		async handle(request) {
			const uuid = fromSwapId(request.params.swapId ?? "");
			if (!uuid) throw new SwapError("SWAP_NOT_FOUND", undefined);
			const { wait: seconds = holdSeconds } = parseRequest(statusQuerySchema, request.query);
			if (seconds === 0) return answerNow(uuid, request.account);

			const wait = listener.waitForTerminal(uuid, seconds * 1_000);
			try {
				const now = await answerOrHold(uuid, { account: request.account, seconds });
				if (typeof now !== "function") return now;
				try {
					request.onGone(wait.end);
					await wait.over;
					return await answerNow(uuid, request.account);
				} finally {
					now();
				}
			} finally {
				wait.end();
			}
		},
	};
}

const getStatusDoc: RouteDoc = {
	id: "getStatus",
	summary: "Follow a swap",
	description: `Returns how far the swap is, and where the money is. The call is held until the status is terminal or \`wait\` seconds
have passed; then it answers with the latest known state. Ask again as soon as it answers: there is no need to sleep in between.

| \`status\` | means |
|---|---|
| \`pending\` | the swap is under way |
| \`settled\` | the recipient has what was promised |
| \`failed\` | nothing was taken, and nothing can be |
| \`refunded\` | the whole input is back in the wallet, same token, same amount |

A terminal status never changes. A key can hold only a limited number of calls at once. A call above the limit is answered at
once, with \`held: false\` and the header \`Retry-After: 1\`: wait that many seconds before you ask again.`,
	params: { swapId: "The id that submit returned." },
	query: statusQuerySchema,
	response: statusResponseSchema,
	mayAskToWait: true,
	errors: ["SWAP_NOT_FOUND"],
	example: {
		params: { swapId: exampleSwapId },
		query: { wait: "15" },
		response: exampleStatus,
	},
};
