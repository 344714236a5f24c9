import {
	type Milliseconds,
	parseAddress,
	SwapError,
	type SwapStatus,
	type SwapsResponse,
	type SwapUuid,
	solanaChainId,
	swapsQuerySchema,
	swapsResponseSchema,
	toWord,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SealKeys } from "../../config/seal-keys.ts";
import type { Database } from "../../database/database.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { exampleStatus, exampleWallet } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { openToken } from "../seal/open-token.ts";
import { sealToken } from "../seal/seal-token.ts";
import { createKeyedLimiter } from "../status/keyed-limiter.ts";
import { listSwaps } from "../status/list-swaps.ts";
import { type AnswerParts, swapAnswer } from "../status/swap-answer.ts";
import { anyCaseAddressSchema } from "./any-case-address-schema.ts";

const defaultLimit = 20;
const purpose = "cursor:swaps";

/** The filters of a list. */
type Filters = {
	status: SwapStatus | undefined;
	/** The wallet as the 32-byte word in orders. */
	wallet: Hex | undefined;
	from: Milliseconds | undefined;
	to: Milliseconds | undefined;
};

/** The content of a cursor: the id below which the next page begins, and the filters of the list it belongs to. */
type Cursor = { before: SwapUuid } & Filters;

/** GET /swaps?limit=&cursor=&status=&wallet=&from=&to=: the account's own swaps, newest first. */
export function getSwaps({
	db,
	sealKeys,
	finalitySeconds,
	explorers,
	nowMs,
}: AnswerParts & {
	db: Database;
	sealKeys: SealKeys;
	nowMs: () => Milliseconds;
}): Route {
	// Each list reads up to months of partitions. Submits and status calls have priority for the connections.
	const inTurn = createKeyedLimiter({ atOnce: 2, waitMs: 2_000, upstream: "database" });
	return {
		method: "GET",
		path: "/swaps",
		operation: "list",
		doc: getSwapsDoc,
		handle: async ({ query, account: { accountId, accountCreatedAt } }): Promise<SwapsResponse> => {
			const { limit = defaultLimit, cursor, status, ...asked } = parseRequest(swapsQuerySchema, query);
			const { from, to } = asked;
			const filters = { status, wallet: walletWord(asked.wallet), from, to };
			const before = cursor === undefined ? undefined : await openCursor(cursor, { accountId, filters });
			const page = await inTurn(accountId, () =>
				listSwaps(db, {
					accountId,
					before,
					status,
					wallet: filters.wallet,
					fromMs: from,
					toMs: to,
					limit,
					nowMs: nowMs(),
					accountCreatedAtMs: accountCreatedAt.getTime(),
				}),
			);
			return {
				swaps: page.swaps.map((swap) => swapAnswer(swap, { finalitySeconds, explorers })),
				...(page.before && {
					nextCursor: sealToken(sealKeys, {
						purpose,
						accountId,
						payload: { before: page.before, ...filters } satisfies Cursor,
					}),
				}),
			};
		},
	};

	async function openCursor(
		cursor: string,
		{ accountId, filters }: { accountId: string; filters: Filters },
	): Promise<SwapUuid> {
		const opened = await openToken<Cursor>(sealKeys, cursor, { purpose, accountId }).catch((error) => {
			if (error instanceof SwapError && error.code === "INVALID_TOKEN") {
				throw wrongCursor(
					"is not a cursor of this account: send nextCursor unchanged, or start again without a cursor",
				);
			}
			throw error;
		});
		for (const name of ["status", "wallet", "from", "to"] as const) {
			if (opened[name] === filters[name]) continue;
			throw wrongCursor(`belongs to a list with another ${name}: send the filters that it was issued for`);
		}
		return opened.before;
	}
}

function wrongCursor(message: string): SwapError {
	return new SwapError("INVALID_REQUEST", { issues: [{ path: "cursor", message }] });
}

/** Returns a wallet as the word in orders. An EVM address is the same on every EVM chain. */
function walletWord(text: string | undefined): Hex | undefined {
	if (text === undefined) return undefined;
	const address = anyCaseAddressSchema.safeParse(text);
	if (address.success) return toWord(address.data);
	const word = parseAddress(solanaChainId, text);
	if (word) return word;
	const message = "must be an EVM address with the right checksum, or a Solana address";
	throw new SwapError("INVALID_REQUEST", { issues: [{ path: "wallet", message }] });
}

const getSwapsDoc: RouteDoc = {
	id: "listSwaps",
	summary: "List the account's swaps",
	description:
		"All swaps of the key's account, most recently quoted first. Ask again with `nextCursor` until a page has none. A page may have fewer than `limit` swaps, or none, because one call looks back over about half a year; only the last page has no `nextCursor`. Every swap that existed when the first page was requested is listed exactly once, even if others are submitted meanwhile; a newer swap may or may not be listed. With `status`, a page has the swaps that have this status when the page is requested; `wallet`, `from` and `to` narrow it to one wallet and to swaps quoted in a time. A cursor that was altered, or that belongs to another account or to other filters, is `INVALID_REQUEST`. This call is never held: wait for a swap with `GET /swap/status/{swapId}`.",
	query: swapsQuerySchema,
	response: swapsResponseSchema,
	errors: ["INVALID_REQUEST"],
	example: {
		query: { limit: "1", status: "settled", wallet: exampleWallet, from: "2026-06-01T00:00:00.000Z" },
		response: {
			swaps: [exampleStatus],
			nextCursor: "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..c2VhbGVk.Y3Vyc29y",
		},
	},
};
