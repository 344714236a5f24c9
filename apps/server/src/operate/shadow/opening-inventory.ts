import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import { parseUnits } from "viem";
import * as z from "zod";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { type DeskChain, deskChains, isSettlement, type Side } from "../../desk/desk-chain.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import { amountWorthDown } from "../../desk/price/usd-value.ts";
import { assetId } from "../../desk/price-swap.ts";
import type { Holding } from "./journal.ts";

/** Whole tokens by the chain's ID, or "solana", and the token's symbol. */
const inventoryFileSchema = z.record(z.string(), z.record(z.string(), z.string().regex(/^\d+(\.\d+)?$/)));

/**
 * Reads an inventory file: `{ "8453": { "USDC": "50000" }, "solana": { "SOL": "100" } }`. Throws if a token is not
 * offered.
 */
export function readInventory(path: string, config: Pick<Config, "chains">): Holding[] {
	const chains = [...deskChains(config).values()];
	return Object.entries(parseJsonFile(inventoryFileSchema, path)).flatMap(([name, tokens]) => {
		const chain = chains.find(
			({ kind, chainId }) => (kind === "solana" ? "solana" : String(chainId)) === name,
		);
		if (!chain) throw new ConfigError(path, `${name}: no such chain is configured`);
		return Object.entries(tokens).map(([symbol, amount]) => {
			const side = chain.assets.find((asset) => asset.symbol === symbol);
			if (!side) throw new ConfigError(path, `${name}.${symbol}: ${chain.name} does not offer it`);
			return { chainId: chain.chainId, token: side.address, amount: parseUnits(amount, side.decimals) };
		});
	});
}

/** Returns the same value of each token that is delivered from inventory, at its feed's price. */
export function equalInventory(
	usd: number,
	{ config, priceCache }: { config: Pick<Config, "chains">; priceCache: PriceCache },
): Holding[] {
	const valueE18 = BigInt(Math.round(usd * 1e6)) * 10n ** 12n;
	return [...deskChains(config).values()].flatMap(deliveredFromInventory).map((side) => {
		const { chainId, asset: token } = assetId(side);
		return { chainId, token, amount: amountWorthDown(valueE18, priceCache.reference(assetId(side))) };
	});
}

/**
 * Returns the assets that a vault itself delivers. On an EVM chain that is the settlement token, which also buys all
 * others.
 */
function deliveredFromInventory(chain: DeskChain): Side[] {
	const sides = chain.assets.map((asset): Side => ({ chain, asset }));
	return chain.kind === "solana" ? sides : sides.filter(isSettlement);
}
