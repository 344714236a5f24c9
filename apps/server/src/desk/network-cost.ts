import { mulDivUp, tokenAccountRentLamports } from "@geoswap/protocol";
import { type DeskChain, isLamports, isSettlement, type Side } from "./desk-chain.ts";
import type { PriceBook } from "./price/price-book.ts";
import { convertUp, usdValueUp } from "./price/usd-value.ts";

// Measured in docs/gas.md, each alone in its transaction: a bundle costs less, but a quote cannot know if there will be
// one. Nor does it know whether the wallet is delegated, so it includes a delegation, of a new address.
const openGas = 150_363n + 12_500n;
const fillFromStockGas = 89_521n;
const fillThroughRouterGas = 162_437n;
const releaseGas = 65_799n;
const refundGas = 65_915n;

// Estimates: docs/gas.md does not measure these.
const secondPoolGas = 100_000n;
/** The release is part of the fill: it needs no attesters and no transaction of its own. */
const sameChainReleaseGas = 30_000n;
const voidGas = 60_000n;

/**
 * Signatures and compute units of each Solana transaction of a swap. The fee payer signs, and the wallet, the vault or
 * the escrow. The units are the limit, which is paid for whether it is used or not.
 */
export const solanaTransactions = {
	open: { signatures: 2n, units: 60_000n },
	fill: { signatures: 2n, units: 100_000n },
	/** It also moves the input, for which the escrow signs, so it needs no separate release. */
	sameChainFill: { signatures: 3n, units: 100_000n },
	void: { signatures: 2n, units: 30_000n },
	release: { signatures: 2n, units: 60_000n },
	refund: { signatures: 2n, units: 100_000n },
} as const;

/** A hundredth of a marker's rent, which comes back after a month: it pays for the wait and for closing the marker. */
const markerLamports = mulDivUp(tokenAccountRentLamports, 1n, 100n);

/** The share of swaps assumed to end in a refund, which nobody else pays for. */
const refundedBps = 200n;

/** Returns the cost of the swap's transactions on both chains, in the destination's settlement token, rounded up. */
export function networkCost(
	book: PriceBook,
	{ origin, destination }: { origin: Side; destination: Side },
): bigint {
	const isSameChain = origin.chain.chainId === destination.chain.chainId;
	const sides = { book, isSameChain };
	return (
		inSettlement(origin.chain, costOnOrigin(origin, sides)) +
		inSettlement(destination.chain, costOnDestination(destination, sides))
	);

	function inSettlement({ chainId, native, nativeDecimals }: DeskChain, fees: bigint): bigint {
		const { chain } = destination;
		return convertUp(
			fees,
			{ ...book.reference({ chainId, asset: native.address }), decimals: nativeDecimals },
			book.reference({ chainId: chain.chainId, asset: chain.settlementToken }),
		);
	}
}

/**
 * Returns the cost of refunding an order that nobody submitted, in USD with 18 decimals, rounded up: the refund, and on
 * Solana, where orders do not expire by time, a void and the rent of its marker.
 */
export function refundCostE18(
	book: PriceBook,
	{ origin, destination }: { origin: DeskChain & { kind: "evm" }; destination: DeskChain },
): bigint {
	const refund = inUsd(origin, refundGas * gasPrice(book, origin));
	if (destination.kind === "evm") return refund;
	const closing = lamportsOn(book, destination)(solanaTransactions.void) + tokenAccountRentLamports;
	return refund + inUsd(destination, closing);

	function inUsd({ chainId, native, nativeDecimals }: DeskChain, fees: bigint): bigint {
		const { usdE18 } = book.reference({ chainId, asset: native.address });
		return usdValueUp(fees, { decimals: nativeDecimals, usdE18 });
	}
}

type Sides = { book: PriceBook; isSameChain: boolean };

/** Returns the cost of open, release and a share of refunds, in the chain's own unit of fees. */
function costOnOrigin(side: Side, { book, isSameChain }: Sides): bigint {
	const { chain } = side;
	if (chain.kind === "evm") {
		const gas = openGas + (isSameChain ? sameChainReleaseGas : releaseGas) + shareOf(refundGas);
		return gas * gasPrice(book, chain);
	}
	const lamports = lamportsOn(book, chain);
	const { open, release, refund } = solanaTransactions;
	// The wallet may have closed its token account by then, and we would have to create a new one.
	const refunded = lamports(refund) + markerLamports + (isLamports(side) ? 0n : tokenAccountRentLamports);
	return lamports(open) + (isSameChain ? 0n : lamports(release) + markerLamports) + shareOf(refunded);
}

/** Returns the cost of the fill and a share of voids. `pricePayout` charges for the recipient's account on Solana. */
function costOnDestination(side: Side, { book, isSameChain }: Sides): bigint {
	const { chain, asset } = side;
	if (chain.kind === "evm") {
		const fillGas = isSettlement(side)
			? fillFromStockGas
			: fillThroughRouterGas + (asset.paths.some((fees) => fees.length > 1) ? secondPoolGas : 0n);
		return (fillGas + shareOf(voidGas)) * gasPrice(book, chain);
	}
	const lamports = lamportsOn(book, chain);
	const { fill, sameChainFill, void: closing } = solanaTransactions;
	return lamports(isSameChain ? sameChainFill : fill) + markerLamports + shareOf(lamports(closing));
}

function gasPrice(book: PriceBook, { chainId, priorityFeeWei }: DeskChain & { kind: "evm" }): bigint {
	// Twice the base fee: it may rise by an eighth per block until the last transaction is sent.
	return 2n * book.baseFee(chainId) + priorityFeeWei;
}

function lamportsOn(book: PriceBook, { chainId, computePriceMicroLamports }: DeskChain & { kind: "solana" }) {
	return ({ signatures, units }: { signatures: bigint; units: bigint }): bigint =>
		signatures * book.baseFee(chainId) + mulDivUp(units, computePriceMicroLamports, 1_000_000n);
}

function shareOf(cost: bigint): bigint {
	return mulDivUp(cost, refundedBps, 10_000n);
}
