import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import {
	formatAddress,
	fromSolanaWord,
	type Milliseconds,
	type QuoteRequest,
	quoteRequestSchema,
} from "@geoswap/protocol";
import { isOffCurveAddress } from "@solana/kit";
import { type Address, getAddress, toHex } from "viem";
import * as z from "zod";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { type DeskChain, deskChains, type Side } from "../../desk/desk-chain.ts";
import type { PriceCache } from "../../desk/price/price-cache.ts";
import { amountWorthDown } from "../../desk/price/usd-value.ts";
import { assetId } from "../../desk/price-swap.ts";

/** A request of a shadow day. Its amount may depend on the prices when it is made. */
export type TimedRequest = { atMs: Milliseconds; request: (priceCache: PriceCache) => QuoteRequest };

/** Relative weights of the assets. A stable token is chosen three times as often as a volatile one. */
const weights = { stable: 3, volatile: 1 } as const;
/** Half of the swaps are larger than this. */
const medianUsd = 300;
/** Standard deviation of the logarithm of the size. Two thirds of the sizes are within a factor of 4.5. */
const sizeSpread = 1.5;

/**
 * Returns an endless sequence of requests at random times, on average `perHour`, between any two offered assets.
 * Sizes follow a log-normal distribution within the configured limits.
 */
export function* generateRequests({
	config,
	seed,
	perHour,
	startMs,
}: {
	config: Pick<Config, "chains" | "price">;
	seed: string;
	perHour: number;
	startMs: Milliseconds;
}): Generator<TimedRequest, never> {
	const random = hashedRandom(`${seed}/requests`);
	const sides = [...deskChains(config).values()].flatMap((chain) =>
		chain.assets.map((asset): Side => ({ chain, asset })),
	);
	const { minimumUsd, maximumUsd } = config.price;
	for (let atMs = startMs; ; ) {
		atMs += Math.ceil((-Math.log(1 - random.next()) * 3_600_000) / perHour);
		const origin = pick(sides, random);
		const destination = pick(
			sides.filter((side) => side !== origin),
			random,
		);
		const sized = medianUsd * Math.exp(sizeSpread * random.normal());
		const usd = Math.min(Math.max(sized, minimumUsd), maximumUsd);
		const [wallet, recipient] = [origin, destination].map(({ chain }) => holderOn(chain, random));
		if (!wallet || !recipient) throw new RangeError("a swap has two sides");
		yield {
			atMs,
			request: (priceCache) => requestOf(priceCache, { origin, destination, usd, wallet, recipient }),
		};
	}
}

function requestOf(
	priceCache: PriceCache,
	{
		origin,
		destination,
		usd,
		wallet,
		recipient,
	}: { origin: Side; destination: Side; usd: number; wallet: string; recipient: string },
): QuoteRequest {
	const { chainId, asset } = assetId(origin);
	// Without a price any amount will do, because the request is refused for that reason.
	const isPriced = priceCache.feedUpdatedAtUnixSeconds({ chainId, asset }) !== undefined;
	const reference = isPriced ? priceCache.reference({ chainId, asset }) : undefined;
	const amount =
		reference && reference.usdE18 > 0n
			? amountWorthDown(BigInt(Math.round(usd * 1e6)) * 10n ** 12n, reference)
			: 10n ** BigInt(origin.asset.decimals);
	return {
		originChain: chainId,
		destinationChain: destination.chain.chainId,
		inputToken: formatAddress(chainId, asset),
		outputToken: formatAddress(destination.chain.chainId, destination.asset.address),
		amount,
		walletAddress: wallet,
		recipient,
		slippageBps: undefined,
	};
}

function pick(sides: readonly Side[], random: HashedRandom): Side {
	const total = sides.reduce((sum, { asset }) => sum + weights[asset.kind], 0);
	let at = random.next() * total;
	for (const side of sides) {
		at -= weights[side.asset.kind];
		if (at < 0) return side;
	}
	throw new RangeError("a swap needs two assets; offer at least two");
}

/** Returns an address that a wallet could have. On Solana about half of all numbers are one. */
function holderOn({ kind }: DeskChain, random: HashedRandom): string {
	if (kind === "evm") return getAddress(toHex(random.bytes(20)) as Address);
	for (;;) {
		const address = fromSolanaWord(toHex(random.bytes(32)));
		if (!isOffCurveAddress(address)) return address;
	}
}

/** Pseudorandom numbers from a seed. The same seed gives the same numbers on every machine. */
export type HashedRandom = {
	/** Returns a number of at least 0 and below 1. */
	next: () => number;
	/** Returns a number of the normal distribution with mean 0 and standard deviation 1. */
	normal: () => number;
	bytes: (size: number) => Uint8Array;
};

export function hashedRandom(seed: string): HashedRandom {
	let counter = 0;
	const bytes = (size: number): Uint8Array => {
		const blocks = Array.from({ length: Math.ceil(size / 32) }, () => {
			counter += 1;
			return createHash("sha256").update(`${seed}/${counter}`).digest();
		});
		return Buffer.concat(blocks).subarray(0, size);
	};
	const next = () => Buffer.from(bytes(6)).readUIntBE(0, 6) / 2 ** 48;
	return {
		next,
		bytes,
		// The transform of Box and Muller.
		normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
	};
}

const lineSchema = z.strictObject({
	/** When the request was made. Only the time since the first line counts. */
	at: z.iso.datetime({ offset: true }),
	request: quoteRequestSchema,
});

/**
 * Reads requests from a file with a JSON object on each line. The first is made at `startMs`, and the others keep
 * their distance in time. Throws a message with the number of the first invalid line.
 */
export function readRequests(path: string, { startMs }: { startMs: Milliseconds }): TimedRequest[] {
	const lines = readFileSync(path, "utf8").split("\n");
	const read = lines.flatMap((text, i) => {
		if (text.trim() === "") return [];
		const parsed = lineSchema.safeParse(parseJson(text));
		if (parsed.success) return [{ atMs: Date.parse(parsed.data.at), request: parsed.data.request }];
		const [issue] = parsed.error.issues;
		const where = issue && issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
		throw new ConfigError(path, `line ${i + 1}: ${where}${issue?.message ?? "is not valid"}`);
	});
	const sorted = read.toSorted((a, b) => a.atMs - b.atMs);
	const first = sorted[0]?.atMs ?? 0;
	return sorted.map(({ atMs, request }) => ({ atMs: startMs + atMs - first, request: () => request }));
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
