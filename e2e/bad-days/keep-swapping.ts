import { setTimeout as sleep } from "node:timers/promises";
import type { QuoteRequestBody } from "@geoswap/protocol";
import { type Client, GeoswapError, type Quote, waitForSwap } from "@geoswap/sdk";
import { generateKeyPairSigner } from "@solana/kit";
import { parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { countingClient } from "../caller/counting-client.ts";
import { signSolanaSwap, submitSignedSolana } from "../caller/do-solana-swap.ts";
import { signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import type { EndedAnyPlan } from "../caller/mixed-swaps.ts";
import { untilAnswered } from "../caller/swap-through.ts";
import { type AnyChain, holding, isSolanaChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";

type Ended = EndedAnyPlan & { submittedAt: number };

/** Callers who swap all day, one for each route. */
export type Traffic = {
	/** Returns true if on every route a swap that was submitted since then has settled. */
	haveAllSettledSince: (at: number) => boolean;
	/** Swaps that have ended, by status and failure. */
	swaps: () => Record<string, number>;
	/** Refused calls by error code. */
	refusals: () => Record<string, number>;
	/** Lets the swaps that are submitted end, and returns what wallets and recipients lack. */
	stop: () => Promise<string[]>;
};

const pauseMs = 3_000;
const patienceMs = 900_000;
const funds = parseUnits("20000", 6);

/**
 * Starts a caller for each route. The routes are EVM to EVM both ways, to and from Solana, below and above
 * `agreeAboveUsd`.
 */
export async function keepSwapping(environment: Environment): Promise<Traffic> {
	const { origin, destination, solana } = environment;
	const { client, counts } = countingClient(await environment.newClient());
	const routes = await Promise.all([
		startRoute(environment, client, { from: origin, to: destination, amount: "20" }),
		startRoute(environment, client, { from: destination, to: origin, amount: "100" }),
		startRoute(environment, client, { from: origin, to: solana, amount: "60" }),
		startRoute(environment, client, { from: solana, to: destination, amount: "30" }),
	]);
	return {
		haveAllSettledSince: (at) =>
			routes.every(({ ended }) => ended.some((one) => isSettled(one) && one.submittedAt >= at)),
		swaps: () =>
			countEach(
				routes.flatMap(({ ended }) =>
					ended.map(({ swap }) => (swap.failure ? `${swap.status} ${swap.failure.code}` : swap.status)),
				),
			),
		refusals: () => countEach(counts.failed.map((line) => /"code":"(\w+)"/.exec(line)?.[1] ?? "no answer")),
		stop: async () => (await Promise.all(routes.map((route) => route.stop()))).flat(),
	};
}

type Route = { ended: Ended[]; stop: () => Promise<string[]> };

async function startRoute(
	environment: Environment,
	client: Client,
	{ from: origin, to: destination, amount: text }: { from: AnyChain; to: AnyChain; amount: string },
): Promise<Route> {
	const pins = environment.deployment;
	const amount = parseUnits(text, 6);
	const from = { chain: origin, token: "USDC", amount };
	const to = { chain: destination, token: "USDC" };
	// The wallet gets all inputs of the day at the start, because on some days its chain makes no blocks.
	const signing = await signingOf();
	const ended: Ended[] = [];
	const stopping = new AbortController();
	const done = run();
	done.catch(() => {});
	return {
		ended,
		stop: async () => {
			stopping.abort();
			await done;
			return missing();
		},
	};

	async function signingOf() {
		if (isSolanaChain(origin)) {
			const account = await origin.newWallet({ usdc: funds });
			return {
				account,
				submitNew: async (intent: QuoteRequestBody) => {
					const signed = await signSolanaSwap({ client, pins, account }, intent);
					return { signed, submit: () => submitSignedSolana({ client, pins, account }, signed) };
				},
			};
		}
		const account = await environment.newWallet({ chain: origin, token: "USDC", amount: funds });
		return {
			account,
			submitNew: async (intent: QuoteRequestBody) => {
				const signed = await signSwap({ client, pins, account }, intent);
				return { signed, submit: () => submitSigned({ client, pins, account }, signed) };
			},
		};
	}

	async function run(): Promise<void> {
		while (!stopping.signal.aborted) {
			const recipient = await newRecipient(destination);
			try {
				ended.push(await swapOnce(recipient));
			} catch (error) {
				if (!(error instanceof GeoswapError)) throw error;
			}
			await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
		}
	}

	async function swapOnce(recipient: string): Promise<Ended> {
		const { account, submitNew } = signing;
		const { signed, submit } = await submitNew(swapIntent({ from, to, recipient, account }));
		const submittedAt = Date.now();
		const deadline = performance.now() + patienceMs;
		const { swapId } = await untilAnswered(submit, deadline);
		const swap = await untilAnswered(() => waitForSwap(client, swapId), deadline);
		const { quote }: { quote: Quote } = signed;
		return { from, to, recipient, account, signed: { quote }, swap, submittedAt };
	}

	/** Returns the wallets and recipients that have less than the status of the swaps promises. */
	async function missing(): Promise<string[]> {
		const paid = ended.filter(isSettled).length;
		const left = await holding(origin, "USDC", signing.account.address);
		const expected = funds - BigInt(paid) * amount;
		const wallet = left === expected ? [] : [`${signing.account.address} holds ${left}, not ${expected}`];
		const recipients = await Promise.all(
			ended.map(async ({ recipient, signed, swap }) => {
				const received = await holding(destination, "USDC", recipient);
				const least = swap.status === "settled" ? signed.quote.minOutput : 0n;
				const isRight = swap.status === "settled" ? received >= least : received === 0n;
				return isRight ? [] : [`${swap.swapId} (${swap.status}) paid ${received}, not ${least}`];
			}),
		);
		return [...wallet, ...recipients.flat()];
	}
}

function isSettled({ swap }: Ended): boolean {
	return swap.status === "settled";
}

async function newRecipient(chain: AnyChain): Promise<string> {
	return isSolanaChain(chain)
		? (await generateKeyPairSigner()).address
		: privateKeyToAddress(generatePrivateKey());
}

function countEach(names: readonly string[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
	return counts;
}
