import {
	type Milliseconds,
	SwapError,
	type SwapStatus,
	type SwapsResponse,
	type SwapUuid,
	swapsQuerySchema,
} from "@geoswap/protocol";
import type { FinalitySeconds } from "../../config/finality-seconds.ts";
import type { SealKeys } from "../../config/seal-keys.ts";
import type { Database } from "../../database/database.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { getSwapsDoc } from "../openapi/endpoints/get-swaps.ts";
import { openToken } from "../seal/open-token.ts";
import { sealToken } from "../seal/seal-token.ts";
import { listSwaps } from "../status/list-swaps.ts";
import { swapAnswer } from "../status/swap-answer.ts";
import { createTurns } from "../status/take-turns.ts";

const defaultLimit = 20;
const purpose = "cursor:swaps";

/** The content of a cursor: the id below which the next page begins, and the filter of the list it belongs to. */
type Cursor = { before: SwapUuid; status: SwapStatus | undefined };

/** GET /swaps?limit=&cursor=&status=: the account's own swaps, newest first. */
export function getSwaps({
	db,
	sealKeys,
	finalitySeconds,
	nowMs,
}: {
	db: Database;
	sealKeys: SealKeys;
	finalitySeconds: FinalitySeconds;
	nowMs: () => Milliseconds;
}): Route {
	// Each list reads months of partitions at worst: submits and status calls come first for the connections.
	const inTurn = createTurns({ atOnce: 2, waitMs: 2_000, upstream: "database" });
	return {
		method: "GET",
		path: "/swaps",
		operation: "list",
		doc: getSwapsDoc,
		handle: async ({ query, account: { accountId, accountCreatedAt } }): Promise<SwapsResponse> => {
			const { limit = defaultLimit, cursor, status } = parseRequest(swapsQuerySchema, query);
			const before = cursor === undefined ? undefined : await openCursor(cursor, { accountId, status });
			const page = await inTurn(accountId, () =>
				listSwaps(db, {
					accountId,
					before,
					status,
					limit,
					nowMs: nowMs(),
					accountCreatedAtMs: accountCreatedAt.getTime(),
				}),
			);
			return {
				swaps: page.swaps.map((swap) => ({
					...swapAnswer(swap, { finalitySeconds }),
					createdAt: swap.createdAt.toISOString(),
				})),
				...(page.before && {
					nextCursor: sealToken(sealKeys, {
						purpose,
						accountId,
						payload: { before: page.before, status } satisfies Cursor,
					}),
				}),
			};
		},
	};

	async function openCursor(
		cursor: string,
		{ accountId, status }: { accountId: string; status: SwapStatus | undefined },
	): Promise<SwapUuid> {
		const opened = await openToken<Cursor>(sealKeys, cursor, { purpose, accountId }).catch((error) => {
			if (error instanceof SwapError && error.code === "INVALID_TOKEN") {
				throw wrongCursor(
					"is not a cursor of this account: send nextCursor unchanged, or start again without a cursor",
				);
			}
			throw error;
		});
		if (opened.status !== status) {
			throw wrongCursor(
				`belongs to a list with ${statusText(opened.status)}, but this request has ${statusText(status)}`,
			);
		}
		return opened.before;
	}
}

function wrongCursor(message: string): SwapError {
	return new SwapError("INVALID_REQUEST", { issues: [{ path: "cursor", message }] });
}

function statusText(status: SwapStatus | undefined): string {
	return status === undefined ? "no status" : `status=${status}`;
}
