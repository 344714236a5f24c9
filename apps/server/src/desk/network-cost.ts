import {
	type Amount,
	mulDivUp,
	type Seconds,
	tokenAccountRentLamports,
	type UsdCents,
	usdCents,
	type Wei,
} from "@geoswap/protocol";
import { zeroAddress } from "viem";
import type { TransactionShape } from "../chain/evm/fee/fee-model.ts";
import type { NativeRecipient } from "../chain/evm/wallet/read-wallet.ts";
import { type DeskChain, isLamports, isSettlement, type Side } from "./desk-chain.ts";
import type { PriceCache } from "./price/price-cache.ts";
import { convertUp, usdValueUp } from "./price/usd-value.ts";

/** Gas of a recipient's first balance of a token. A quote does not include whether the recipient has one. */
const newBalanceGas = 17_100n;

/**
 * Gas of a fill in the native token beyond that of a fill in another token. The native token is unwrapped and sent,
 * and the recipient may use gas (docs/measured.md; lanes send a batch of one, which costs 2,000 more). The vault gives a
 * contract 50,000 gas and the 2,300 of the payment, and a contract can use all of it at any time, regardless of what
 * it used in a simulation.
 */
const nativePaymentGas: Record<NativeRecipient, bigint> = {
	/** Includes the code of the service's own delegate, which is loaded and takes the payment. */
	account: 16_900n + 2_700n,
	"new-account": 16_900n + 25_000n,
	contract: 16_900n + 52_300n,
};

/**
 * Gas by which a payment of native token that the vault holds is below that: nothing is unwrapped, and no token is
 * transferred.
 */
const heldNativeGas = 24_500n;

/** Gas of a top-up, for a cap, an event and the payment, without what its recipient may use. */
const topUpGas = 17_600n;

/**
 * The transactions of a swap on EVM chains, each alone. A bundle costs less, but it is unknown at the quote whether
 * there will be one. Gas and sizes are those of transactions that lanes sent on a development chain. They vary by a
 * few bytes.
 */
export const evmTransactions = {
	/** With the delegation of a new address. */
	open: { gas: 97_918n + 12_500n, fastLzBytes: 565, brotliBytes: 648 },
	laterOpen: { gas: 87_906n, fastLzBytes: 471, brotliBytes: 529 },
	fillFromInventory: { gas: 92_302n, fastLzBytes: 397, brotliBytes: 480 },
	fillThroughRouter: { gas: 163_400n, fastLzBytes: 488, brotliBytes: 567 },
	release: { gas: 67_592n, fastLzBytes: 656, brotliBytes: 718 },
	refund: { gas: 67_708n, fastLzBytes: 656, brotliBytes: 718 },
	/** An estimate, which nothing measures. */
	void: { gas: 60_000n, fastLzBytes: 397, brotliBytes: 480 },
} as const satisfies Record<string, TransactionShape>;

/**
 * Gas that a wallet can add to the refund of a native input by burning the gas of the call, after which it gets a
 * credit.
 */
const refusedRefundGas = 75_000n;

// Estimates, because docs/measured.md does not measure these.
const secondPoolGas = 100_000n;
/** The release is part of the fill, so it needs neither attesters nor a separate transaction. */
const sameChainReleaseGas = 30_000n;

/** Signatures and compute units of a transaction on Solana. The units are the limit, which is paid in full. */
type SolanaTransaction = { signatures: bigint; units: bigint };

/**
 * The transactions of a swap on Solana. The fee payer signs, and the wallet or the vault's operator. A decision has up
 * to three attesters' signatures, whose check takes most of its units.
 */
export const solanaTransactions = {
	open: { signatures: 2n, units: 80_000n },
	fill: { signatures: 2n, units: 120_000n },
	void: { signatures: 2n, units: 40_000n },
	release: { signatures: 1n, units: 150_000n },
	refund: { signatures: 1n, units: 210_000n },
} satisfies Record<string, SolanaTransaction>;

/** The cost of an account that an order leaves behind, for waiting for its rent and closing it. */
const accountLamports = 1_000n;

/** The share of swaps assumed to end in a refund, whose cost no caller pays separately. */
const refundedBps = 200n;

/**
 * Returns the cost of the swap's transactions on both chains at current fees, and of its top-up, in the destination's
 * settlement token, rounded up. The margin is added on EVM chains, where fees may rise until the last transaction is
 * sent, and the native token's price with them. On Solana it is added to the top-up only.
 */
export function networkCost(
	priceCache: PriceCache,
	{ origin, destination }: { origin: Side; destination: Side },
	{
		marginBps = 0,
		isDelegated = false,
		mandate,
		nativeRecipient,
		topUp = 0n,
		isFromInventory = false,
	}: {
		marginBps?: number;
		/** True if the wallet is delegated, so that an open needs no authorization. */
		isDelegated?: boolean | undefined;
		/** The gas and bytes that a mandate adds to an open. Absent if the wallet itself signs the order. */
		mandate?: TransactionShape | undefined;
		/** The recipient of an EVM chain's native token, if known. */
		nativeRecipient?: NativeRecipient | undefined;
		/** The native token that the order's recipient gets in addition to the output. It is charged like gas. */
		topUp?: Amount | undefined;
		/** True if the output is not bought, although it is no settlement token. */
		isFromInventory?: boolean;
	} = {},
): bigint {
	const isSameChain = origin.chain.chainId === destination.chain.chainId;
	const sides = {
		priceCache,
		isSameChain,
		isDelegated,
		mandate,
		nativeRecipient,
		topUp,
		isFromInventory,
		marginBps,
	};
	return (
		inSettlement(origin.chain, costOnOrigin(origin, sides)) +
		inSettlement(destination.chain, costOnDestination(destination, sides))
	);

	function inSettlement({ kind, chainId, native, nativeDecimals }: DeskChain, fees: bigint): bigint {
		const { chain } = destination;
		const charged = kind === "evm" ? withMargin(fees, marginBps) : fees;
		return convertUp(
			charged,
			{ ...priceCache.reference({ chainId, asset: native.address }), decimals: nativeDecimals },
			priceCache.reference({ chainId: chain.chainId, asset: chain.settlementToken }),
		);
	}
}

/** Returns the maximum cost of refunding an order that was not submitted, in USD with 18 decimals, rounded up. */
export function refundCostE18(
	priceCache: PriceCache,
	{
		origin,
		isNative,
	}: {
		origin: DeskChain;
		/** True if the input is the chain's native token. */
		isNative: boolean;
	},
): bigint {
	const { chainId, native, nativeDecimals } = origin;
	const { usdE18 } = priceCache.reference({ chainId, asset: native.address });
	return usdValueUp(refundFees(), { decimals: nativeDecimals, usdE18 });

	function refundFees(): bigint {
		if (origin.kind === "solana") return refundLamports(priceCache, { chain: origin, isNative });
		const { gas, ...sizes } = evmTransactions.refund;
		const transaction = { ...sizes, gas: gas + (isNative ? refusedRefundGas : 0n) };
		return priceCache.transactionCost(chainId, transaction);
	}
}

/**
 * Returns the lamports of a refund. The wallet may have closed its token account, and the service would create a new
 * one.
 */
function refundLamports(
	priceCache: PriceCache,
	{ chain, isNative }: { chain: DeskChain & { kind: "solana" }; isNative: boolean },
): bigint {
	return (
		lamportsOn(priceCache, chain)(solanaTransactions.refund) + (isNative ? 0n : tokenAccountRentLamports)
	);
}

type Sides = {
	priceCache: PriceCache;
	isSameChain: boolean;
	isDelegated: boolean;
	mandate: TransactionShape | undefined;
	nativeRecipient: NativeRecipient | undefined;
	topUp: Amount;
	isFromInventory: boolean;
	marginBps: number;
};

function withMargin(amount: bigint, marginBps: number): bigint {
	return mulDivUp(amount, BigInt(10_000 + marginBps), 10_000n);
}

/** Returns the cost of open, release and a share of refunds, in the chain's own unit of fees. */
function costOnOrigin(side: Side, { priceCache, isSameChain, isDelegated, mandate }: Sides): bigint {
	const { chain } = side;
	if (chain.kind === "evm") {
		const cost = (transaction: TransactionShape) => priceCache.transactionCost(chain.chainId, transaction);
		const { open, laterOpen, release, refund } = evmTransactions;
		const opening = withMandate(isDelegated ? laterOpen : open, mandate);
		return cost(opening) + (isSameChain ? 0n : cost(release)) + shareOf(cost(refund));
	}
	const lamports = lamportsOn(priceCache, chain);
	const { open, release } = solanaTransactions;
	const refunded = refundLamports(priceCache, { chain, isNative: isLamports(side) }) + accountLamports;
	return lamports(open) + (isSameChain ? 0n : lamports(release) + accountLamports) + shareOf(refunded);
}

function withMandate(open: TransactionShape, mandate: TransactionShape | undefined): TransactionShape {
	if (!mandate) return open;
	return {
		gas: open.gas + mandate.gas,
		fastLzBytes: open.fastLzBytes + mandate.fastLzBytes,
		brotliBytes: open.brotliBytes + mandate.brotliBytes,
	};
}

/**
 * Returns the cost of the fill with its top-up and of a share of voids. `pricePayout` charges for the recipient's
 * account on Solana.
 */
function costOnDestination(
	side: Side,
	{ priceCache, isSameChain, nativeRecipient, topUp, isFromInventory, marginBps }: Sides,
): bigint {
	const { chain } = side;
	if (chain.kind === "evm") {
		const cost = (transaction: TransactionShape) => priceCache.transactionCost(chain.chainId, transaction);
		const fill = evmFill(side, { isSameChain, nativeRecipient, hasTopUp: topUp > 0n, isFromInventory });
		return cost(fill) + topUp + shareOf(cost(evmTransactions.void));
	}
	const lamports = lamportsOn(priceCache, chain);
	const fees = lamports(solanaTransactions.fill) + accountLamports;
	return fees + withMargin(topUp, marginBps) + shareOf(lamports(solanaTransactions.void));
}

/**
 * Returns the fill of an order, from inventory or through the router and its pools. An unknown recipient of the
 * native token counts as a contract, which may use the most gas.
 */
function evmFill(
	side: Side,
	{
		isSameChain,
		nativeRecipient = "contract",
		hasTopUp = false,
		isFromInventory = false,
	}: {
		isSameChain: boolean;
		nativeRecipient?: NativeRecipient | undefined;
		hasTopUp?: boolean;
		isFromInventory?: boolean;
	},
): TransactionShape {
	const { fillFromInventory, fillThroughRouter } = evmTransactions;
	const isBought = !isSettlement(side) && !isFromInventory;
	const fill = isBought ? fillThroughRouter : fillFromInventory;
	const isNative = side.asset.address === zeroAddress;
	const paymentGas = isNative ? nativePaymentGas[nativeRecipient] : newBalanceGas;
	const hasSecondPool = isBought && side.asset.paths.some((fees) => fees.length > 1);
	return {
		...fill,
		gas:
			fill.gas +
			paymentGas -
			(isNative && isFromInventory ? heldNativeGas : 0n) +
			(hasTopUp ? topUpGas + nativePaymentGas[nativeRecipient] : 0n) +
			(isSameChain ? sameChainReleaseGas : 0n) +
			(hasSecondPool ? secondPoolGas : 0n),
	};
}

/** Returns the function that calculates what a transaction on Solana costs. */
export function lamportsOn(
	priceCache: PriceCache,
	{ chainId, computePriceMicroLamports }: DeskChain & { kind: "solana" },
) {
	return ({ signatures, units }: SolanaTransaction): bigint =>
		signatures * priceCache.baseFee(chainId) + mulDivUp(units, computePriceMicroLamports, 1_000_000n);
}

function shareOf(cost: bigint): bigint {
	return mulDivUp(cost, refundedBps, 10_000n);
}

/** A transaction of a swap. A void closes an order on its destination, so that its origin may refund it. */
export type SwapStep = "open" | "fill" | "release" | "refund" | "void";

/**
 * Returns what one transaction of a swap costs at current fees, in the chain's own unit of fees, alone and not in a
 * bundle. A quote charges an additional margin. On Solana the cost includes that of the account that an order leaves
 * behind, and a token account for the receiver.
 */
export function stepCost(
	priceCache: PriceCache,
	side: Side,
	{ step, isSameChain }: { step: SwapStep; isSameChain: boolean },
): Wei {
	const { chain } = side;
	if (chain.kind === "evm") {
		const transaction = step === "fill" ? evmFill(side, { isSameChain }) : evmTransactions[step];
		return priceCache.transactionCost(chain.chainId, transaction);
	}
	const lamports = lamportsOn(priceCache, chain);
	const fee = lamports(solanaTransactions[step]);
	if (step === "open" || step === "void") return fee;
	const rent = step === "release" || isLamports(side) ? 0n : tokenAccountRentLamports;
	return fee + accountLamports + rent;
}

/** Returns the seconds until a transaction sent now has the depth that its value requires. */
export function secondsToDepth(
	priceCache: Pick<PriceCache, "blockSeconds">,
	{ chain, valueUsdCents }: { chain: DeskChain; valueUsdCents: UsdCents },
): Seconds {
	const blockSeconds = priceCache.blockSeconds(chain.chainId);
	const depth = chain.depths
		.filter(({ upToUsd }) => valueUsdCents <= usdCents(upToUsd))
		.map(({ blocks }) => blocks);
	return blockSeconds + (depth.length > 0 ? Math.min(...depth) * blockSeconds : chain.finalitySeconds);
}
