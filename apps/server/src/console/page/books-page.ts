import type { Milliseconds } from "@geoswap/protocol";
import { ago, count, decimal, duration, usd } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import type { ConsoleConfig } from "../../config/config-problems.ts";
import type { Overview } from "../read/read-overview.ts";
import type { LedgerSum } from "../read/read-today.ts";
import { type MetricSample, samplesOf } from "../read/worker-metrics.ts";
import type { Page } from "../route/console-route.ts";
import { pill, section, table } from "./parts.ts";

type Context = { config: ConsoleConfig; chainNames: ChainNames; nowMs: Milliseconds };

/** Returns the page of the books: the last audit, breaches, losses, and what was booked today. */
export function booksPage(
	{ overview, sums }: { overview: Overview; sums: readonly LedgerSum[] },
	context: Context,
): Page {
	const body = html`
		<h1>Books</h1>
		<p class="subtitle">A worker compares the ledger with the chains every few minutes. <code>geoswapd reconcile</code> does so now, and names each finding.</p>
		${audit(overview, context)}
		${breaches(overview, context)}
		${losses(overview, context)}
		${ledger(sums, context)}`;
	return { title: "Books · Geoswap console", menu: "/books", body };
}

function audit({ metrics }: Overview, { config, chainNames }: Context): Content {
	const ages = samplesOf(metrics, "geoswap_audit_age_seconds");
	const [took] = samplesOf(metrics, "geoswap_audit_duration_seconds");
	const ofChain = (name: string, chainId: number) => samplesOf(metrics, name, { chain: String(chainId) });
	const rows = config.chains.map(({ chainId }) => {
		const [age] = ages.filter(({ labels }) => labels.chain === String(chainId)).map(({ value }) => value);
		const found = ofChain("geoswap_audit_breaches", chainId).filter(({ value }) => value > 0);
		const notices = sum(ofChain("geoswap_audit_notices", chainId));
		return [
			chainNames.name(chainId),
			age === undefined ? html`<span class="quiet">not known</span>` : `${duration(age)} ago`,
			age === undefined
				? "–"
				: found.length === 0
					? pill("all invariants hold", "good")
					: found.map(({ labels, value }) => pill(`${labels.invariant}: ${value}`, "bad")),
			count(notices),
			count(sum(ofChain("geoswap_audit_owed", chainId))),
			usd(sum(ofChain("geoswap_audit_lost_usd", chainId)) * 100),
		];
	});
	return section(
		{
			id: "audit",
			title: "Last audit",
			note: took ? `took ${duration(took.value)}` : "no worker has reported one",
			isLive: true,
		},
		table({
			label: "The last audit, by chain",
			columns: [
				{ title: "Chain" },
				{ title: "Checked" },
				{ title: "Result" },
				{ title: "Notices", isNumber: true },
				{ title: "Refunds owed", isNumber: true },
				{ title: "Lost", isNumber: true },
			],
			rows,
			none: "No chain is configured.",
		}),
	);
}

function sum(samples: readonly MetricSample[]): number {
	return samples.reduce((total, { value }) => total + value, 0);
}

function breaches({ pauses }: Overview, { chainNames, nowMs }: Context): Content {
	const rows = pauses.flatMap(({ chainId, breaches, since }) =>
		breaches.map((breach) => [chainNames.name(chainId), ago(since, nowMs), breach]),
	);
	return section(
		{ id: "breaches", title: "Breaches that pause a chain", isLive: true },
		table({
			label: "Breaches",
			columns: [{ title: "Chain" }, { title: "Paused" }, { title: "Breach" }],
			rows,
			none: "None.",
		}),
	);
}

function losses({ vitals }: Overview, { chainNames }: Context): Content {
	return section(
		{ id: "losses", title: "Losses", note: "all that were ever booked", isLive: true },
		table({
			label: "Losses",
			columns: [{ title: "Chain" }, { title: "Lost", isNumber: true }],
			rows: vitals.losses.map(({ chainId, token, amount }) => {
				const { amount: shown, symbol } = chainNames.tokens(chainId, token, amount);
				return [chainNames.name(chainId), `${decimal(shown)} ${symbol}`];
			}),
			none: "Nothing was lost.",
		}),
	);
}

const accountWords: Record<string, string> = {
	escrow: "inputs of open orders",
	"credit:vault": "credits of the vault",
	"credit:wallet": "credits of wallets",
	inventory: "in the vaults",
	unlisted: "tokens that are not offered",
	trading: "bought and sold on pools",
	recipient: "outputs paid",
	wallet: "from and to wallets",
	treasury: "withdrawn by the operator",
	gas: "paid to chains",
	relayer: "spent by relayers",
	locked: "rent of open orders and records",
	rent: "rent of accounts made for others",
	unattributed: "moved for no order",
	loss: "lost",
	opening: "at the beginning",
};

function ledger(sums: readonly LedgerSum[], { chainNames }: Context): Content {
	return section(
		{ id: "ledger", title: "Booked today", note: "since 00:00 UTC; a debit is what an account got" },
		table({
			label: "Sums of the ledger today",
			columns: [
				{ title: "Chain" },
				{ title: "Account" },
				{ title: "Token" },
				{ title: "Debit", isNumber: true },
				{ title: "Credit", isNumber: true },
				{ title: "Change", isNumber: true },
			],
			rows: sums.map(({ account, chainId, token, debit, credit }) => {
				const isNative = account === "gas" || account === "relayer";
				const shown = (amount: bigint) =>
					isNative ? chainNames.nativeAmount(chainId, amount) : chainNames.tokens(chainId, token, amount);
				const change = debit - credit;
				const sign = change < 0n ? "−" : "+";
				return [
					chainNames.name(chainId),
					html`${account} <small class="quiet">${accountWords[account] ?? ""}</small>`,
					shown(0n).symbol,
					decimal(shown(debit).amount),
					decimal(shown(credit).amount),
					change === 0n ? "0" : `${sign}${decimal(shown(change < 0n ? -change : change).amount)}`,
				];
			}),
			none: "Nothing was booked today.",
		}),
	);
}
