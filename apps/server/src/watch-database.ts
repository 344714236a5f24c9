import { formatAddress, swapStages } from "@geoswap/protocol";
import { formatUnits, type Hex } from "viem";
import type { Config } from "./config.ts";
import { configuredAssets } from "./configured-assets.ts";
import { finalitySecondsOf } from "./finality-seconds.ts";
import { type ChainPace, createUnendedCounts, type UnendedCount } from "./store/count-unended.ts";
import type { Database } from "./store/database.ts";
import { readVitals, type Vitals } from "./store/read-vitals.ts";
import type { Meter, Sample } from "./telemetry/meter.ts";

/** Whoever looks more often, and however many look, the database is asked no more than this. */
const maxAgeMs = 5_000;

const gauges = {
	geoswap_swaps_pending: "Swaps that have not ended, by stage and route",
	geoswap_swaps_stuck:
		"Of those, the ones of which nothing was heard for longer than their chains should take",
	geoswap_stock_tokens: "What the vault holds, in whole tokens",
	geoswap_stock_reserved_tokens: "What of it is promised to swaps",
	geoswap_stock_outflow_tokens: "What may leave the vault now, by its cap for an hour",
	geoswap_exposure_usd: "Value that is delivered or about to be while its input is not ours yet",
	geoswap_exposure_cap_usd: "The most that it may be: nothing more is delivered then",
	geoswap_follower_update_age_seconds: "How long ago a new block of the chain was taken in",
	geoswap_follower_block_age_seconds: "How long ago the newest block that was taken in was made",
	geoswap_follower_unfinal_blocks: "Blocks between the newest one and the newest final one",
	geoswap_attester_heartbeat_age_seconds: "How long ago an attester signed that it sees the chain",
	geoswap_jobs: "Work for lanes and attesters that is not done",
	geoswap_job_oldest_seconds: "How long the oldest of it has been where it is",
	geoswap_transactions_unfinal: "Transactions that are signed and in no final block",
	geoswap_transaction_oldest_seconds: "How long ago the oldest of them was signed",
	geoswap_unsettled_gas_native:
		"Gas of the last day for swaps that were not settled, in the chain's native token",
} as const;

const stages = [...swapStages, "unreleased"];

type GaugeName = keyof typeof gauges;
type NamedSample = Sample & { gauge: GaugeName };

/** Lets be seen what the database knows of swaps, money, chains and attesters. */
export function watchDatabase({
	meter,
	config,
	db,
	nowMs,
}: {
	meter: Meter;
	config: Pick<Config, "chains" | "solana">;
	/** Nothing that a swap waits for may wait for this. */
	db: Database;
	nowMs: () => number;
}): void {
	const chains = chainsOf(config);
	const unended = createUnendedCounts({ db, paces: chains });
	meter.reading({
		name: "database",
		gauges,
		maxAgeMs,
		read: async () => [
			...swapSamples(await unended.read({ nowMs: nowMs() })),
			...samplesOf(await readVitals(db, { nowMs: nowMs() }), chains),
		],
	});
}

type WatchedChain = ChainPace & {
	nativeDecimals: number;
	assets: { symbol: string; decimals: number; token: Hex }[];
	unreleasedCapUsd: number;
	unfinalCapUsd: number;
};

function chainsOf(config: Pick<Config, "chains" | "solana">): WatchedChain[] {
	const { chains, solana } = config;
	const assets = configuredAssets(config);
	const finality = finalitySecondsOf(config);
	return [
		...chains.map((chain) => ({ ...chain, nativeDecimals: 18 })),
		...(solana ? [{ ...solana, nativeDecimals: 9 }] : []),
	].map((chain) => ({
		...chain,
		finalitySeconds: finality.get(chain.chainId) ?? chain.finalitySeconds,
		assets: assets
			.filter(({ chainId }) => chainId === chain.chainId)
			.map(({ token, ...asset }) => ({ ...asset, token: token.toLowerCase() as Hex })),
	}));
}

function samplesOf(vitals: Vitals, chains: readonly WatchedChain[]): NamedSample[] {
	return [
		...stockSamples(vitals, chains),
		...chains.flatMap((chain) => exposureSamples(vitals, chain)),
		...vitals.heads.flatMap(({ chainId, updatedSecondsAgo, blockSecondsAgo, unfinalBlocks }) => {
			const labels = { chain: String(chainId) };
			return [
				{ gauge: "geoswap_follower_update_age_seconds", labels, value: updatedSecondsAgo },
				{ gauge: "geoswap_follower_block_age_seconds", labels, value: blockSecondsAgo },
				{ gauge: "geoswap_follower_unfinal_blocks", labels, value: unfinalBlocks },
			] satisfies NamedSample[];
		}),
		...vitals.heartbeats.map(
			({ attester, chainId, secondsAgo }): NamedSample => ({
				gauge: "geoswap_attester_heartbeat_age_seconds",
				// An attester's address is an EVM one, whichever chain it sees.
				labels: { attester: formatAddress(1, attester), chain: String(chainId) },
				value: secondsAgo,
			}),
		),
		...vitals.jobs.flatMap(({ chainId, kind, state, count, oldestSeconds }) => {
			const labels = { chain: String(chainId), kind, state };
			return [
				{ gauge: "geoswap_jobs", labels, value: count },
				{ gauge: "geoswap_job_oldest_seconds", labels, value: oldestSeconds },
			] satisfies NamedSample[];
		}),
		...vitals.transactions.flatMap(({ chainId, count, oldestSeconds }) => {
			const labels = { chain: String(chainId) };
			return [
				{ gauge: "geoswap_transactions_unfinal", labels, value: count },
				{ gauge: "geoswap_transaction_oldest_seconds", labels, value: oldestSeconds },
			] satisfies NamedSample[];
		}),
		...chains.map(({ chainId, nativeDecimals }): NamedSample => {
			const wei = vitals.unsettledGas.find((gas) => gas.chainId === chainId)?.wei ?? 0n;
			return {
				gauge: "geoswap_unsettled_gas_native",
				labels: { chain: String(chainId) },
				value: whole(wei, nativeDecimals),
			};
		}),
	];
}

function swapSamples(swaps: readonly UnendedCount[]): NamedSample[] {
	return [
		...swaps.map(
			({ stage, origin, destination, count }): NamedSample => ({
				gauge: "geoswap_swaps_pending",
				labels: { stage, origin, destination },
				value: count,
			}),
		),
		// Each stage, always: to whoever alerts on it, a series that is absent looks like one that is well.
		...stages.map((stage): NamedSample => {
			const stuck = swaps.filter((swap) => swap.stage === stage).reduce((sum, swap) => sum + swap.stuck, 0);
			return { gauge: "geoswap_swaps_stuck", labels: { stage }, value: stuck };
		}),
	];
}

function stockSamples({ stock }: Vitals, chains: readonly WatchedChain[]): NamedSample[] {
	return stock.flatMap(({ chainId, token, balance, reserved, outflowAvailable }) => {
		const assets = chains.find((chain) => chain.chainId === chainId)?.assets ?? [];
		const asset = assets.find((candidate) => candidate.token === token);
		// No asset of the deployment any more: nothing is sold of it.
		if (!asset) return [];
		const labels = { chain: String(chainId), token: asset.symbol };
		return [
			{ gauge: "geoswap_stock_tokens", labels, value: whole(balance, asset.decimals) },
			{ gauge: "geoswap_stock_reserved_tokens", labels, value: whole(reserved, asset.decimals) },
			{ gauge: "geoswap_stock_outflow_tokens", labels, value: whole(outflowAvailable, asset.decimals) },
		] satisfies NamedSample[];
	});
}

function exposureSamples(
	{ exposure }: Vitals,
	{ chainId, unreleasedCapUsd, unfinalCapUsd }: WatchedChain,
): NamedSample[] {
	const chain = String(chainId);
	const { unreleasedUsdCents = 0n, unfinalUsdCents = 0n } =
		exposure.find((one) => one.chainId === chainId) ?? {};
	const of = (kind: "unreleased" | "unfinal", cents: bigint, cap: number): NamedSample[] => [
		{ gauge: "geoswap_exposure_usd", labels: { chain, kind }, value: whole(cents, 2) },
		{ gauge: "geoswap_exposure_cap_usd", labels: { chain, kind }, value: cap },
	];
	return [
		...of("unreleased", unreleasedUsdCents, unreleasedCapUsd),
		...of("unfinal", unfinalUsdCents, unfinalCapUsd),
	];
}

/** For a picture, not for a ledger. */
function whole(amount: bigint, decimals: number): number {
	return Number(formatUnits(amount, decimals));
}
