import type { AssetState, ChainState, RouteState, TreasuryState } from "../../src/treasury/treasury-state.ts";
import { type Market, rungsOf } from "./market.ts";
import type { SwapService } from "./swap-service.ts";
import { isStuck, type Treasurer } from "./treasurer.ts";
import type { WorldChain } from "./world-chain.ts";
import { chains as allTerms, type ChainTerms, cctp, gasUnits, native, targetUsdc } from "./world-terms.ts";

const volatilityPercentPerYear = 60;

/** Returns the planner's view of a world: the service's own rows, the vaults' balances, and prices. */
export function readState({
	second,
	chains,
	market,
	swaps,
	table,
}: {
	second: number;
	chains: readonly WorldChain[];
	market: Market;
	swaps: SwapService;
	table: Treasurer["table"];
}): TreasuryState {
	const minute = Math.floor(second / 60);
	const open = table.open().filter(({ move }) => move.kind === "bridge");
	const late = open.filter((row) => isStuck(row, second));
	const eth = market.feedE18("ETH", second);
	const gasE18Of = (terms: ChainTerms, units: number) =>
		(BigInt(units) * market.gasPriceWei(terms, second) * eth) / 10n ** 18n;
	const burnE18 = allTerms.map((terms) => gasE18Of(terms, gasUnits.burn));
	const mintE18 = allTerms.map((terms) => gasE18Of(terms, gasUnits.mint));
	return {
		minute,
		history: table.history(),
		inTransitE18: open.reduce((sum, { move }) => sum + move.amount * 10n ** 12n, 0n),
		chains: chains.map((chain, i): ChainState => {
			const { terms } = chain;
			return {
				chainId: terms.chainId,
				name: terms.name,
				status: "open",
				vault: terms.vault,
				settlement: {
					chainId: terms.chainId,
					token: terms.usdc,
					symbol: "USDC",
					decimals: 6,
					tradeCapLeft: chain.capLeft("trade", terms.usdc),
					free: swaps.free(i),
					arriving: open.reduce(
						(sum, row) =>
							row.move.toChainId === terms.chainId && !late.includes(row)
								? sum + row.move.amount - (row.move.route?.fee ?? 0n)
								: sum,
						0n,
					),
					target: targetUsdc,
					demand: swaps.demand[i] ?? [],
				},
				assets: [ethOf(chain)],
				relayers: [
					{
						address: terms.relayer,
						balance: chain.relayerWei(),
						spentPerHour: swaps.spentPerHour(i),
						sendCapLeft: chain.capLeft("send", native, terms.relayer),
					},
				],
				tradeGasE18: gasE18Of(terms, gasUnits.trade),
				sendGasE18: gasE18Of(terms, gasUnits.send),
			};
		}),
		routes: allTerms.flatMap((from, i) =>
			allTerms.flatMap((to, j): RouteState[] => {
				if (i === j) return [];
				const { chainId } = from;
				const isLate = late.some(({ move }) => move.chainId === chainId && move.toChainId === to.chainId);
				return [
					{
						name: "CCTP",
						kind: "bridge",
						chainId,
						toChainId: to.chainId,
						status: isLate ? "stuck" : "open",
						capLeft: chains[i]?.capLeft("bridge", from.usdc, to.chainId) ?? 0n,
						gasE18: (burnE18[i] ?? 0n) + (mintE18[j] ?? 0n),
						standard: { seconds: cctp.standard.to, feeCentibps: cctp.standard.feeCentibps },
						fast: { seconds: cctp.fast.to, feeCentibps: cctp.fast.feeCentibps },
					},
				];
			}),
		),
	};

	function ethOf(chain: WorldChain): AssetState {
		const { terms } = chain;
		return {
			token: native,
			symbol: "ETH",
			decimals: 18,
			isNative: true,
			usdE18: eth,
			free: chain.vault(native),
			maxHeld: 0n,
			volatilityPercentPerYear,
			tradeCapLeft: chain.capLeft("trade", native),
			// Ladders are only made where the planner looks at them, because most plans trade nothing.
			get sell() {
				const weiPerUsd = 10n ** 36n / eth;
				return [{ fees: [500], rungs: rungsOf((wei) => market.sellEth(terms, wei, second), weiPerUsd) }];
			},
			get buy() {
				return [{ fees: [500], rungs: rungsOf((usdc) => market.buyEth(terms, usdc, second), 1_000_000n) }];
			},
		};
	}
}
