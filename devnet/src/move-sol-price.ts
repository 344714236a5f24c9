import { encodeFunctionData, formatUnits } from "viem";
import { devFeedAbi } from "./dev-contract-abi.ts";
import type { DevnetChain } from "./devnet-chain.ts";
import { deriveDevnetKeys } from "./devnet-keys.ts";
import { devnetSol, feedDecimals } from "./devnet-tokens.ts";
import { type PriceMove, parsePercent } from "./move-price.ts";
import { sendAs } from "./send-as.ts";
import { hasSolFeed, solFeedAddress } from "./solana-feeds.ts";

/** Moves SOL's price by a percentage, in its feed only, because it has no pool here. */
export async function moveSolPrice(chain: DevnetChain, { percent }: { percent: string }): Promise<PriceMove> {
	const { symbol } = devnetSol;
	if (!hasSolFeed(chain)) throw new RangeError(`${symbol} has no feed on chain ${chain.chainId}`);
	const feed = { address: solFeedAddress(), abi: devFeedAbi } as const;
	const read = async () => {
		const [, answer] = await chain.publicClient.readContract({ ...feed, functionName: "latestRoundData" });
		return answer;
	};
	const factor = parsePercent(percent);
	const before = await read();
	const moved = (before * factor.numerator) / factor.denominator;
	if (moved <= 0n) throw new RangeError(`a move of ${percent} % would reduce the price of ${symbol} to zero`);
	await sendAs(chain, deriveDevnetKeys().actors.market, {
		to: feed.address,
		data: encodeFunctionData({ abi: devFeedAbi, functionName: "setAnswer", args: [moved] }),
	});
	const show = (answer: bigint) => formatUnits(answer, feedDecimals);
	return {
		chainId: chain.chainId,
		symbol,
		feed: { address: feed.address, before: show(before), after: show(await read()) },
		pools: [],
	};
}
