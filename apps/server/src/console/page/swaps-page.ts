import { type Milliseconds, type SwapUuid, swapStatuses, toSwapId } from "@geoswap/protocol";
import { ago, duration, short, usd } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import { swapAmounts } from "../../api/page/swap-amounts.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import type { ConsoleConfig } from "../../config/config-problems.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import type { Page } from "../route/console-route.ts";
import { section, statusPill, table } from "./parts.ts";

/** The choices above the list, as in the address of the page. */
export type SwapsQuery = Partial<
	Record<"q" | "show" | "from" | "to" | "account" | "before", string | undefined>
>;

const swapsShown = ["all", ...swapStatuses, "under-way", "stuck"] as const;
const shownWords: Record<string, string> = { all: "All", "under-way": "Under way", stuck: "Stuck" };

/** Returns the list of swaps. */
export function swapsPage({
	swaps,
	facts,
	accounts,
	query,
	next,
	note,
	config,
	chainNames,
	nowMs,
}: {
	swaps: readonly SwapRecord[];
	/** The last fact of each swap that has not ended. */
	facts: ReadonlyMap<SwapUuid, string>;
	/** The names of accounts, by id. */
	accounts: ReadonlyMap<string, string>;
	query: SwapsQuery;
	/** The id to continue from. Undefined if the list ends here. */
	next: string | undefined;
	/** A note about the list, or why it is empty. */
	note?: string | undefined;
	config: ConsoleConfig;
	chainNames: ChainNames;
	nowMs: Milliseconds;
}): Page {
	const accountName = query.account ? (accounts.get(query.account) ?? query.account) : undefined;
	const title = query.q
		? `Swaps of ${short(query.q, 10)}`
		: accountName
			? `Swaps of ${accountName}`
			: "Swaps";
	const body = html`
		<h1>${title}</h1>
		${query.q ? null : filters(query, { config, chainNames })}
		${note ? html`<p class="note">${note}</p>` : null}
		${section(
			{ id: "swaps", title: "Newest first", isLive: query.before === undefined },
			table({
				label: "Swaps",
				columns: [
					{ title: "Submitted" },
					{ title: "Swap" },
					{ title: "Status" },
					{ title: "Route", isShort: true },
					{ title: "Gives", isNumber: true },
					{ title: "Gets", isNumber: true },
					{ title: "Value", isNumber: true },
					{ title: "Took", isNumber: true },
					{ title: "Account", isShort: true },
				],
				rows: swaps.map((swap) => row(swap, { facts, accounts, chainNames, nowMs })),
				none: "No swap is here.",
			}),
			html`<nav class="pages" aria-label="Pages of the list">
				${query.before ? html`<a href=${addressOf(query, { before: undefined })}>Newest</a>` : null}
				${next ? html`<a href=${addressOf(query, { before: next })} rel="next">Next page</a>` : null}
			</nav>`,
		)}`;
	return { title: `${title} · Geoswap console`, menu: "/swaps", body, search: query.q ?? "" };
}

function row(
	swap: SwapRecord,
	{
		facts,
		accounts,
		chainNames,
		nowMs,
	}: {
		facts: ReadonlyMap<SwapUuid, string>;
		accounts: ReadonlyMap<string, string>;
		chainNames: ChainNames;
		nowMs: Milliseconds;
	},
): Content[] {
	const { origin, destination, input, output } = swapAmounts(swap, chainNames, { decimals: 2 });
	const id = toSwapId(swap.id);
	const fact = facts.get(swap.id);
	const isDone = swap.status !== "pending";
	const took = ((isDone ? swap.updatedAt.getTime() : nowMs) - swap.createdAt.getTime()) / 1_000;
	return [
		ago(swap.createdAt, nowMs),
		html`<a class="mono" href=${`/swaps/${id}`} title=${id}>${short(id, 8)}</a>`,
		html`${statusPill(swap.status)}${fact && !isDone ? html` <small class="quiet">${fact}</small>` : null}`,
		`${origin} → ${destination}`,
		input,
		isDone && swap.status !== "settled" ? html`<span class="quiet">–</span>` : output,
		usd(swap.valueUsdCents),
		isDone ? duration(took) : html`<span class="quiet">${duration(took)}…</span>`,
		swap.accountId
			? html`<a href=${`/swaps?account=${swap.accountId}`}>${accounts.get(swap.accountId) ?? short(swap.accountId, 8)}</a>`
			: html`<span class="quiet">rebuilt</span>`,
	];
}

function filters(
	query: SwapsQuery,
	{ config, chainNames }: { config: ConsoleConfig; chainNames: ChainNames },
): Content {
	const chains = config.chains.map(({ chainId }) => [String(chainId), chainNames.name(chainId)] as const);
	const options = (name: "from" | "to") =>
		[["", "any chain"] as const, ...chains].map(
			([id, text]) => html`<option value=${id} selected=${id === (query[name] ?? "")}>${text}</option>`,
		);
	return html`<form class="filters" action="/swaps" aria-label="Filters">
		<label>Show <select name="show">${swapsShown.map(
			(show) =>
				html`<option value=${show} selected=${show === (query.show ?? "all")}>${shownWords[show] ?? show}</option>`,
		)}</select></label>
		<label>from <select name="from">${options("from")}</select></label>
		<label>to <select name="to">${options("to")}</select></label>
		${query.account ? html`<input type="hidden" name="account" value=${query.account} />` : null}
		<button type="submit">Show</button>
	</form>`;
}

function addressOf(query: SwapsQuery, change: SwapsQuery): string {
	const parameters = Object.entries({ ...query, ...change }).filter((entry): entry is [string, string] =>
		Boolean(entry[1]),
	);
	return `/swaps?${new URLSearchParams(parameters)}`;
}
