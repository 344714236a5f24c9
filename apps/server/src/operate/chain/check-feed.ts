import { readFeed } from "@geoswap/contracts";
import { type Address, type Client, parseAbi } from "viem";
import { readContract } from "viem/actions";
import { type Found, fail, ok } from "../check/finding.ts";
import type { EvmPreset } from "./preset-schema.ts";

const proxyAbi = parseAbi([
	"function aggregator() view returns (address)",
	"function minAnswer() view returns (int192)",
	"function maxAnswer() view returns (int192)",
]);

/**
 * The minimum factor between the price and a feed's bounds, because a feed stops at a bound when the price moves
 * beyond it.
 */
const boundFactor = 2n;

/** Fails unless the feed's description and decimals are those of the preset, and it can follow the price. */
export async function checkFeed(
	client: Client,
	{ pair, descriptions, decimals, address: { value: address } }: EvmPreset["feeds"][number],
): Promise<Found> {
	const feed = await readFeed(client, { symbol: pair, address });
	if (!descriptions.includes(feed.description)) {
		return fail(
			`the feed at ${address} is "${feed.description}", the preset says ${descriptions.join(" or ")}`,
		);
	}
	if (feed.decimals !== decimals) {
		return fail(`the feed at ${address} has ${feed.decimals} decimals, the preset says ${decimals}`);
	}
	const bounds = await readBounds(client, address);
	if (bounds && (bounds.maximum < feed.answer * boundFactor || bounds.minimum * boundFactor > feed.answer)) {
		return fail(
			`the feed at ${address} is bounded: it says ${feed.answer} and never less than ${bounds.minimum} or more than ${bounds.maximum}`,
		);
	}
	return ok(`is "${feed.description}" with ${decimals} decimals`);
}

/** Returns the bounds of the aggregator behind the proxy, or undefined if it reports none. */
async function readBounds(
	client: Client,
	proxy: Address,
): Promise<{ minimum: bigint; maximum: bigint } | undefined> {
	try {
		const address = await readContract(client, {
			address: proxy,
			abi: proxyAbi,
			functionName: "aggregator",
		});
		const [minimum, maximum] = await Promise.all([
			readContract(client, { address, abi: proxyAbi, functionName: "minAnswer" }),
			readContract(client, { address, abi: proxyAbi, functionName: "maxAnswer" }),
		]);
		return { minimum, maximum };
	} catch {
		// A feed of another kind has no such functions.
		return undefined;
	}
}
