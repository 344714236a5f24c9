import { type Amount, addressOfWord, type Milliseconds, toChainId } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { DeskQuote, Repriced } from "../../desk/desk.ts";
import type { DeskChain, Side } from "../../desk/desk-chain.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";
import type { FillSimulation } from "./simulate-fill.ts";

/** A swap on paper. */
export type PaperSwap = {
	id: number;
	quote: DeskQuote;
	origin: Side;
	destination: Side;
	pair: string;
	isSameChain: boolean;
	/** Set at the submit: what is reserved until the fill or the refund. */
	reserved?: Repriced;
	openedAtMs?: Milliseconds;
	/** Set at the fill, with the values then. The promised one is that of the quoted output, by its feed. */
	filled?: { receivedE18: bigint; givenE18: bigint; promisedE18: bigint };
	/** Set if the fill was simulated. */
	simulation?: FillSimulation["outcome"];
	isReleased?: boolean;
	/** All fees of its transactions, each at the price when it was paid. */
	feesE18: bigint;
	state: "quoted" | "submitted" | "filled" | "refunded" | "refused";
};

export function paperSwap(id: number, quote: DeskQuote, chains: ReadonlyMap<number, DeskChain>): PaperSwap {
	const { order } = quote;
	const origin = sideOf(order.originChainId, order.inputToken);
	const destination = sideOf(order.destinationChainId, order.outputToken);
	return {
		id,
		quote,
		origin,
		destination,
		pair: `${nameOf(origin)} to ${nameOf(destination)}`,
		isSameChain: origin.chain.chainId === destination.chain.chainId,
		feesE18: 0n,
		state: "quoted",
	};

	function sideOf(chainId: bigint, word: Hex): Side {
		const chain = chains.get(toChainId(chainId));
		const asset = chain?.assets.find(({ address }) => address === addressOfWord(chainId, word));
		if (!chain || !asset)
			throw new RangeError(`a quote names ${word} on chain ${chainId}, which is not offered`);
		return { chain, asset };
	}
}

/**
 * Returns the token that leaves the vault. On Solana it is the output, elsewhere the settlement token, which buys the
 * output.
 */
export function paidSide({ destination }: PaperSwap): Side {
	const { chain } = destination;
	if (chain.kind === "solana") return destination;
	const asset = chain.assets.find(({ address }) => address === chain.settlementToken);
	if (!asset) throw new RangeError(`${chain.name} does not list its settlement token`);
	return { chain, asset };
}

/** Returns how much of that token leaves the vault. On Solana the recipient is assumed to need a token account. */
export function paidAmount(delivery: Delivery): bigint {
	return delivery.kind === "router" ? delivery.budget : delivery.amount;
}

/** Returns the volume of other swaps in flight on the ladders of a swap. */
export function volumeInFlight(
	others: Iterable<PaperSwap>,
	volumes: Repriced["volumes"],
): { sell: Amount; buy: Amount } {
	const inFlight = { sell: 0n, buy: 0n };
	const own = new Map(
		volumes.map(({ chainId, token, direction }) => [`${chainId}:${token}:${direction}`, direction]),
	);
	const sums = new Map<string, bigint>();
	for (const { reserved } of others) {
		for (const { chainId, token, direction, amount } of reserved?.volumes ?? []) {
			const key = `${chainId}:${token}:${direction}`;
			if (own.has(key)) sums.set(key, (sums.get(key) ?? 0n) + amount);
		}
	}
	// A route of two pools is bought on two ladders. The fuller one counts, as in the service.
	for (const [key, sum] of sums) {
		const direction = own.get(key) ?? "sell";
		if (sum > inFlight[direction]) inFlight[direction] = sum;
	}
	return inFlight;
}

function nameOf({ chain, asset }: Side): string {
	return `${asset.symbol} on ${chain.name}`;
}
