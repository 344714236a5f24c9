import { usdCents } from "@geoswap/protocol";
/** How careful to be with deposits on a chain. */
export type DepositPolicy = {
	/** By value: how many blocks after its own a deposit counts. Above all of them, when final. */
	depths: readonly { upToUsd: number; blocks: number }[];
	/** A deposit of more counts once a second provider has it too. Absent where there is none. */
	agreeAboveUsd?: number;
};

/** How far a provider says that its chain is. */
type Progress = { number: number; finalizedNumber: number };

/** Returns how many blocks after its own an event of this value counts; undefined where it must be final. */
export function blocksNeeded(
	{ depths }: Pick<DepositPolicy, "depths">,
	valueUsdCents: bigint,
): number | undefined {
	return depths
		.toSorted((a, b) => a.upToUsd - b.upToUsd)
		.find(({ upToUsd }) => valueUsdCents <= usdCents(upToUsd))?.blocks;
}

/** Returns whether a deposit of this value needs a second provider's word. */
export function needsSecondProvider(
	{ agreeAboveUsd }: Pick<DepositPolicy, "agreeAboveUsd">,
	valueUsdCents: bigint,
): boolean {
	return agreeAboveUsd !== undefined && valueUsdCents > usdCents(agreeAboveUsd);
}

export function isFinalAt(
	blockNumber: number,
	{ finalizedNumber }: Pick<Progress, "finalizedNumber">,
): boolean {
	return blockNumber <= finalizedNumber;
}

/** Returns whether an event is so many blocks deep, or final. Only final counts where `blocks` is undefined. */
export function isDeepAt(blockNumber: number, progress: Progress, blocks: number | undefined): boolean {
	if (isFinalAt(blockNumber, progress)) return true;
	return blocks !== undefined && progress.number - blockNumber >= blocks;
}
