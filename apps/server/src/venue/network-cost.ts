import { type AssetDeployment, mulDivUp } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import type { ChainConfig } from "../config.ts";
import type { PriceBook } from "../price/price-book.ts";
import { convertUp } from "../price/usd-value.ts";
import type { Side } from "./resolve-request.ts";

// As docs/gas.md measured them, each alone in its transaction: a bundle costs less, but nobody knows if there will be
// one. A quote does not know whether the wallet is delegated, so it pays for that too, on an address that is new.
const openGas = 150_363n + 12_500n;
const fillFromStockGas = 89_521n;
const fillThroughRouterGas = 162_437n;
const releaseGas = 65_799n;
const refundGas = 65_915n;

// Estimates: docs/gas.md does not measure these.
const secondPoolGas = 100_000n;
/** Within the fill: no attesters, no transaction of its own. */
const sameChainReleaseGas = 30_000n;
const voidGas = 60_000n;

/** How many swaps are assumed to end in a refund, which nobody else pays for. */
const refundedBps = 200n;

/** What the swap's transactions cost on both chains, in the destination's settlement token, rounded up. */
export function networkCost(
	book: PriceBook,
	{ origin, destination }: { origin: Side; destination: Side },
): bigint {
	const isSameChain = origin.chain.chainId === destination.chain.chainId;
	const fillGas = isSettlement(destination)
		? fillFromStockGas
		: fillThroughRouterGas + (destination.asset.paths.some((fees) => fees.length > 1) ? secondPoolGas : 0n);
	const onOrigin = openGas + (isSameChain ? sameChainReleaseGas : releaseGas) + shareOf(refundGas);
	const onDestination = fillGas + shareOf(voidGas);
	return cost(origin.chain, onOrigin) + cost(destination.chain, onDestination);

	function cost(chain: ChainConfig, gas: bigint): bigint {
		// Twice the base fee: it may rise by an eighth a block until the last of the transactions is sent.
		const wei = gas * (2n * book.baseFee(chain.chainId) + BigInt(chain.priorityFeeWei));
		const native = nativeAsset(chain);
		const { chainId, deployment } = destination.chain;
		return convertUp(
			wei,
			{ ...book.reference({ chainId: chain.chainId, asset: native.address }), decimals: 18 },
			book.reference({ chainId, asset: deployment.settlementToken }),
		);
	}
}

/** The asset whose feed prices the chain's gas. */
export function nativeAsset({ deployment }: ChainConfig): AssetDeployment {
	const { assets, wrappedNative, name } = deployment;
	const native =
		assets.find(({ address }) => address === zeroAddress) ??
		assets.find(({ address }) => address === wrappedNative);
	if (!native)
		throw new RangeError(`${name} lists neither its native token nor the wrapped one: no price of gas`);
	return native;
}

export function isSettlement({ chain, asset }: Side): boolean {
	return asset.address === chain.deployment.settlementToken;
}

function shareOf(gas: bigint): bigint {
	return mulDivUp(gas, refundedBps, 10_000n);
}
