import { lesser, type Milliseconds } from "@geoswap/protocol";
import { duration, plural } from "../../api/page/format.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import type { Config } from "../../config/config.ts";
import type { Pause } from "../../swap/pause/pauses.ts";
import type { UnendedCount } from "../../watch/count-unended.ts";
import type { Vitals } from "../../watch/read-vitals.ts";
import { attestersOf } from "./attesters-of.ts";
import type { Today } from "./read-today.ts";
import { samplesOf, type WorkerMetrics } from "./worker-metrics.ts";

/**
 * A problem for an operator. With `bad`, swaps or money already wait for its solution. With `warn`, they will if it
 * persists.
 */
export type Problem = {
	tone: "bad" | "warn";
	what: string;
	/** The next step. */
	next: string;
	/** The name of the alert, whose page in docs/runbooks has the details. */
	runbook: ShownAlert;
	/** The page that shows more. */
	href: string;
};

/** The service's state, as it was read. */
export type Vital = {
	config: Pick<Config, "chains" | "heartbeatSeconds" | "audit">;
	chainNames: ChainNames;
	pauses: readonly Pause[];
	unended: readonly UnendedCount[];
	vitals: Vitals;
	metrics: WorkerMetrics;
	today: Today;
	nowMs: Milliseconds;
};

/** Returns the problems, worst first. None if the service is healthy. */
export function findProblems(vital: Vital): Problem[] {
	const found = [
		...pauseProblems(vital),
		...swapProblems(vital),
		...chainProblems(vital),
		...attesterProblems(vital),
		...bookProblems(vital),
		...laneProblems(vital),
		...inventoryProblems(vital),
		...moveProblems(vital),
		...exposureProblems(vital),
	];
	return found.toSorted((a, b) => Number(a.tone === "warn") - Number(b.tone === "warn"));
}

/** Returns a problem that is as urgent as its alert. */
function problem(runbook: ShownAlert, what: string, next: string, href: string): Problem {
	const { severity } = shownAlerts[runbook];
	return { tone: severity === "page" ? "bad" : "warn", what, next, runbook, href };
}

/** The alerts of breaches that have their own; all others share one. */
const breachAlerts = new Map([
	["T1", "GeoswapUndeclaredWithdrawal"],
	["T2", "GeoswapUnknownMove"],
	["T3", "GeoswapRelayerShort"],
	["T4", "GeoswapBridgeDoesNotClose"],
	["I19", "GeoswapDayDoesNotClose"],
] as const);

const pauseSteps: Record<Pause["cause"], string> = {
	breach: "Read the breaches on Books; then lift it with `geoswapd pauses lift`, which audits first.",
	finality:
		"Find out which final blocks the chain dropped before you lift it, as in docs/runbooks/GeoswapFinalityBroken.md.",
	operator: "Lift it on Chains once its reason is gone.",
};

function pauseProblems({ pauses, chainNames }: Vital): Problem[] {
	return pauses.map(({ chainId, cause, reason }) =>
		problem(
			cause === "finality" ? "GeoswapFinalityBroken" : "GeoswapChainPaused",
			`${chainNames.name(chainId)} is paused (${cause}): ${reason}`,
			pauseSteps[cause],
			"/chains",
		),
	);
}

function swapProblems({ unended, vitals }: Vital): Problem[] {
	const stuck = unended.reduce((sum, one) => sum + one.stuck, 0);
	const { overdueSeconds: overdue } = vitals;
	return [
		...(stuck > 0
			? [
					problem(
						"GeoswapSwapsStuck",
						`${plural(stuck, "swap")} made no progress for longer than ${stuck === 1 ? "its" : "their"} chains should take`,
						"Open one. Its page names the cause and the next step.",
						"/swaps?show=stuck",
					),
				]
			: []),
		...(overdue > shownAlerts.GeoswapSwapsOverdue.limit
			? [
					problem(
						"GeoswapSwapsOverdue",
						`A swap has been due for ${duration(overdue)}, and no worker has processed it`,
						"Check that a worker runs, and read its log.",
						"/swaps?show=under-way",
					),
				]
			: []),
	];
}

function chainProblems({ config, vitals, chainNames, metrics }: Vital): Problem[] {
	return config.chains.flatMap(({ chainId }) => {
		const name = chainNames.name(chainId);
		const head = vitals.heads.find((one) => one.chainId === chainId);
		const next = "Check that a worker runs and that its node answers: `geoswapd config check`.";
		if (!head)
			return [problem("GeoswapFollowerBehind", `No worker has followed ${name} yet`, next, "/chains")];
		if (head.blockSecondsAgo > shownAlerts.GeoswapFollowerBehind.limit) {
			return [
				problem(
					"GeoswapFollowerBehind",
					`The newest block of ${name} is ${duration(head.blockSecondsAgo)} old`,
					next,
					"/chains",
				),
			];
		}
		if (head.unreadNumber > 0) {
			return [
				problem(
					"GeoswapBlockUnread",
					`No node returns all events of block ${head.unreadNumber} of ${name}, which takes no new swaps`,
					"Add a node of another provider.",
					"/chains",
				),
			];
		}
		const nodes = samplesOf(metrics, "geoswap_node_in_use", { chain: String(chainId) });
		const isUsed = nodes.length === 0 || nodes.some(({ value }) => value === 1);
		return isUsed
			? []
			: [problem("GeoswapNodesDown", `No node of ${name} has answered the last read`, next, "/chains")];
	});
}

function attesterProblems({ config, vitals, chainNames }: Vital): Problem[] {
	return config.chains.flatMap((chain) => {
		const attesters = attestersOf(chain, { vitals, config });
		const silent = attesters?.all.filter(({ isAlive }) => !isAlive) ?? [];
		if (!attesters || silent.length === 0) return [];
		const what = `${plural(silent.length, "attester")} of ${attesters.all.length} did not sign for ${chainNames.name(chain.chainId)} lately; ${attesters.threshold} are needed`;
		const next = `Check that these run and that their nodes answer: ${silent.map(({ attester }) => attester).join(", ")}.`;
		return [
			attesters.alive < attesters.threshold
				? problem("GeoswapAttestersTooFew", what, next, "/chains")
				: problem("GeoswapAttesterSilent", what, next, "/chains"),
		];
	});
}

function bookProblems({ config, metrics, chainNames }: Vital): Problem[] {
	if (metrics.problems.length > 0) {
		return [
			problem(
				"GeoswapMetricsUnread",
				`The workers' figures are not known: ${metrics.problems.join("; ")}`,
				"Check that a worker runs and that console.workerMetricsUrls names it. Nodes, gas and audits are not shown.",
				"/chains",
			),
		];
	}
	const breaches = [
		...samplesOf(metrics, "geoswap_audit_breaches"),
		// What pauses nothing is no problem, unless it has an alert of its own.
		...samplesOf(metrics, "geoswap_audit_notices").filter(({ labels }) =>
			breachAlerts.has(labels.invariant as "T3"),
		),
	].filter(({ value, labels }) => value > 0 && labels.invariant !== "I13");
	const ages = samplesOf(metrics, "geoswap_audit_age_seconds");
	const late = config.chains.flatMap(({ chainId }) => {
		const ofChain = ages.filter(({ labels }) => labels.chain === String(chainId)).map(({ value }) => value);
		return ofChain.length > 0 && Math.min(...ofChain) > shownAlerts.GeoswapNotAudited.limit
			? [chainNames.name(chainId)]
			: [];
	});
	return [
		...breaches.map(({ labels }) =>
			problem(
				breachAlerts.get(labels.invariant as "T1") ?? "GeoswapBooksBreached",
				`${labels.invariant} does not hold on ${chainNames.name(Number(labels.chain))}`,
				"`geoswapd reconcile` names each breach and what to do.",
				"/books",
			),
		),
		...(ages.length === 0
			? [
					// The alert waits five minutes, in which the first audit ends.
					{
						...problem(
							"GeoswapNotAudited",
							"No worker has audited the books yet",
							"The first audit comes minutes after a start.",
							"/books",
						),
						tone: "warn" as const,
					},
				]
			: []),
		...(late.length > 0
			? [
					problem(
						"GeoswapNotAudited",
						`${late.join(", ")} was not audited for more than ${duration(shownAlerts.GeoswapNotAudited.limit)}`,
						"The worker's log shows why the audit fails.",
						"/books",
					),
				]
			: []),
	];
}

function laneProblems({ config, vitals, metrics, today, chainNames, nowMs }: Vital): Problem[] {
	const waiting = vitals.jobs
		.filter(
			({ state, oldestSeconds }) =>
				state === "queued" && oldestSeconds > shownAlerts.GeoswapTransactionsWait.limit,
		)
		.map(({ kind, chainId, oldestSeconds }) =>
			problem(
				"GeoswapTransactionsWait",
				`The oldest ${kind} has waited ${duration(oldestSeconds)} for a lane of ${chainNames.name(chainId)}`,
				"Check that a worker has the relayers' keys and that they can pay for gas.",
				"/chains",
			),
		);
	const hoursToday = Math.max(1, (nowMs % 86_400_000) / 3_600_000);
	const gas = config.chains.flatMap(({ chainId, nativeDecimals }) => {
		const balances = samplesOf(metrics, "geoswap_relayer_balance_native", { chain: String(chainId) });
		const spent = Number(today.gas.find((one) => one.chainId === chainId)?.wei ?? 0n) / 10 ** nativeDecimals;
		const perHour = spent / hoursToday;
		const left = balances.reduce((sum, { value }) => sum + value, 0);
		if (
			balances.length === 0 ||
			perHour === 0 ||
			left / perHour > 24 * shownAlerts.GeoswapRelayerGasLow.limit
		)
			return [];
		const hours = left / perHour;
		const what = `The relayers of ${chainNames.name(chainId)} can pay for gas for ${duration(hours * 3_600)} more, at today's pace`;
		const next = "Send them more of the native token.";
		return [
			hours < 24 / shownAlerts.GeoswapRelayerEmpty.limit
				? problem("GeoswapRelayerEmpty", what, next, "/chains")
				: problem("GeoswapRelayerGasLow", what, next, "/chains"),
		];
	});
	return [...waiting, ...gas];
}

function inventoryProblems({ vitals, chainNames, config }: Vital): Problem[] {
	return vitals.inventory.flatMap(({ chainId, token, balance, outflowAvailable, reserved }) => {
		const { symbol } = chainNames.tokens(chainId, token, 0n);
		const isOffered = config.chains.some((chain) => chain.chainId === chainId) && !symbol.startsWith("units");
		const limit = lesser(balance, outflowAvailable);
		if (!isOffered || limit > reserved) return [];
		const why =
			balance <= outflowAvailable ? "the vault holds none that is free" : "the hourly cap is used up";
		return [
			problem(
				balance <= outflowAvailable ? "GeoswapInventoryEmpty" : "GeoswapOutflowNearCap",
				`No more ${symbol} can be sold on ${chainNames.name(chainId)}: ${why}`,
				balance <= outflowAvailable ? "Refill the vault, as in docs/capital.md." : "Wait, or raise the cap.",
				"/inventory",
			),
		];
	});
}

function moveProblems({ vitals, chainNames }: Vital): Problem[] {
	return vitals.moves.flatMap(({ chainId, stuck, lateSeconds, failed }) => {
		const name = chainNames.name(chainId);
		const isLate = lateSeconds > shownAlerts.GeoswapMoveStuck.limit;
		const what =
			stuck > 0
				? `${plural(stuck, "move")} of the treasury from ${name} ${stuck === 1 ? "is" : "are"} stuck`
				: `A move of the treasury from ${name} has been late for ${duration(lateSeconds)}`;
		return [
			...(stuck > 0 || isLate
				? [
						problem(
							"GeoswapMoveStuck",
							what,
							"Its row has the problem: `geoswapd treasury moves`.",
							"/treasury",
						),
					]
				: []),
			...(failed > 0
				? [
						problem(
							"GeoswapTradeRefused",
							`${plural(failed, "move")} of the treasury from ${name} failed in the last hour`,
							"Their rows have the reasons: `geoswapd treasury moves`.",
							"/treasury",
						),
					]
				: []),
		];
	});
}

function exposureProblems({ config, vitals, chainNames }: Vital): Problem[] {
	return config.chains.flatMap(({ chainId, unreleasedCapUsd, unfinalCapUsd }) => {
		const exposure = vitals.exposure.find((one) => one.chainId === chainId);
		const shares = [
			["unreleased", Number(exposure?.unreleasedUsdCents ?? 0n) / 100 / unreleasedCapUsd],
			["unfinal", Number(exposure?.unfinalUsdCents ?? 0n) / 100 / unfinalCapUsd],
		] as const;
		return shares
			.filter(([, share]) => share > shownAlerts.GeoswapExposureFull.limit)
			.map(([kind, share]) =>
				problem(
					"GeoswapExposureFull",
					`${Math.round(share * 100)} % of the ${kind} cap of ${chainNames.name(chainId)} is used`,
					"Above it deliveries wait. Check that attesters answer, or raise the cap.",
					"/inventory",
				),
			);
	});
}

/**
 * The alerts that the console shows as problems: how urgent each is, and its limit. The rule in deploy/alerts.yml has the
 * same severity and contains the same number, which a test compares.
 */
export const shownAlerts = {
	GeoswapAttesterSilent: { severity: "ticket" },
	GeoswapAttestersTooFew: { severity: "page" },
	GeoswapBlockUnread: { severity: "page" },
	GeoswapBooksBreached: { severity: "page" },
	GeoswapUndeclaredWithdrawal: { severity: "page" },
	GeoswapUnknownMove: { severity: "page" },
	GeoswapRelayerShort: { severity: "page" },
	GeoswapBridgeDoesNotClose: { severity: "page" },
	GeoswapDayDoesNotClose: { severity: "page" },
	GeoswapChainPaused: { severity: "page" },
	/** Share of a cap. */
	GeoswapExposureFull: { severity: "ticket", limit: 0.8 },
	GeoswapFinalityBroken: { severity: "page" },
	/** Seconds since the newest block. */
	GeoswapFollowerBehind: { severity: "page", limit: 120 },
	GeoswapInventoryEmpty: { severity: "page" },
	GeoswapMetricsUnread: { severity: "ticket" },
	/** Seconds for which a move of the treasury is late. */
	GeoswapMoveStuck: { severity: "page", limit: 1_800 },
	GeoswapNodesDown: { severity: "page" },
	/** Seconds since the last audit. */
	GeoswapNotAudited: { severity: "page", limit: 900 },
	GeoswapOutflowNearCap: { severity: "page" },
	/** The gas that is left lasts for a day divided by this. */
	GeoswapRelayerEmpty: { severity: "page", limit: 6 },
	/** Days that the gas that is left lasts. */
	GeoswapRelayerGasLow: { severity: "ticket", limit: 3 },
	/** Seconds for which a swap is due. */
	GeoswapSwapsOverdue: { severity: "page", limit: 10 },
	GeoswapSwapsStuck: { severity: "page" },
	/** Seconds for which a transaction waits for its lane. */
	GeoswapTransactionsWait: { severity: "page", limit: 120 },
	GeoswapTradeRefused: { severity: "ticket" },
} as const satisfies Record<string, { severity: "page" | "ticket"; limit?: number }>;

type ShownAlert = keyof typeof shownAlerts;
