import {
	type Amount,
	type AssetDeployment,
	type ChainDeployment,
	type UsdE18,
	vaultPath,
} from "@geoswap/protocol";
import { type Address, concat, type Hex, hexToNumber, size, slice } from "viem";

/** The sizes to quote on one path of an asset, in one direction. */
export type LadderQuestion = {
	asset: Address;
	direction: "buy" | "sell";
	/** The fee tiers, in the direction away from the settlement token. */
	fees: number[];
	path: Hex;
	inputs: Amount[];
};

/** The tokens and the fee by which a factory identifies a pool. */
export type PoolId = { tokens: [Address, Address]; fee: number };

/** Divisors of the top size, one for each of eight rungs. Each size is four or five times the one below. */
const rungDivisors = [50_000n, 10_000n, 2_500n, 500n, 100n, 20n, 4n, 1n];

/** Returns the questions for all ladders of a chain. An asset without a price has no sizes. */
export function ladderQuestions(
	deployment: ChainDeployment,
	{ usdE18Of, topUsd }: { usdE18Of: (asset: Address) => UsdE18; topUsd: number },
): LadderQuestion[] {
	const settlement = deployment.assets.find(({ address }) => address === deployment.settlementToken);
	if (!settlement) throw new RangeError(`chain ${deployment.chainId} has no settlement token`);
	return deployment.assets.flatMap((asset) =>
		asset.paths.flatMap((fees) => {
			const path = vaultPath(deployment, { asset: asset.address, fees });
			const ends = { asset: asset.address, fees };
			return [
				{ ...ends, direction: "buy" as const, path, inputs: sizesOf(settlement) },
				{ ...ends, direction: "sell" as const, path: reversePath(path), inputs: sizesOf(asset) },
			];
		}),
	);

	function sizesOf({ address, decimals }: AssetDeployment): bigint[] {
		const usdE18 = coarse(usdE18Of(address));
		if (usdE18 === 0n) return [];
		const top = (BigInt(Math.round(topUsd)) * 10n ** BigInt(18 + decimals)) / usdE18;
		return [...new Set(rungDivisors.map((divisor) => top / divisor))].filter((input) => input > 0n);
	}
}

/** Returns the pools of a path: an address, and for each pool its fee in three bytes and the next address. */
export function poolsOnPath(path: Hex): PoolId[] {
	return Array.from({ length: poolCount(path) }, (_, i) => ({
		tokens: [tokenAt(path, i), tokenAt(path, i + 1)],
		fee: hexToNumber(feeAt(path, i)),
	}));
}

/**
 * Rounds a price down to seven significant bits, by at most 1.6 %. Sizes follow from the rounded price, so a small move
 * of a feed does not change them, and ladders of unchanged pools need not be requested again.
 */
function coarse(usdE18: UsdE18): UsdE18 {
	const dropped = BigInt(Math.max(0, usdE18.toString(2).length - 7));
	return (usdE18 >> dropped) << dropped;
}

function reversePath(path: Hex): Hex {
	const pools = poolCount(path);
	const backward = Array.from({ length: pools }, (_, i) => pools - 1 - i);
	return concat([tokenAt(path, pools), ...backward.flatMap((i) => [feeAt(path, i), tokenAt(path, i)])]);
}

function poolCount(path: Hex): number {
	return (size(path) - 20) / 23;
}

function tokenAt(path: Hex, i: number): Address {
	return slice(path, i * 23, i * 23 + 20);
}

function feeAt(path: Hex, i: number): Hex {
	return slice(path, i * 23 + 20, i * 23 + 23);
}
