import { fromSwapId, type SwapStatus, type SwapUuid, swapStatuses, toSwapId } from "@geoswap/protocol";
import { html } from "../../api/page/html.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import { type Database, inTransaction } from "../../database/database.ts";
import { explainSwap } from "../../operate/swaps/explain-swap.ts";
import { readHistory } from "../../operate/swaps/read-history.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { chainPaces, isStuckSwap } from "../../swap/record/stuck-swaps.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { swapPage } from "../page/swap-page.ts";
import { type SwapsQuery, swapsPage } from "../page/swaps-page.ts";
import {
	addressDays,
	findAnything,
	listConsoleSwaps,
	listStuckSwaps,
	readLastFacts,
	readSwaps,
} from "../read/list-console-swaps.ts";
import { type ConsoleAnswer, type ConsoleRoute, type OperatorRequest, page } from "./console-route.ts";

const pageSize = 50;
const readOnly = "set transaction isolation level repeatable read, read only";

/** Returns the routes that find and show swaps. */
export function swapRoutes(parts: ConsoleParts, chainNames: ChainNames): ConsoleRoute[] {
	const { pool, config, nowMs } = parts;
	return [
		{ method: "GET", path: "/swaps", handle: listSwaps },
		{ method: "GET", path: "/swaps/:id", handle: showSwap },
	];

	async function listSwaps({ query }: OperatorRequest): Promise<ConsoleAnswer> {
		const text = query.q?.trim();
		if (!text) return listFiltered(query);
		const before = uuidOf(query.before);
		const found = await findAnything(pool, { text, limit: pageSize + 1, before, nowMs: nowMs() });
		if (found.kind === "account") return { kind: "redirect", to: `/swaps?account=${found.accountId}` };
		const ids = found.kind === "swaps" ? found.ids : [];
		const [only, another] = ids;
		if (only && !another && !before) return { kind: "redirect", to: `/swaps/${toSwapId(only)}` };
		const swaps = await readSwaps(pool, ids.slice(0, pageSize));
		const isAddress = found.kind === "swaps" && found.by === "address";
		const note = ids.length > 0 ? undefined : notFound(isAddress);
		const next = ids.length > pageSize ? swaps.at(-1)?.id : undefined;
		return list({ swaps, query: { q: text, ...(before && { before }) }, next, note });
	}

	async function listFiltered(query: SwapsQuery): Promise<ConsoleAnswer> {
		const at = nowMs();
		const before = uuidOf(query.before);
		if (query.show === "stuck") {
			const options = { paces: chainPaces(config), limit: pageSize + 1, after: before, nowMs: at };
			const ids = await listStuckSwaps(pool, options);
			const swaps = await readSwaps(pool, ids.slice(0, pageSize));
			const next = ids.length > pageSize ? ids[pageSize - 1] : undefined;
			return list({
				swaps,
				query,
				next,
				note: "Swaps that made no progress for twice the time that their chains take.",
			});
		}
		const filter = {
			status: swapStatuses.find((status: SwapStatus) => status === query.show),
			isUnderWay: query.show === "under-way",
			originChainId: chainIdOf(query.from),
			destinationChainId: chainIdOf(query.to),
			accountId: uuidOf(query.account),
			before,
		};
		const found = await listConsoleSwaps(pool, { filter, limit: pageSize + 1, nowMs: at });
		const swaps = found.slice(0, pageSize);
		return list({ swaps, query, next: found.length > pageSize ? swaps.at(-1)?.id : undefined });
	}

	async function list({
		swaps,
		query,
		next,
		note,
	}: {
		swaps: SwapRecord[];
		query: SwapsQuery;
		next: string | undefined;
		note?: string | undefined;
	}): Promise<ConsoleAnswer> {
		const [accounts, facts] = await Promise.all([
			readAccountNames(pool, [...swaps.map(({ accountId }) => accountId), uuidOf(query.account)]),
			readLastFacts(
				pool,
				swaps.map(({ id }) => id),
			),
		]);
		return page(swapsPage({ swaps, facts, accounts, query, next, note, config, chainNames, nowMs: nowMs() }));
	}

	async function showSwap({ params }: OperatorRequest): Promise<ConsoleAnswer> {
		const uuid = fromSwapId(params.id ?? "") ?? uuidOf(params.id);
		const shown = uuid && (await inTransaction(pool, (db) => readOne(db, uuid), { first: readOnly }));
		if (!shown) {
			const body = html`<h1>No such swap</h1><p>No swap has the id <code>${params.id}</code>.</p>`;
			return page({ title: "No such swap · Geoswap console", menu: "/swaps", body, status: 404 });
		}
		return page(swapPage(shown, { config, chainNames, nowMs: nowMs() }));

		async function readOne(db: Database, id: SwapUuid) {
			const swap = await readSwap(db, id);
			if (!swap) return undefined;
			const history = await readHistory(db, swap);
			const explanation = await explainSwap(db, swap, { config, nowMs: nowMs() });
			const names = await readAccountNames(db, [swap.accountId]);
			const isStuck = await isStuckSwap(db, { id, paces: chainPaces(config), nowMs: nowMs() });
			return { swap, history, explanation, isStuck, accountName: names.get(swap.accountId ?? "") };
		}
	}
}

function notFound(isAddress: boolean): string {
	return isAddress
		? `No swap of the last ${addressDays} days is from this wallet or to this recipient.`
		: "Nothing is known by this. A transaction is known once a worker has signed it, or has followed the chain up to its block.";
}

function uuidOf(text: string | undefined): SwapUuid | undefined {
	return text && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
		? (text.toLowerCase() as SwapUuid)
		: undefined;
}

function chainIdOf(text: string | undefined): string | undefined {
	return text && /^[1-9]\d{0,14}$/.test(text) ? text : undefined;
}

/** Returns the names of accounts, by id. */
async function readAccountNames(
	db: Database,
	ids: readonly (string | undefined)[],
): Promise<Map<string, string>> {
	const { rows } = await db.query<{ id: string; name: string }>(
		"select id, name from accounts where id = any($1::uuid[])",
		[[...new Set(ids.filter((id) => id !== undefined))]],
	);
	return new Map(rows.map(({ id, name }) => [id, name]));
}
