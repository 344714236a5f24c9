import { type ChainDeployment, formatAddress, type Milliseconds, swapStages } from "@geoswap/protocol";
import { formatUnits, type Hex } from "viem";
import { attesterSetOfChain } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import { configuredAssets } from "../config/configured-assets.ts";
import type { Database } from "../database/database.ts";
import { type ChainPace, chainPaces } from "../swap/record/stuck-swaps.ts";
import { type Meter, type Sample, sample } from "../telemetry/meter.ts";
import { createUnendedCounts, type UnendedCount } from "./count-unended.ts";
import { readVitals, type Vitals } from "./read-vitals.ts";

/** Scrapes within this time after a reading share its result, so that frequent scrapes do not load the database. */
const maxAgeMs = 5_000;

/** The help text of each metric, as a scrape shows it. */
const gauges = {
	geoswap_swaps_pending: "Swaps that have not ended, by stage and route",
	geoswap_swaps_stuck:
		"Swaps that have not ended and have made no progress for longer than their chains should take",
	geoswap_swap_overdue_seconds: "How long the swap that has been due longest has been due",
	geoswap_inventory_tokens: "Balance of the vault, from which swaps are paid out, in whole tokens",
	geoswap_inventory_reserved_tokens:
		"Part of the vault's balance that is reserved for swaps, in whole tokens",
	geoswap_inventory_outflow_tokens:
		"Amount that may leave the vault now under its hourly cap, in whole tokens",
	geoswap_exposure_usd:
		"Value of inputs from the chain whose outputs are delivered or about to be, and that are not released to the vault (unreleased); the part whose deposit is not final (unfinal)",
	geoswap_exposure_cap_usd:
		"Configured cap of geoswap_exposure_usd; for unreleased, per attester set. Deliveries that would exceed it wait",
	geoswap_follower_update_age_seconds: "Time since a new block of the chain was last processed",
	geoswap_follower_block_age_seconds: "Age of the newest block of the chain that was processed",
	geoswap_follower_unfinal_blocks: "Blocks from the newest final one to the newest one that was processed",
	geoswap_follower_final_age_seconds: "Age of the newest final block of the chain that was processed",
	geoswap_follower_unread_block:
		"Number of the oldest block that was processed without all of its events, because no node returned them; 0 if there is none",
	geoswap_follower_behind_attesters_blocks:
		"Final blocks by which the attester that has read furthest is ahead of what was processed",
	geoswap_chain_finality_seconds: "Configured time in which blocks of the chain become final",
	geoswap_base_fee_wei:
		"Base fee per unit of gas in the newest block, in the chain's smallest unit; on Solana the fee per signature",
	geoswap_loss_tokens: "Amount that was delivered and booked as lost, ever, in whole tokens",
	geoswap_treasury_moves_stuck: "Moves of the treasury that a person must look at",
	geoswap_treasury_move_late_seconds:
		"How long the move of the treasury that is open and has been late longest has been late; 0 if none is",
	geoswap_treasury_moves_failed:
		"Moves of the treasury that failed in the last hour, or that no lane signed in time",
	geoswap_attesters_alive: "Attesters of the chain's set whose last heartbeat still counts",
	geoswap_attesters_threshold: "Attesters of the chain's set that must sign",
	geoswap_attester_heartbeat_age_seconds: "Time since an attester last signed a heartbeat for the chain",
	geoswap_jobs:
		"Jobs that are not done: unattested waits for attesters, queued for a lane to sign its transaction, sent for a block",
	geoswap_job_oldest_seconds: "How long the oldest job that is not done has been in its state",
	geoswap_transactions_unfinal: "Signed transactions that are in no final block",
	geoswap_transaction_oldest_seconds:
		"Time since the oldest transaction that is in no final block was signed",
	geoswap_unsettled_gas_native:
		"Network costs of the last day for swaps that were refunded or failed, in the chain's native token",
} as const;

/** `unreleased` means that the caller has a final status, but the input is not finally released or refunded. */
const stages = [...swapStages, "unreleased"];

type NamedSample = Sample<keyof typeof gauges>;

/** Publishes metrics about swaps, money, chains and attesters that are read from the database. */
export function watchDatabase({
	meter,
	config,
	db,
	nowMs,
}: {
	meter: Meter;
	config: Pick<Config, "chains" | "heartbeatSeconds">;
	/** A separate pool, so that these queries never delay a swap. */
	db: Database;
	nowMs: () => Milliseconds;
}): void {
	const chains = chainsOf(config);
	const paces = chainPaces(config);
	const unended = createUnendedCounts({ db, paces });
	meter.reading({
		name: "database",
		gauges,
		maxAgeMs,
		read: async () => [
			...swapSamples(await unended.read({ nowMs: nowMs() })),
			...samplesOf(await readVitals(db, { nowMs: nowMs() }), chains, {
				paces,
				heartbeatSeconds: config.heartbeatSeconds,
			}),
		],
	});
}

type WatchedChain = {
	chainId: number;
	nativeDecimals: number;
	assets: { symbol: string; decimals: number; token: Hex }[];
	unreleasedCapUsd: number;
	unfinalCapUsd: number;
	/** The attesters that must read the chain. */
	attesterSet: ChainDeployment["attesterSet"];
};

function chainsOf(config: Pick<Config, "chains">): WatchedChain[] {
	const assets = configuredAssets(config);
	return config.chains.map((chain) => ({
		...chain,
		attesterSet: attesterSetOfChain(chain),
		assets: assets
			.filter(({ chainId }) => chainId === chain.chainId)
			.map(({ token, ...asset }) => ({ ...asset, token: token.toLowerCase() as Hex })),
	}));
}

function samplesOf(
	vitals: Vitals,
	chains: readonly WatchedChain[],
	{ paces, heartbeatSeconds }: Pick<Config, "heartbeatSeconds"> & { paces: readonly ChainPace[] },
): NamedSample[] {
	return [
		sample("geoswap_swap_overdue_seconds", vitals.overdueSeconds),
		...inventorySamples(vitals, chains),
		...chains.flatMap((chain) => exposureSamples(vitals, chain)),
		...lossSamples(vitals, chains),
		...chains.flatMap((chain) => moveSamples(vitals, chain)),
		...chains.flatMap((chain) => attesterSamples(vitals, chain, { heartbeatSeconds })),
		...paces.map(({ chainId, finalitySeconds }) =>
			sample("geoswap_chain_finality_seconds", finalitySeconds, { chain: String(chainId) }),
		),
		...vitals.heads.flatMap((head) => headSamples(head, vitals)),
		...vitals.heartbeats.map(({ attester, chainId, secondsAgo }) => {
			// Attesters have EVM addresses, including those that watch Solana.
			const labels = { attester: formatAddress(1, attester), chain: String(chainId) };
			return sample("geoswap_attester_heartbeat_age_seconds", secondsAgo, labels);
		}),
		...vitals.jobs.flatMap(({ chainId, kind, state, count, oldestSeconds }) => {
			const labels = { chain: String(chainId), kind, state };
			return [
				sample("geoswap_jobs", count, labels),
				sample("geoswap_job_oldest_seconds", oldestSeconds, labels),
			];
		}),
		...vitals.transactions.flatMap(({ chainId, count, oldestSeconds }) => {
			const labels = { chain: String(chainId) };
			return [
				sample("geoswap_transactions_unfinal", count, labels),
				sample("geoswap_transaction_oldest_seconds", oldestSeconds, labels),
			];
		}),
		...chains.map(({ chainId, nativeDecimals }) => {
			const wei = vitals.unsettledGas.find((gas) => gas.chainId === chainId)?.wei ?? 0n;
			return sample("geoswap_unsettled_gas_native", whole(wei, nativeDecimals), { chain: String(chainId) });
		}),
	];
}

function swapSamples(swaps: readonly UnendedCount[]): NamedSample[] {
	return [
		...swaps.map(({ count, stage, origin, destination }) =>
			sample("geoswap_swaps_pending", count, { stage, origin, destination }),
		),
		// Every stage has a series, even at 0, because an alert cannot distinguish an absent series from a healthy one.
		...stages.map((stage) => {
			const stuck = swaps.filter((swap) => swap.stage === stage).reduce((sum, swap) => sum + swap.stuck, 0);
			return sample("geoswap_swaps_stuck", stuck, { stage });
		}),
	];
}

function inventorySamples({ inventory }: Vitals, chains: readonly WatchedChain[]): NamedSample[] {
	return inventory.flatMap(({ chainId, token, balance, reserved, outflowAvailable }) => {
		const assets = chains.find((chain) => chain.chainId === chainId)?.assets ?? [];
		const asset = assets.find((candidate) => candidate.token === token);
		// The token is no longer an asset of the deployment, so no swap is paid out in it.
		if (!asset) return [];
		const labels = { chain: String(chainId), token: asset.symbol };
		return [
			sample("geoswap_inventory_tokens", whole(balance, asset.decimals), labels),
			sample("geoswap_inventory_reserved_tokens", whole(reserved, asset.decimals), labels),
			sample("geoswap_inventory_outflow_tokens", whole(outflowAvailable, asset.decimals), labels),
		];
	});
}

function exposureSamples(
	{ exposure }: Vitals,
	{ chainId, unreleasedCapUsd, unfinalCapUsd }: WatchedChain,
): NamedSample[] {
	const chain = String(chainId);
	const { unreleasedUsdCents = 0n, unfinalUsdCents = 0n } =
		exposure.find((one) => one.chainId === chainId) ?? {};
	return [
		sample("geoswap_exposure_usd", whole(unreleasedUsdCents, 2), { chain, kind: "unreleased" }),
		sample("geoswap_exposure_cap_usd", unreleasedCapUsd, { chain, kind: "unreleased" }),
		sample("geoswap_exposure_usd", whole(unfinalUsdCents, 2), { chain, kind: "unfinal" }),
		sample("geoswap_exposure_cap_usd", unfinalCapUsd, { chain, kind: "unfinal" }),
	];
}

function headSamples(head: Vitals["heads"][number], { heartbeats }: Vitals): NamedSample[] {
	const { chainId, finalNumber } = head;
	const labels = { chain: String(chainId) };
	const attested = heartbeats.filter((one) => one.chainId === chainId).map((one) => one.finalNumber);
	return [
		sample("geoswap_follower_update_age_seconds", head.updatedSecondsAgo, labels),
		sample("geoswap_follower_block_age_seconds", head.blockSecondsAgo, labels),
		sample("geoswap_follower_final_age_seconds", head.finalSecondsAgo, labels),
		sample("geoswap_follower_unfinal_blocks", head.unfinalBlocks, labels),
		sample("geoswap_follower_unread_block", head.unreadNumber, labels),
		sample(
			"geoswap_follower_behind_attesters_blocks",
			Math.max(0, ...attested.map((number) => number - finalNumber)),
			labels,
		),
		sample("geoswap_base_fee_wei", Number(head.baseFee), labels),
	];
}

function attesterSamples(
	{ heartbeats }: Vitals,
	{ chainId, attesterSet }: WatchedChain,
	{ heartbeatSeconds }: Pick<Config, "heartbeatSeconds">,
): NamedSample[] {
	const alive = heartbeats
		.filter((one) => one.chainId === chainId && one.secondsAgo < heartbeatSeconds)
		.map(({ attester }) => attester);
	const labels = { chain: String(chainId) };
	return [
		sample(
			"geoswap_attesters_alive",
			attesterSet.attesters.filter((one) => alive.includes(one.toLowerCase() as Hex)).length,
			labels,
		),
		sample("geoswap_attesters_threshold", attesterSet.threshold, labels),
	];
}

function lossSamples({ losses }: Vitals, chains: readonly WatchedChain[]): NamedSample[] {
	return chains.flatMap(({ chainId, assets }) =>
		assets.map(({ token, symbol, decimals }) => {
			const lost = losses.find((loss) => loss.chainId === chainId && loss.token === token)?.amount ?? 0n;
			return sample("geoswap_loss_tokens", whole(lost, decimals), { chain: String(chainId), token: symbol });
		}),
	);
}

function moveSamples({ moves }: Vitals, { chainId }: WatchedChain): NamedSample[] {
	const { stuck = 0, lateSeconds = 0, failed = 0 } = moves.find((one) => one.chainId === chainId) ?? {};
	const labels = { chain: String(chainId) };
	return [
		sample("geoswap_treasury_moves_stuck", stuck, labels),
		sample("geoswap_treasury_move_late_seconds", lateSeconds, labels),
		sample("geoswap_treasury_moves_failed", failed, labels),
	];
}

/** Returns whole tokens as a number, which is precise enough for a graph, but not for a ledger. */
function whole(amount: bigint, decimals: number): number {
	return Number(formatUnits(amount, decimals));
}
