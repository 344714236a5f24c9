import { setTimeout as sleep } from "node:timers/promises";
import {
	type Amount,
	type Milliseconds,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import * as z from "zod";
import type { Rung } from "../../chain/evm/read/read-block-prices.ts";
import type { SolanaTerms } from "../../config/chain-terms.ts";
import type { Log } from "../../telemetry/log.ts";
import type { PriceCache } from "./price-cache.ts";
import type { Direction, QuoterLadders } from "./quoter-ladders.ts";
import { amountWorthUp } from "./usd-value.ts";

/** The mint that stands for the native token in pools. */
const wrappedSol = "So11111111111111111111111111111111111111112" as SolanaAddress;
/** Divisors of the top size, one for each rung. A quoter limits requests, so there are few. */
const rungDivisors = [250n, 10n, 1n];
/** The pause after a failure, and the maximum pause that the quoter may request. */
const failedMs = 5_000;
const maxWaitMs = 60_000;

/**
 * Requests the ladders of all assets from the quoter in turn until the signal aborts, never two concurrently and
 * never faster than `requestsPerSecond`. Logs when the quoter stops answering, and when it answers again.
 */
export async function keepQuoter({
	quoter: { url, timeoutMs, requestsPerSecond },
	key,
	deployment,
	topUsd,
	priceCache,
	ladders,
	nowMs,
	signal,
	log,
}: {
	quoter: Pick<NonNullable<SolanaTerms["quoter"]>, "url" | "timeoutMs" | "requestsPerSecond">;
	key: string | undefined;
	deployment: SolanaDeployment;
	/** The size of the top rung. */
	topUsd: number;
	priceCache: Pick<PriceCache, "isReferenceLive" | "reference">;
	ladders: Pick<QuoterLadders, "update">;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
	log: Log;
}): Promise<void> {
	const { chainId, settlementToken } = deployment;
	const others = deployment.assets.filter(({ address }) => address !== settlementToken);
	const pause = (ms: Milliseconds) => sleep(ms, undefined, { signal }).catch(() => {});
	let isDown = false;
	while (!signal.aborted) {
		let asked = 0;
		for (const { address } of others) {
			for (const direction of ["buy", "sell"] as const) {
				const input = direction === "buy" ? settlementToken : address;
				const output = direction === "buy" ? address : settlementToken;
				const top = topOf(input);
				if (signal.aborted || top === undefined) continue;
				asked++;
				await askLadder(address, { direction, input, output, top });
			}
		}
		// Sizes need the feeds' prices, which come with the first blocks.
		if (asked === 0) await pause(1_000);
	}

	/** Requests the sizes in ascending order. Answers from before a failure are kept. */
	async function askLadder(
		asset: SolanaAddress,
		{
			direction,
			input,
			output,
			top,
		}: { direction: Direction; input: SolanaAddress; output: SolanaAddress; top: Amount },
	): Promise<void> {
		const askedAtMs = nowMs();
		const rungs: Rung[] = [];
		let waitMs = 0;
		try {
			for (const divisor of rungDivisors) {
				const amount = top / divisor;
				if (amount === 0n) continue;
				const mints = { inputMint: mintOf(input), outputMint: mintOf(output) };
				rungs.push({
					input: amount,
					output: await readQuoter({ url, ...mints, amount, key, timeoutMs, signal }),
				});
				await pause(1_000 / requestsPerSecond);
			}
			if (isDown) log.info({ chainId }, "the quoter answers again");
			isDown = false;
		} catch (error) {
			if (signal.aborted) return;
			if (!isDown)
				log.warn({ chainId, err: error }, "the quoter does not answer; the spread is charged instead");
			isDown = true;
			waitMs = error instanceof QuoterBusyError ? Math.min(error.waitMs ?? failedMs, maxWaitMs) : failedMs;
		}
		if (rungs.length > 0) ladders.update(toSolanaWord(asset), direction, { rungs, askedAtMs });
		if (waitMs > 0) await pause(waitMs);
	}

	/** Returns the amount that is worth the top size, or undefined without a price. */
	function topOf(address: SolanaAddress): Amount | undefined {
		const id = { chainId, asset: toSolanaWord(address) };
		if (!priceCache.isReferenceLive(id, { nowMs: nowMs() })) return undefined;
		return amountWorthUp(BigInt(Math.ceil(topUsd)) * 10n ** 18n, priceCache.reference(id));
	}
}

function mintOf(address: SolanaAddress): SolanaAddress {
	return address === solanaNativeToken ? wrappedSol : address;
}

const amountSchema = z
	.string()
	.regex(/^[1-9]\d{0,19}$/)
	.transform((text) => BigInt(text));

/** The part of the answer that is used. Without a taker it holds a price and no transaction. */
const answerSchema = z.object({ inAmount: amountSchema, outAmount: amountSchema });

/** A quoter that requests a lower rate. */
class QuoterBusyError extends Error {
	/** The pause that it requests. Undefined if it states none. */
	readonly waitMs: Milliseconds | undefined;

	constructor(waitMs: Milliseconds | undefined) {
		super("the quoter limits requests");
		this.waitMs = waitMs;
	}
}

/** Requests from an HTTP quoter of Jupiter's shape what an amount of one token buys of another. */
export async function readQuoter({
	url,
	inputMint,
	outputMint,
	amount,
	key,
	timeoutMs,
	signal,
}: {
	/** The address without `/order`. */
	url: string;
	inputMint: SolanaAddress;
	outputMint: SolanaAddress;
	amount: Amount;
	/** The API key. Undefined if the quoter requires none. */
	key: string | undefined;
	timeoutMs: Milliseconds;
	signal: AbortSignal;
}): Promise<Amount> {
	const query = new URLSearchParams({ inputMint, outputMint, amount: String(amount) });
	const response = await fetch(`${url.replace(/\/$/, "")}/order?${query}`, {
		headers: key === undefined ? {} : { "x-api-key": key },
		signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
		// The key must reach no other host.
		redirect: "error",
	});
	if (!response.ok) {
		await response.body?.cancel();
		if (response.status !== 429) throw new Error(`the quoter answers with status ${response.status}`);
		const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
		throw new QuoterBusyError(Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined);
	}
	const { inAmount, outAmount } = answerSchema.parse(await response.json());
	if (inAmount !== amount) throw new Error("the quoter has quoted another amount than the requested one");
	return outAmount;
}
