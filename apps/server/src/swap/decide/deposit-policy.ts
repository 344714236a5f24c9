import { type UsdCents, usdCents } from "@geoswap/protocol";

/** The checks that a deposit on a chain must pass. */
export type DepositPolicy = {
	/** Number of blocks that must follow a deposit's own, by its value. Above all of the values it must be final. */
	depths: readonly { upToUsd: number; blocks: number }[];
	/** Value above which a second provider must have the deposit too. Absent if there is no second provider. */
	agreeAboveUsd?: number;
};

/** The head and the final block of a chain, according to one provider. */
type Progress = { number: number; finalizedNumber: number };

/** Returns how many blocks must follow the block of an event of this value; undefined if it must be final. */
export function blocksNeeded(
	{ depths }: Pick<DepositPolicy, "depths">,
	valueUsdCents: UsdCents,
): number | undefined {
	return depths
		.toSorted((a, b) => a.upToUsd - b.upToUsd)
		.find(({ upToUsd }) => valueUsdCents <= usdCents(upToUsd))?.blocks;
}

/** Returns the value up to which a deposit need not be final. */
export function unfinalUpToUsdCents({ depths }: Pick<DepositPolicy, "depths">): UsdCents {
	return usdCents(Math.max(0, ...depths.map(({ upToUsd }) => upToUsd)));
}

/** Returns whether a deposit of this value needs a second provider's confirmation. */
export function needsSecondProvider(
	{ agreeAboveUsd }: Pick<DepositPolicy, "agreeAboveUsd">,
	valueUsdCents: UsdCents,
): boolean {
	return agreeAboveUsd !== undefined && valueUsdCents > usdCents(agreeAboveUsd);
}

export function isFinalAt(
	blockNumber: number,
	{ finalizedNumber }: Pick<Progress, "finalizedNumber">,
): boolean {
	return blockNumber <= finalizedNumber;
}

/** Returns whether an event is this many blocks deep, or final. If `blocks` is undefined, it must be final. */
export function isDeepAt(blockNumber: number, progress: Progress, blocks: number | undefined): boolean {
	if (isFinalAt(blockNumber, progress)) return true;
	return blocks !== undefined && progress.number - blockNumber >= blocks;
}
