import { type Address, concat, type Hex, numberToHex, zeroAddress } from "viem";
import type { ChainDeployment } from "../deployment.ts";

/**
 * Returns the path through Uniswap's pools that a chain's vault builds for an asset: from the settlement token through
 * one pool, or two with the wrapped native token between them. For the native token it ends at the wrapped one.
 */
export function vaultPath(
	{ settlementToken, wrappedNative }: Pick<ChainDeployment, "settlementToken" | "wrappedNative">,
	{ asset, fees }: { asset: Address; fees: readonly number[] },
): Hex {
	const last = asset === zeroAddress ? wrappedNative : asset;
	const stops = fees.length > 1 ? [wrappedNative, last] : [last];
	if (fees.length !== stops.length) throw new RangeError(`a path has one or two pools, not ${fees.length}`);
	return concat([
		settlementToken,
		...stops.flatMap((stop, i) => [numberToHex(fees[i] ?? 0, { size: 3 }), stop]),
	]);
}
