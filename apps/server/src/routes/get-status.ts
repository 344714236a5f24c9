import { fromSwapId, isTerminal, type StatusResponse, SwapError, statusQuerySchema } from "@geoswap/protocol";
import type { HeldCalls } from "../api-key/held-calls.ts";
import type { FinalitySeconds } from "../finality-seconds.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { getStatusDoc } from "../openapi/endpoints/get-status.ts";
import type { Database } from "../store/database.ts";
import type { SwapListener } from "../store/swap-listener.ts";
import { createSwapReader } from "../store/swap-reader.ts";
import type { SwapRecord } from "../store/swap-record.ts";
import { swapAnswer } from "./swap-answer.ts";

const holdSeconds = 15;

/**
 * GET /swap/status/{swapId}. Held until the swap is terminal, for the time asked; a key holds only so many at once. A
 * process holds thousands: one that is held keeps nothing of the swap meanwhile.
 */
export function getStatus({
	db,
	listener,
	heldCalls,
	finalitySeconds,
}: {
	db: Database;
	listener: SwapListener;
	heldCalls: HeldCalls;
	finalitySeconds: FinalitySeconds;
}): Route {
	const swaps = createSwapReader({ db });
	const statusOf = (swap: SwapRecord) => swapAnswer(swap, { finalitySeconds });
	return {
		method: "GET",
		path: "/swap/status/:swapId",
		operation: "status",
		doc: getStatusDoc,
		async handle(request) {
			const { params, query, account } = request;
			const uuid = fromSwapId(params.swapId ?? "");
			if (!uuid) throw new SwapError("SWAP_NOT_FOUND", undefined);
			const { wait: seconds = holdSeconds } = parseRequest(statusQuerySchema, query);
			const readOwn = async (): Promise<SwapRecord> => {
				const swap = await swaps.read(uuid);
				if (swap?.accountId !== account.accountId) throw new SwapError("SWAP_NOT_FOUND", undefined);
				return swap;
			};
			if (seconds === 0) return statusOf(await readOwn());

			const wait = listener.waitForTerminal(uuid, seconds * 1_000);
			let release: (() => void) | undefined;
			const answerNow = async (): Promise<StatusResponse | undefined> => {
				const swap = await readOwn();
				if (isTerminal(swap.status)) return statusOf(swap);
				release = await heldCalls.take(account.keyId, { limit: account.limits.heldStatusCalls, seconds });
				return release ? undefined : statusOf(swap);
			};
			try {
				const answer = await answerNow();
				if (answer) return answer;
				const { signal } = request;
				if (!signal.aborted) {
					signal.addEventListener("abort", wait.end, { once: true });
					await wait.over;
				}
				return statusOf(await readOwn());
			} finally {
				wait.end();
				release?.();
			}
		},
	};
}
