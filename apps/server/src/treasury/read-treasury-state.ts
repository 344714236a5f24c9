import { type Amount, greater, type Milliseconds, rescaleDown, rescaleUp, type Wei } from "@geoswap/protocol";
import { type Address, type Hex, parseUnits } from "viem";
import type { TreasuryReading } from "../chain/evm/read/read-treasury.ts";
import type { Config } from "../config/config.ts";
import type { DatabasePool } from "../database/database.ts";
import { type DeskAsset, type DeskChain, deskChains } from "../desk/desk-chain.ts";
import type { PriceCache } from "../desk/price/price-cache.ts";
import { toUsdE18 } from "../desk/price/usd-value.ts";
import { type MoveHistory, readTreasuryRows } from "./read-treasury-rows.ts";
import { moveGas, moveTransactions, routeStates } from "./route-states.ts";
import type { AssetState, ChainState, RelayerState, TreasuryState } from "./treasury-state.ts";

/** Half-lives after which demand counts nothing. */
const demandHalfLives = 8;

/** A chain whose events are read up to a block that is older than this is not planned. */
const maxBehindSeconds = 120;

/** The balance of a vault of a token. */
export type Held = (chainId: number, token: Hex) => Amount;

/**
 * Reads what a plan depends on: rows, prices and the vaults' caps. A chain of which something cannot be read is
 * `unreadable`, and the others are planned.
 */
export async function readTreasuryState({
	pool,
	config,
	priceCache,
	readChain,
	nowMs,
}: {
	pool: DatabasePool;
	config: Pick<Config, "chains" | "price" | "treasury">;
	priceCache: PriceCache;
	/** Reads caps and relayers of an EVM chain. */
	readChain: (chainId: number) => Promise<TreasuryReading>;
	nowMs: Milliseconds;
}): Promise<{ state: TreasuryState; held: Held }> {
	const chains = [...deskChains(config).values()];
	const demandHours = demandHalfLives * config.treasury.policy.halfLifeHours;
	const [rows, ...read] = await Promise.all([
		readTreasuryRows(pool, { demandHours, nowMs }),
		...chains.map(async ({ kind, chainId }) => {
			const reading = kind === "evm" ? await readChain(chainId).catch(() => undefined) : undefined;
			return [chainId, reading] as const;
		}),
	]);
	const readings = new Map(read.flatMap(([chainId, one]) => (one ? [[chainId, one] as const] : [])));
	const balances = new Map(rows.inventory.map((row) => [keyOf(row.chainId, row.token), row]));
	const held: Held = (chainId, token) => balances.get(keyOf(chainId, token))?.balance ?? 0n;
	const gasE18 = moveGas(config, { priceCache, nowMs });
	const targets = targetsOf(chains, { config, held });
	const bridges = rows.moves.filter(({ kind }) => kind === "bridge");
	const routes = routeStates(config, {
		gasE18,
		readings,
		stuck: (chainId, toChainId) =>
			bridges.some((move) => move.isLate && move.chainId === chainId && move.toChainId === toChainId),
	});
	const state: TreasuryState = {
		minute: Math.floor(nowMs / 60_000),
		chains: chains.map(chainState),
		routes,
		history: rows.history.flatMap((row) => historyOf(row, chains)),
		inTransitE18: bridges.reduce((sum, { chainId, amount }) => {
			const chain = chains.find((one) => one.chainId === chainId);
			return chain ? sum + rescaleUp(amount, settlementOf(chain).decimals, 18) : sum;
		}, 0n),
	};
	return { state, held };

	function chainState(chain: DeskChain): ChainState {
		const { chainId, name, vault } = chain;
		const { symbol, decimals } = settlementOf(chain);
		const token = chain.settlementToken;
		const reading = readings.get(chainId);
		const [tradeGasE18, sendGasE18] = [
			gasE18(chainId, moveTransactions.trade),
			gasE18(chainId, moveTransactions.send),
		];
		const isRead =
			balances.has(keyOf(chainId, token)) &&
			isFollowed(chainId, reading) &&
			(chain.kind !== "evm" || (reading !== undefined && tradeGasE18 !== undefined));
		const isPaused = rows.pausedChainIds.includes(chainId);
		return {
			chainId,
			name,
			status: isPaused
				? "paused"
				: rows.unknownMoveChainIds.includes(chainId)
					? "unexplained"
					: isRead
						? "open"
						: "unreadable",
			vault,
			settlement: {
				chainId,
				token,
				symbol,
				decimals,
				target: rescaleDown(targets.get(chainId) ?? 0n, 18, decimals),
				free: freeOf(chain, token),
				arriving: arrivingAt(chain),
				tradeCapLeft: capOn(reading, token),
				demand: rows.demand.filter((row) => row.chainId === chainId && isSame(row.token, token)),
			},
			assets: chain.kind === "evm" ? assetStates(chain, reading) : [],
			relayers: reading?.relayers.map((relayer) => relayerState(chainId, relayer)) ?? [],
			tradeGasE18: tradeGasE18 ?? 0n,
			sendGasE18: sendGasE18 ?? 0n,
		};
	}

	/**
	 * Returns whether the follower has read the chain's events up to now. After a restore it must catch up first, or moves
	 * that are already made would be planned again.
	 */
	function isFollowed(chainId: number, reading: TreasuryReading | undefined): boolean {
		const head = rows.followed.find((one) => one.chainId === chainId);
		return head !== undefined && (!reading || reading.timestamp - head.timestamp <= maxBehindSeconds);
	}

	/** Returns the assets whose reference is live. Those whose pools disagree with it have no ladders. */
	function assetStates(chain: DeskChain, reading: TreasuryReading | undefined): AssetState[] {
		const { chainId } = chain;
		return chain.assets.flatMap((asset): AssetState[] => {
			const id = { chainId, asset: asset.address };
			if (asset.address === chain.settlementToken) return [];
			if (!priceCache.isReferenceLive(id, { nowMs })) return [];
			const ladders = priceCache.isLive(id, { nowMs }) ? priceCache.ladders(id) : undefined;
			const { volatilityPercent } = config.price;
			return [
				{
					token: asset.address,
					symbol: asset.symbol,
					decimals: asset.decimals,
					isNative: asset === chain.native && BigInt(asset.address) === 0n,
					usdE18: priceCache.reference(id).usdE18,
					free: freeOf(chain, asset.address),
					maxHeld: maxHeldOf(chainId, asset),
					volatilityPercentPerYear: volatilityPercent.bySymbol[asset.symbol] ?? volatilityPercent[asset.kind],
					tradeCapLeft: capOn(reading, asset.address),
					sell: ladders?.sell ?? [],
					buy: ladders?.buy ?? [],
				},
			];
		});
	}

	function maxHeldOf(chainId: number, { symbol, decimals, address }: DeskAsset): Amount {
		const terms = config.chains.find((one) => one.chainId === chainId)?.assets[symbol];
		if (terms?.maxHeld !== undefined) return parseUnits(terms.maxHeld, decimals);
		// The native token pays for gas and top-ups, so none is sold unless the operator says how much is enough.
		const isKept = terms?.fromInventory || BigInt(address) === 0n;
		return isKept ? held(chainId, address) : 0n;
	}

	/** Returns the vault's balance without what is reserved for swaps and moves, or declared as withdrawn. */
	function freeOf({ chainId, vault }: DeskChain, token: Hex): Amount {
		const row = balances.get(keyOf(chainId, token));
		const leaving = rows.moves.reduce((sum, move) => {
			const isHere = move.chainId === chainId && isSame(move.token, token) && isSame(move.holder, vault);
			return isHere && move.kind === "withdrawal" ? sum + move.amount : sum;
		}, 0n);
		return greater(0n, (row?.balance ?? 0n) - (row?.reserved ?? 0n) - leaving);
	}

	/** Returns the settlement tokens that are on their way to a vault by moves and declared deposits, and not late. */
	function arrivingAt(chain: DeskChain): Amount {
		const { decimals } = settlementOf(chain);
		return rows.moves.reduce((sum, move) => {
			if (move.isLate) return sum;
			if (move.kind === "deposit") {
				const isOurs = move.chainId === chain.chainId && isSame(move.token, chain.settlementToken);
				return isOurs && isSame(move.holder, chain.vault) ? sum + move.amount : sum;
			}
			if (move.kind !== "bridge" || move.toChainId !== chain.chainId) return sum;
			const from = chains.find((one) => one.chainId === move.chainId);
			return from
				? sum + (move.minReceived ?? rescaleDown(move.amount, settlementOf(from).decimals, decimals))
				: sum;
		}, 0n);
	}

	function relayerState(
		chainId: number,
		{ address, balance, sendCapLeft }: TreasuryReading["relayers"][number],
	): RelayerState {
		const spending = rows.spending.find((one) => one.chainId === chainId && isSame(one.relayer, address));
		return { address, balance, sendCapLeft, spentPerHour: spending ? percentile95(spending) : 0n };
	}
}

/**
 * Returns the target of each chain in USD: what the operator wants there, or an equal share of what all vaults hold beyond
 * the targets that are given.
 */
function targetsOf(
	chains: readonly DeskChain[],
	{ config, held }: { config: Pick<Config, "chains">; held: Held },
): Map<number, bigint> {
	const given = new Map(
		config.chains.flatMap(({ chainId, inventoryTargetUsd }) =>
			inventoryTargetUsd === undefined ? [] : [[chainId, toUsdE18(inventoryTargetUsd)] as const],
		),
	);
	const sum = (values: Iterable<bigint>) => [...values].reduce((total, value) => total + value, 0n);
	const all = sum(
		chains.map((chain) =>
			rescaleDown(held(chain.chainId, chain.settlementToken), settlementOf(chain).decimals, 18),
		),
	);
	const others = BigInt(chains.length - given.size);
	const share = others === 0n ? 0n : greater(0n, all - sum(given.values())) / others;
	return new Map(chains.map(({ chainId }) => [chainId, given.get(chainId) ?? share]));
}

/** Returns the moves of a row's key, whose recipient is the vault at the other end if it is a bridge. */
function historyOf(
	{ kind, chainId, token, toChainId, address, moves, isOpen }: MoveHistory,
	chains: readonly DeskChain[],
): TreasuryState["history"][number][] {
	if (kind === "deposit" || kind === "withdrawal") return [];
	const to = toChainId ?? chainId;
	const recipient = kind === "bridge" ? chains.find((chain) => chain.chainId === to)?.vault : address;
	return recipient ? [{ kind, chainId, token, toChainId: to, address: recipient, moves, isOpen }] : [];
}

/** Returns what was spent in an hour at the 95th percentile. Hours since the first in which nothing was spent count. */
function percentile95({ hours, spent }: { hours: number; spent: readonly Wei[] }): Wei {
	const descending = spent.toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0));
	return descending[Math.max(0, hours - Math.ceil(0.95 * hours))] ?? 0n;
}

function settlementOf({ assets, settlementToken, name }: DeskChain): DeskAsset {
	const asset = assets.find(({ address }) => address === settlementToken);
	if (!asset) throw new Error(`${name} does not list its settlement token`);
	return asset;
}

function capOn(reading: TreasuryReading | undefined, token: Hex): Amount {
	return reading?.tradeCapLeft.get(token as Address) ?? 0n;
}

function keyOf(chainId: number, token: Hex): string {
	return `${chainId} ${token.toLowerCase()}`;
}

function isSame(one: Hex, other: Hex): boolean {
	return one.toLowerCase() === other.toLowerCase();
}
