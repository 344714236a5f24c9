import { rescaleDown, type UsdE18 } from "@geoswap/protocol";
import type { TransactionShape } from "../chain/evm/fee/fee-model.ts";
import type { TreasuryReading } from "../chain/evm/read/read-treasury.ts";
import { evmChains } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import { deskChains } from "../desk/desk-chain.ts";
import type { PriceCache } from "../desk/price/price-cache.ts";
import { toUsdE18, usdValueUp } from "../desk/price/usd-value.ts";
import type { RouteState } from "./treasury-state.ts";

/**
 * Estimates of the transactions of moves. A trade is a fill through the router (docs/measured.md) with the vault's checks
 * of its price; a mint verifies two signatures over a message of 376 bytes, which does not compress.
 */
export const moveTransactions = {
	trade: { gas: 180_000n, fastLzBytes: 400, brotliBytes: 350 },
	send: { gas: 60_000n, fastLzBytes: 250, brotliBytes: 220 },
	burn: { gas: 160_000n, fastLzBytes: 300, brotliBytes: 260 },
	mint: { gas: 240_000n, fastLzBytes: 800, brotliBytes: 750 },
} satisfies Record<string, TransactionShape>;

/**
 * A standard burn is attested once Ethereum has made its chain's block final, in 13 to 19 minutes, and costs nothing. Fast
 * burns cost what Circle decides for each chain, which nothing here reads, so none is planned.
 */
export const cctpStandard = { seconds: 1_140, feeCentibps: 0 };

/** Returns a function for the value of a transaction's gas at the newest fees. It is undefined while a price is missing. */
export function moveGas(
	config: Pick<Config, "chains">,
	{ priceCache, nowMs }: { priceCache: PriceCache; nowMs: number },
): (chainId: number, transaction: TransactionShape) => UsdE18 | undefined {
	const chains = deskChains(config);
	return (chainId, transaction) => {
		const chain = chains.get(chainId);
		if (chain?.kind !== "evm") return undefined;
		const native = { chainId, asset: chain.native.address };
		if (!priceCache.isReferenceLive(native, { nowMs })) return undefined;
		return usdValueUp(priceCache.transactionCost(chainId, transaction), priceCache.reference(native));
	};
}

/** Returns every way between two vaults, with what it costs and lets through now: CCTP's, and those that a person goes. */
export function routeStates(
	config: Pick<Config, "chains" | "treasury">,
	{
		gasE18,
		readings,
		stuck,
	}: {
		gasE18: ReturnType<typeof moveGas>;
		readings: ReadonlyMap<number, TreasuryReading>;
		/** Whether a move from one chain to another is late. */
		stuck: (chainId: number, toChainId: number) => boolean;
	},
): RouteState[] {
	const chains = evmChains(config);
	const bridges = chains.flatMap(({ chainId, deployment }) =>
		Object.keys(deployment.cctp?.routes ?? {}).flatMap((id): RouteState[] => {
			const toChainId = Number(id);
			if (!chains.some((to) => to.chainId === toChainId)) return [];
			const burnE18 = gasE18(chainId, moveTransactions.burn);
			const mintE18 = gasE18(toChainId, moveTransactions.mint);
			const capLeft = readings.get(chainId)?.bridgeCapLeft.get(toChainId);
			const isReadable = burnE18 !== undefined && mintE18 !== undefined && capLeft !== undefined;
			return [
				{
					name: "CCTP",
					kind: "bridge",
					chainId,
					toChainId,
					status: stuck(chainId, toChainId) ? "stuck" : isReadable ? "open" : "unreadable",
					capLeft: capLeft ?? 0n,
					gasE18: (burnE18 ?? 0n) + (mintE18 ?? 0n),
					standard: cctpStandard,
				},
			];
		}),
	);
	const desk = deskChains(config);
	const manual = config.treasury.manualRoutes.map(
		({ from, to, seconds, feeCentibps, maxUsd }): RouteState => {
			const { assets, settlementToken } = desk.get(from) ?? {};
			const decimals = assets?.find(({ address }) => address === settlementToken)?.decimals ?? 0;
			return {
				name: "a transfer by hand",
				kind: "manual",
				chainId: from,
				toChainId: to,
				status: "open",
				capLeft: rescaleDown(toUsdE18(maxUsd), 18, decimals),
				gasE18: 0n,
				standard: { seconds, feeCentibps },
			};
		},
	);
	return [...bridges, ...manual];
}
