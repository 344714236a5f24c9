import { type Client, parseAbi } from "viem";
import { readContract } from "viem/actions";
import type { DeployConfig } from "./deploy-config.ts";
import { DeployError } from "./deploy-error.ts";
import { doesNotAnswer } from "./does-not-answer.ts";
import { expectCode } from "./expect-code.ts";

const aggregatorAbi = parseAbi([
	"function decimals() view returns (uint8)",
	"function description() view returns (string)",
	"function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);

/** The name that the feed of an asset gives itself, and its price. */
export type FeedReading = { symbol: string; description: string; answer: bigint; decimals: number };

export function readFeeds(client: Client, { assets }: DeployConfig): Promise<FeedReading[]> {
	return Promise.all(assets.map((asset) => readFeed(client, asset)));
}

async function readFeed(
	client: Client,
	{ symbol, feed: { address } }: DeployConfig["assets"][number],
): Promise<FeedReading> {
	await expectCode(client, `the feed of ${symbol}`, address);
	const [decimals, description, [, answer]] = await Promise.all([
		readContract(client, { address, abi: aggregatorAbi, functionName: "decimals" }),
		readContract(client, { address, abi: aggregatorAbi, functionName: "description" }),
		readContract(client, { address, abi: aggregatorAbi, functionName: "latestRoundData" }),
	]).catch((cause) => {
		throw doesNotAnswer(`the feed of ${symbol}`, address, cause);
	});
	if (answer <= 0n) {
		throw new DeployError(
			`the feed "${description}" of ${symbol} at ${address} says ${answer}, which is not a price`,
			{
				next: "correct its address in the config, or wait until it has a price",
			},
		);
	}
	return { symbol, description, answer, decimals };
}
