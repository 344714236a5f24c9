import { type Address, type Client, parseAbi } from "viem";
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

/** The description that an asset's feed returns, and its price. */
export type FeedReading = { symbol: string; description: string; answer: bigint; decimals: number };

/** Reads the assets' feeds. An asset that only Pyth prices has none. */
export function readFeeds(client: Client, { assets }: DeployConfig): Promise<FeedReading[]> {
	return Promise.all(
		assets.flatMap(({ symbol, feed }) => (feed ? readFeed(client, { symbol, address: feed.address }) : [])),
	);
}

/** Throws unless the rollup's sequencer-uptime feed, if the config has one, returns 0 (up) or 1 (down). */
export async function checkSequencerFeed(
	client: Client,
	{ sequencerUptimeFeed: address }: Pick<DeployConfig, "sequencerUptimeFeed">,
): Promise<void> {
	if (!address) return;
	const name = "the sequencer-uptime feed";
	await expectCode(client, name, address);
	const [, answer] = await readContract(client, {
		address,
		abi: aggregatorAbi,
		functionName: "latestRoundData",
	}).catch((cause) => {
		throw doesNotAnswer(name, address, cause);
	});
	if (answer === 0n || answer === 1n) return;
	throw new DeployError(`${name} at ${address} says ${answer}, but it can only say 0 (up) or 1 (down)`, {
		next: "correct sequencerUptimeFeed in the config; a price feed is not one",
	});
}

/** Reads a feed. Throws unless it responds as a feed and has a price. */
export async function readFeed(
	client: Client,
	{ symbol, address }: { symbol: string; address: Address },
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
