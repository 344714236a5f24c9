import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import type { Amount } from "@geoswap/protocol";
import { type Hex, parseUnits } from "viem";
import * as z from "zod";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { type DeskChain, deskChains, isSettlement, type Side } from "../../desk/desk-chain.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import { amountWorthDown } from "../../desk/price/usd-value.ts";
import { assetId } from "../../desk/price-swap.ts";
import type { Holding } from "./journal.ts";
import type { Entry, PaperLedger } from "./paper-ledger.ts";

type Of = { chainId: number; token: Hex };

/** The vaults' inventory on paper, by token. */
export type PaperInventory = {
	held: (of: Of) => Amount;
	/** Returns what is held and not reserved. */
	free: (of: Of) => Amount;
	inEscrow: (of: Of) => Amount;
	start: (of: Of) => Amount;
	minFree: (of: Of) => Amount;
	most: (of: Of) => Amount;
	/** Reserves an amount, or gives back a negative one. */
	reserve: (of: Of, amount: Amount) => void;
};

/**
 * Returns the inventory of these books, and the function to book with, which also updates the lowest and highest
 * amounts.
 */
export function createPaperInventory({
	books,
	opening,
}: {
	books: PaperLedger;
	opening: readonly Holding[];
}): {
	inventory: PaperInventory;
	post: (entry: Entry) => void;
} {
	const reserved = new Map<string, Amount>();
	const starts = new Map(opening.map((holding) => [keyOf(holding), holding.amount]));
	const least = new Map(starts);
	const most = new Map(starts);
	const start = (of: Of) => starts.get(keyOf(of)) ?? 0n;
	const held = ({ chainId, token }: Of) => books.balance("inventory", chainId, token);
	const free = (of: Of) => held(of) - (reserved.get(keyOf(of)) ?? 0n);

	return {
		inventory: {
			held,
			free,
			start,
			inEscrow: ({ chainId, token }) => books.balance("escrow", chainId, token),
			minFree: (of) => least.get(keyOf(of)) ?? 0n,
			most: (of) => most.get(keyOf(of)) ?? 0n,
			reserve: (of, amount) => {
				reserved.set(keyOf(of), (reserved.get(keyOf(of)) ?? 0n) + amount);
				note(of);
			},
		},
		post: (entry) => {
			books.post(entry);
			for (const leg of entry.legs) if (leg.account === "inventory") note(leg);
		},
	};

	function note(of: Of): void {
		const key = keyOf(of);
		if (free(of) < (least.get(key) ?? 0n)) least.set(key, free(of));
		if (held(of) > (most.get(key) ?? 0n)) most.set(key, held(of));
	}
}

function keyOf({ chainId, token }: Of): string {
	return `${chainId}:${token}`;
}

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
