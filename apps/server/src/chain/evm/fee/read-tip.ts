import { greater, lesser, type Seconds, type Wei } from "@geoswap/protocol";
import type { EvmChain } from "../connect-chain.ts";
import { callViews, wordsOf } from "../read/call-multicall.ts";
import { type FeeRates, feeModelOf } from "./fee-model.ts";

/** The bounds of the tip that our transactions offer. */
export type TipBounds = { minimum: Wei; maximum: Wei };

const blocks = 10;
/** The percentile of gas that paid less than the offered tip. It is low because our transactions can wait a block. */
const percentile = 20;

/**
 * A block that used less than this share of its gas limit had room for any transaction with the minimum tip. On a chain
 * with few transactions the tips are what single wallets happened to offer, which does not show what is needed.
 */
const roomBelow = 0.5;

/** Seconds after which the tip is read again. Tips of other senders change more slowly than the base fee. */
const maxAgeSeconds = 15;

/** A tip, and when it was read by the chain's clock. */
type Tip = { tip: Wei; tipReadAtUnixSeconds: Seconds };

/** Returns the previous tip, or reads a new one if that is old. A node without fee history gives the minimum. */
export async function readTipAt(
	chain: EvmChain,
	{
		bounds,
		nowUnixSeconds,
		previous,
	}: { bounds: TipBounds; nowUnixSeconds: Seconds; previous?: Tip | undefined },
): Promise<Tip> {
	if (previous && nowUnixSeconds < previous.tipReadAtUnixSeconds + maxAgeSeconds) {
		const { tip, tipReadAtUnixSeconds } = previous;
		return { tip, tipReadAtUnixSeconds };
	}
	const tip = await readTip(chain, bounds).catch(() => previous?.tip ?? bounds.minimum);
	return { tip, tipReadAtUnixSeconds: nowUnixSeconds };
}

/**
 * Reads the tip that recent blocks needed, within the bounds. It is the minimum unless most blocks were well filled.
 */
async function readTip({ client }: EvmChain, { minimum, maximum }: TipBounds): Promise<Wei> {
	if (minimum === maximum) return minimum;
	const { reward = [], gasUsedRatio } = await client.getFeeHistory({
		blockCount: blocks,
		rewardPercentiles: [percentile],
	});
	const tips = reward
		.map(([tip = 0n], i) => ((gasUsedRatio[i] ?? 0) < roomBelow ? minimum : tip))
		.sort((a, b) => (a < b ? -1 : 1));
	const median = tips[Math.floor(tips.length / 2)] ?? minimum;
	return lesser(greater(median, minimum), maximum);
}

/** Reads the fees of a chain's newest block, for transactions that offer this tip. */
export async function readFeeRates(chain: EvmChain, { tip }: { tip: Wei }): Promise<FeeRates> {
	const { views, l1Rates } = feeModelOf(chain.deployment);
	const { number: blockNumber, baseFeePerGas } = await chain.client.getBlock();
	const results = await callViews(chain, { views, blockNumber });
	return { baseFee: baseFeePerGas ?? 0n, tip, l1: l1Rates(results.map(wordsOf)) };
}
