import type { UsdE18 } from "@geoswap/protocol";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { type BlockPrices, readBlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import { type EvmChainConfig, evmChains, firstUrl } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { configPriceCache } from "../../desk/price/config-price-cache.ts";
import { toUsdE18 } from "../../desk/price/usd-value.ts";
import { formatUsd } from "../../desk/sealed-quote.ts";
import { breakEvenE18 } from "../../treasury/move-cost.ts";
import { moveGas, routeStates } from "../../treasury/route-states.ts";
import { check, type Finding, type Found, fail, ok, warn } from "./finding.ts";

/** Checks that the largest move that the policy allows pays for itself at present fees, on each route. */
export function checkTreasury(config: Config): Promise<Finding[]> {
	const hasRoutes = evmChains(config).some(({ deployment }) => deployment.cctp);
	if (config.treasury.mode === "off" || !hasRoutes) return Promise.resolve([]);
	return check("treasury.policy", async () => judge(config));
}

async function judge(config: Config): Promise<Found | Found[]> {
	const nowMs = Date.now();
	const { priceCache } = configPriceCache(config, { nowMs: () => nowMs });
	const prices = await Promise.all(evmChains(config).map(readFees));
	for (const one of prices) priceCache.update(one, { nowMs });
	const gasE18 = moveGas(config, { priceCache, nowMs });
	return judgePolicy(config, gasE18);
}

/** Reads the fees and the feeds of a chain. It reads no ladders, which take longer than a check may. */
async function readFees(terms: EvmChainConfig): Promise<BlockPrices> {
	const assets = terms.deployment.assets.map((asset) => ({ ...asset, paths: [] }));
	const deployment = { ...terms.deployment, assets };
	const chain = connectChain({ ...terms, deployment, rpcUrl: firstUrl(terms) });
	const tip = BigInt(terms.minimumTipWei);
	const tips = { minimum: tip, maximum: tip };
	return readBlockPrices(chain, { block: await chain.client.getBlock(), topUsd: 0, tips });
}

/** Returns a finding for each route on which the largest move does not pay for itself. */
export function judgePolicy(
	config: Pick<Config, "chains" | "treasury">,
	gasE18: Parameters<typeof routeStates>[1]["gasE18"],
): Found | Found[] {
	const { policy } = config.treasury;
	const targets = config.chains.map(({ inventoryTargetUsd }) => inventoryTargetUsd);
	const isKnown = targets.every((target) => target !== undefined);
	const inventoryUsd = targets.reduce<number>((sum, target) => sum + (target ?? 0), 0);
	const maxE18: UsdE18 = (toUsdE18(inventoryUsd) * BigInt(policy.maxMovePercent)) / 100n;
	const routes = routeStates(config, { gasE18, readings: new Map(), stuck: () => false });
	const found = routes.flatMap((route): Found[] => {
		const way = `from chain ${route.chainId} to chain ${route.toChainId}`;
		if (route.gasE18 === 0n)
			return [warn(`the gas of a move ${way} has no price now, so its cost is unknown`)];
		const leastE18 = breakEvenE18(route, policy);
		if (leastE18 === undefined) {
			return [fail(`no move ${way} pays for itself; raise netFeeCentibps or lower minBenefitPercent`)];
		}
		const least = `a move ${way} pays for itself from ${formatUsd(leastE18)} USD on at present fees`;
		if (!isKnown)
			return [warn(`${least}; set inventoryTargetUsd on every chain to compare that with maxMovePercent`)];
		return maxE18 > leastE18
			? []
			: [
					fail(
						`${least}, but maxMovePercent allows at most ${formatUsd(maxE18)} USD; raise it or the targets`,
					),
				];
	});
	return found.length > 0 ? found : ok("the largest move pays for itself on every route at present fees");
}
