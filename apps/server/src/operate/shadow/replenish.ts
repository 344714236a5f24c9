import { lesser, mulDivDown, mulDivUp } from "@geoswap/protocol";
import type { DeskChain } from "../../desk/desk-chain.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import { convertDown, convertUp } from "../../desk/price/usd-value.ts";
import type { PaperInventory } from "./paper-inventory.ts";
import { type Leg, move } from "./paper-ledger.ts";

const bps = 10_000n;

/**
 * Brings each vault back towards its opening inventory, like an operator: sells inputs for the settlement token,
 * moves settlement tokens between chains, and buys what is paid from inventory on Solana. Each booking must be posted
 * before the next one is requested. An amount beyond its ladder is kept.
 */
export function* replenishEntries({
	priceCache,
	inventory,
	chains,
	replenishBps,
}: {
	priceCache: PriceCache;
	inventory: PaperInventory;
	chains: ReadonlyMap<number, DeskChain>;
	replenishBps: number;
}): Generator<Leg[]> {
	const cost = BigInt(replenishBps);
	const all = [...chains.values()];
	for (const chain of all) yield* sales(chain);
	for (const to of all) for (const from of all) yield* transfer(from, to);
	for (const chain of all) yield* purchases(chain);

	function* sales({ chainId, settlementToken, assets }: DeskChain): Generator<Leg[]> {
		for (const { address: token } of assets) {
			const surplus = spare(chainId, token);
			if (token === settlementToken || surplus <= 0n) continue;
			const proceeds = priceCache.sell({ chainId, asset: token, amount: surplus });
			if (proceeds === undefined || proceeds === 0n) continue;
			yield [
				...move(surplus, { chainId, token, from: "inventory", to: "market" }),
				...move(proceeds, { chainId, token: settlementToken, from: "market", to: "inventory" }),
			];
		}
	}

	/** Moves surplus settlement tokens of one chain to another that lacks them, less the cost. */
	function* transfer(from: DeskChain, to: DeskChain): Generator<Leg[]> {
		const surplus = spare(from.chainId, from.settlementToken);
		const lacking = -overStart(to.chainId, to.settlementToken);
		if (surplus <= 0n || lacking <= 0n) return;
		const [give, get] = [from, to].map(({ chainId, settlementToken }) =>
			priceCache.reference({ chainId, asset: settlementToken }),
		);
		if (!give || !get) throw new RangeError("a transfer has two ends");
		const sent = lesser(surplus, mulDivUp(convertUp(lacking, get, give), bps, bps - cost));
		const received = mulDivDown(convertDown(sent, give, get), bps - cost, bps);
		yield [
			...move(sent, { chainId: from.chainId, token: from.settlementToken, from: "inventory", to: "market" }),
			...move(received, { chainId: to.chainId, token: to.settlementToken, from: "market", to: "inventory" }),
		];
	}

	function* purchases({ chainId, settlementToken, assets }: DeskChain): Generator<Leg[]> {
		for (const { address: token } of assets) {
			const lacking = -overStart(chainId, token);
			if (token === settlementToken || lacking <= 0n) continue;
			const settlement = priceCache.reference({ chainId, asset: settlementToken });
			const fair = convertUp(lacking, priceCache.reference({ chainId, asset: token }), settlement);
			const price = mulDivUp(fair, bps + cost, bps);
			if (price > inventory.free({ chainId, token: settlementToken })) continue;
			yield [
				...move(price, { chainId, token: settlementToken, from: "inventory", to: "market" }),
				...move(lacking, { chainId, token, from: "market", to: "inventory" }),
			];
		}
	}

	/** Returns the amount above that at the start that is not reserved. */
	function spare(chainId: number, token: Leg["token"]): bigint {
		return lesser(overStart(chainId, token), inventory.free({ chainId, token }));
	}

	function overStart(chainId: number, token: Leg["token"]): bigint {
		return inventory.held({ chainId, token }) - inventory.start({ chainId, token });
	}
}
