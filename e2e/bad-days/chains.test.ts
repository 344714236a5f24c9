import { setTimeout as sleep } from "node:timers/promises";
import type { TestChain } from "@geoswap/devnet";
import { parseGwei } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { badDaysStack } from "./bad-days-stack.ts";
import { liveThrough } from "./live-through.ts";
import { shortening } from "./shorten-rules.ts";

const stackOf = badDaysStack();

const always = async () => true;
const patience = { timeout: 120_000, interval: 500 };

test("gas costs ten times as much: swaps go on and are charged for it", async () => {
	const stack = stackOf();
	const { destination } = stack.environment;
	const chain = String(destination.chainId);
	const fee = holdBaseFee(destination, parseGwei("1"));
	onTestFinished(fee.stop);
	// The rule compares with the median of the day until ten minutes ago.
	await sleep(1.5 * (600_000 / shortening));
	await liveThrough(stack, {
		name: "Gas costs ten times as much",
		how: "the base fee of a chain goes from 1 to 10 gwei and stays there",
		alert: "GeoswapGasPriceHigh",
		labels: { chain },
		break: async () => fee.set(parseGwei("10")),
		follow: async (page) => {
			await page.run("promtool query instant");
			await page.run("geoswapd pauses set", { CHAIN: chain });
			fee.set(parseGwei("1"));
			await page.run("geoswapd pauses lift", { CHAIN: chain });
		},
		isOver: always,
	});
});

test("a chain halts: what is under way waits or is refunded, and the chain's next blocks end the day", async () => {
	const stack = stackOf();
	const { destination } = stack.environment;
	const chain = String(destination.chainId);
	await liveThrough(stack, {
		name: "A chain halts",
		how: "the chain makes no blocks, its nodes answer",
		alert: "GeoswapChainHalted",
		labels: { chain },
		break: () => destination.testClient.setIntervalMining({ interval: 0 }),
		follow: async (page) => {
			await page.run("geoswapd pauses set", { CHAIN: chain });
			await destination.testClient.setIntervalMining({ interval: 1 });
			await page.step("wait until new blocks become final", () => finalBlocksPass(destination));
			await page.run("geoswapd reconcile");
			await page.run("geoswapd pauses lift", { CHAIN: chain });
		},
		isOver: always,
	});
});

test("a chain does not finalize: releases wait, deliveries stop at the cap, and finality ends the day", async () => {
	const stack = stackOf();
	const { destination } = stack.environment;
	const chain = String(destination.chainId);
	const setFault = (fault: "stalls finality" | undefined) => {
		for (const provider of stack.providers.destination) provider.setFault(fault);
	};
	await liveThrough(stack, {
		name: "A chain does not finalize",
		how: "all providers of a chain keep giving the same final block",
		alert: "GeoswapFinalityStalled",
		labels: { chain },
		break: async () => setFault("stalls finality"),
		follow: async (page) => {
			await page.run("geoswapd pauses set", { CHAIN: chain });
			await page.step("When it finalizes again", async () => setFault(undefined));
			await page.run("geoswapd reconcile");
			await page.run("geoswapd pauses lift", { CHAIN: chain });
		},
		isOver: always,
	});
});

async function finalBlocksPass({ publicClient }: TestChain): Promise<void> {
	const head = await publicClient.getBlockNumber();
	const final = async () => (await publicClient.getBlock({ blockTag: "finalized" })).number;
	await expect.poll(final, patience).toBeGreaterThan(head);
}

/** Keeps the base fee where it is set: without full blocks it would fall by an eighth with each. */
function holdBaseFee({ testClient }: TestChain, initial: bigint) {
	let baseFeePerGas = initial;
	const stopping = new AbortController();
	const done = hold();
	return {
		set: (next: bigint) => {
			baseFeePerGas = next;
		},
		stop: async () => {
			stopping.abort();
			await done;
		},
	};

	async function hold(): Promise<void> {
		while (!stopping.signal.aborted) {
			await testClient.setNextBlockBaseFeePerGas({ baseFeePerGas });
			await sleep(300, undefined, { signal: stopping.signal }).catch(() => {});
		}
	}
}
