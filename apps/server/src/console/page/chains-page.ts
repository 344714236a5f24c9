import type { Milliseconds } from "@geoswap/protocol";
import { ago, count, decimal, duration } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import type { ChainConfig } from "../../config/chain-config.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import type { ConsoleConfig } from "../../config/config-problems.ts";
import type { LiftedPause, Pause } from "../../swap/pause/pauses.ts";
import { attestersOf } from "../read/attesters-of.ts";
import type { Overview } from "../read/read-overview.ts";
import { samplesOf } from "../read/worker-metrics.ts";
import type { Page } from "../route/console-route.ts";
import { addressLink } from "./chain-links.ts";
import { facts, pill, section, table } from "./parts.ts";

type Context = { config: ConsoleConfig; chainNames: ChainNames; nowMs: Milliseconds };

/** Returns the page of the chains: how far they are followed, their nodes, relayers, attesters and pauses. */
export function chainsPage(
	{ overview, lifted }: { overview: Overview; lifted: readonly LiftedPause[] },
	context: Context,
): Page {
	const { config, chainNames, nowMs } = context;
	const { problems } = overview.metrics;
	const body = html`
		<h1>Chains</h1>
		${
			problems.length > 0
				? html`<p class="note">Nodes and relayers' gas are not shown: ${problems.join("; ")}.</p>`
				: null
		}
		${config.chains.map((chain) => chainSection(chain, overview, context))}
		${section(
			{ id: "lifted", title: "Pauses that were lifted" },
			table({
				label: "Pauses that were lifted",
				columns: [
					{ title: "Chain" },
					{ title: "Cause" },
					{ title: "Paused" },
					{ title: "By" },
					{ title: "Why" },
					{ title: "Lifted" },
					{ title: "By" },
					{ title: "Why" },
				],
				rows: lifted.map((pause) => [
					chainNames.name(pause.chainId),
					pause.cause,
					ago(pause.since, nowMs),
					pause.setBy,
					pause.reason,
					ago(pause.liftedAt, nowMs),
					pause.liftedBy,
					pause.liftedReason,
				]),
				none: "No pause was ever lifted.",
			}),
		)}`;
	return { title: "Chains · Geoswap console", menu: "/chains", body };
}

function chainSection(chain: ChainConfig, overview: Overview, context: Context): Content {
	const { chainId } = chain;
	const { chainNames } = context;
	const { vitals } = overview;
	const pauses = overview.pauses.filter((pause) => pause.chainId === chainId);
	const head = vitals.heads.find((one) => one.chainId === chainId);
	const isPausedByOperator = pauses.some(({ cause }) => cause === "operator");
	return section(
		{ id: `chain-${chainId}`, title: chainNames.name(chainId), note: `chain ${chainId}` },
		html`<div id=${`state-${chainId}`} data-live>
			${pauses.map((pause) => pauseNote(pause, context))}
			${facts([
				["Sales", pauses.length > 0 ? pill("paused", "bad") : pill("open", "good")],
				[
					"Newest block",
					head
						? `${count(head.finalNumber + head.unfinalBlocks)}, ${duration(Math.max(0, head.blockSecondsAgo))} old`
						: "not followed yet",
				],
				["Final block", head ? `${count(head.finalNumber)}, ${count(head.unfinalBlocks)} behind` : "–"],
				["Worker's last update", head ? `${duration(Math.max(0, head.updatedSecondsAgo))} ago` : "–"],
				["Waiting", waiting(chainId, overview)],
			])}
			<div class="two inner">${nodes(chain, overview)}${attesters(chain, overview, context)}</div>
			${relayers(chain, overview, context)}
		</div>`,
		isPausedByOperator
			? null
			: html`<p class="do"><a class="button" href=${`/chains/${chainId}/pause`}>Pause ${chainNames.name(chainId)}…</a></p>`,
	);
}

function pauseNote(
	{ chainId, cause, reason, setBy, since, breaches }: Pause,
	{ chainNames, nowMs }: Context,
): Content {
	const command = `geoswapd pauses lift ${chainId} --cause ${cause} --by NAME --reason TEXT`;
	return html`<div class="paused">
		<p>${pill(cause, "bad")} <b>${reason}</b> <span class="quiet">by ${setBy}, ${ago(since, nowMs)}</span></p>
		${breaches.length > 0 ? html`<ul>${breaches.map((breach) => html`<li>${breach}</li>`)}</ul>` : null}
		${
			cause === "operator"
				? html`<p><a class="button" href=${`/chains/${chainId}/lift`}>Lift the pause of ${chainNames.name(chainId)}…</a></p>`
				: html`<p class="quiet">${
						cause === "breach"
							? "Lifting it accepts the breaches, after an audit that needs the chains' nodes:"
							: "Lifting it undoes blocks that were final:"
					}</p><pre><code>${command}</code></pre>`
		}
	</div>`;
}

function waiting(chainId: number, { vitals }: Overview): Content {
	const jobs = vitals.jobs.filter((job) => job.chainId === chainId);
	if (jobs.length === 0) return html`<span class="quiet">no job waits</span>`;
	return jobs
		.map(
			({ kind, state, count: number, oldestSeconds }) =>
				`${count(number)} ${kind} ${state}, oldest ${duration(oldestSeconds)}`,
		)
		.join("; ");
}

function nodes({ chainId }: ChainConfig, { metrics }: Overview): Content {
	const lags = samplesOf(metrics, "geoswap_node_lag_blocks", { chain: String(chainId) });
	const used = samplesOf(metrics, "geoswap_node_in_use", { chain: String(chainId) });
	return html`<div><h3>Nodes</h3>${table({
		label: "Nodes",
		columns: [{ title: "Host" }, { title: "State" }, { title: "Blocks behind", isNumber: true }],
		rows: lags.map(({ labels, value }) => {
			const isInUse = used.some((one) => one.labels.host === labels.host && one.value === 1);
			return [labels.host, isInUse ? pill("in use", "good") : pill("standing by", "quiet"), count(value)];
		}),
		none: "Not known.",
	})}</div>`;
}

function attesters(chain: ChainConfig, { vitals }: Overview, { config, chainNames }: Context): Content {
	const found = attestersOf(chain, { vitals, config });
	if (!found)
		return html`<div><h3>Attesters</h3><p class="none">None are needed for inputs from here.</p></div>`;
	return html`<div><h3>Attesters, ${found.threshold} needed</h3>${table({
		label: `Attesters of ${chainNames.name(chain.chainId)}`,
		columns: [{ title: "Attester" }, { title: "State" }, { title: "Last signed", isNumber: true }],
		rows: found.all.map(({ attester, secondsAgo, isAlive }) => [
			addressLink(chainNames, chain.chainId, attester),
			isAlive ? pill("alive", "good") : pill("silent", "bad"),
			secondsAgo === undefined ? "never" : `${duration(Math.max(0, secondsAgo))} ago`,
		]),
		none: "None.",
	})}</div>`;
}

function relayers(
	{ chainId }: ChainConfig,
	{ metrics, today }: Overview,
	{ chainNames, nowMs }: Context,
): Content {
	const balances = samplesOf(metrics, "geoswap_relayer_balance_native", { chain: String(chainId) });
	if (balances.length === 0) return null;
	const { symbol, amount } = chainNames.nativeAmount(
		chainId,
		today.gas.find((one) => one.chainId === chainId)?.wei ?? 0n,
	);
	const hours = Math.max(1, (nowMs % 86_400_000) / 3_600_000);
	return html`<h3>Relayers</h3>${table({
		label: `Relayers of ${chainNames.name(chainId)}`,
		columns: [{ title: "Relayer" }, { title: "Gas left", isNumber: true }],
		rows: balances.map(({ labels, value }) => [
			addressLink(chainNames, chainId, labels.relayer ?? ""),
			`${decimal(value.toFixed(6), 6)} ${symbol}`,
		]),
		none: "",
	})}<p class="quiet">All of them spent ${decimal(amount)} ${symbol} today, ${decimal((Number(amount) / hours).toFixed(6))} an hour.</p>`;
}

/** Returns the page that asks for confirmation before a chain is paused or a pause is lifted. */
export function confirmPage({
	action,
	chainId,
	name,
	formToken,
	problem,
	reason = "",
}: {
	action: "pause" | "lift";
	chainId: number;
	name: string;
	formToken: string;
	/** The problem with the form that was sent. */
	problem?: string;
	reason?: string;
}): Page {
	const isPause = action === "pause";
	const title = isPause ? `Pause ${name}?` : `Lift the pause of ${name}?`;
	const body = html`
		<p class="crumb"><a href="/chains">Chains</a> / ${name}</p>
		<section class="confirm" aria-labelledby="confirm-title">
			<h1 id="confirm-title">${title}</h1>
			<p>${
				isPause
					? `Nothing from or to ${name} is quoted or sold from then on, within two seconds. Swaps under way go on.`
					: `${name} is quoted and sold again, unless another pause of it is open. Only the pause that an operator set is lifted.`
			}</p>
			${problem ? html`<p class="said" role="alert">${problem}</p>` : null}
			<form method="post" action=${`/chains/${chainId}/${action}`}>
				<input type="hidden" name="token" value=${formToken} />
				<label for="reason">Reason${isPause ? ", which callers see" : ", for the record"}</label>
				<textarea id="reason" name="reason" rows="3" maxlength="300" required>${reason}</textarea>
				<label class="check"><input type="checkbox" name="sure" value="yes" required /> I want to ${isPause ? `stop sales on ${name}` : `resume sales on ${name}`}.</label>
				<p class="do"><button type="submit" class=${isPause ? "danger" : undefined}>${isPause ? "Pause" : "Lift the pause"}</button>
					<a href="/chains">Leave it as it is</a></p>
			</form>
		</section>`;
	return { title: `${title} · Geoswap console`, menu: "/chains", body, status: problem ? 400 : 200 };
}
