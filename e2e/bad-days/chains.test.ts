import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestChain } from "@geoswap/devnet";
import { createPublicClient, http, parseGwei } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { startFaultyProvider } from "../trouble/faulty-provider.ts";
import { type BadDaysStack, badDaysStack } from "./bad-days-stack.ts";
import { liveThrough } from "./live-through.ts";
import { shortening } from "./shorten-rules.ts";

const stackOf = badDaysStack();

const always = async () => true;
const patience = { timeout: 300_000, interval: 500 };

test("swaps continue and are charged for gas that costs ten times as much", async () => {
	const stack = stackOf();
	const { destination } = stack.environment;
	const chain = String(destination.chainId);
	const fee = holdBaseFee(destination, parseGwei("1"));
	onTestFinished(fee.stop);
	await expect.poll(() => usualBaseFee(stack, chain), patience).toBe(Number(parseGwei("1")));
	await liveThrough(stack, {
		name: "Gas costs ten times as much",
		how: "the base fee of a chain goes from 1 to 10 gwei and stays there",
		alert: "GeoswapGasPriceHigh",
		labels: { chain },
		break: async () => fee.set(parseGwei("10")),
		follow: async (page) => {
			await page.run("promtool query instant");
			await page.run("geoswapd pauses set", { CHAIN: chain });
			await page.step("`geoswap_base_fee_wei` falls", async () => fee.set(parseGwei("1")));
			await page.run("geoswapd pauses lift", { CHAIN: chain });
		},
		isOver: always,
	});
});

test("when a chain halts, swaps in flight wait or are refunded, and the chain's next blocks end the incident", async () => {
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
			await page.run("cast block", { OTHER_RPC_URL: destination.rpcUrl });
			await page.run("geoswapd pauses set", { CHAIN: chain });
			await destination.testClient.setIntervalMining({ interval: 1 });
			await page.step("wait until new blocks become final", () => finalBlocksPass(destination));
			await page.run("geoswapd reconcile");
			await page.run("geoswapd pauses lift", { CHAIN: chain });
		},
		isOver: always,
	});
});

test("when a chain stops finalizing, the alarm fires while its blocks continue, and finality ends the incident", async () => {
	const stack = stackOf();
	const { destination } = stack.environment;
	const chain = String(destination.chainId);
	const stranger = await startFaultyProvider();
	stranger.setTarget(destination.rpcUrl);
	const setFault = (fault: "stalls finality" | undefined) => {
		for (const provider of [stranger, ...stack.providers.destination]) provider.setFault(fault);
	};
	onTestFinished(async () => {
		setFault(undefined);
		await stranger.stop();
	});
	await giveProvidersToAttesters(stack);
	await liveThrough(stack, {
		name: "A chain does not finalize",
		how: "all providers of a chain, also the attesters', keep giving the same final block",
		alert: "GeoswapFinalityStalled",
		labels: { chain },
		break: async () => {
			setFault("stalls finality");
			// Each provider repeats its first answer.
			await createPublicClient({ transport: http(stranger.url) }).getBlock({ blockTag: "finalized" });
		},
		follow: async (page) => {
			const finalAt = await page.run("cast block", { OTHER_RPC_URL: stranger.url });
			expect(Number.parseInt(finalAt, 10)).toBeLessThan(Date.now() / 1_000 - 60);
			await page.run("geoswapd pauses set", { CHAIN: chain });
			await page.step("When it finalizes again", async () => setFault(undefined));
			await page.run("geoswapd reconcile");
			await page.run("geoswapd pauses lift", { CHAIN: chain });
		},
		isOver: always,
	});
});

/** Makes each attester read the second chain through a provider of the stack. */
async function giveProvidersToAttesters({ environment, providers, dataDir }: BadDaysStack): Promise<void> {
	const { destination, stack } = environment;
	await Promise.all(
		stack.processes.attesters.map(async (attester, i) => {
			const file = join(dataDir, `${attester.name}.json`);
			const config = JSON.parse(readFileSync(file, "utf8"));
			config.chains[destination.chainId].rpcUrl = providers.destination[i]?.url;
			writeFileSync(file, JSON.stringify(config));
			await attester.stop();
			await attester.start();
		}),
	);
}

/** Returns the base fee that the rule compares with: the median of a day until ten minutes ago, both shortened. */
async function usualBaseFee({ prometheus }: BadDaysStack, chain: string): Promise<number> {
	const [day, ago] = [86_400, 600].map((seconds) => `${seconds / shortening}s`);
	const query = `max(quantile_over_time(0.5, geoswap_base_fee_wei{chain="${chain}"}[${day}] offset ${ago}))`;
	const response = await fetch(`${prometheus.url}/api/v1/query?${new URLSearchParams({ query })}`);
	const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
	return Number(data.result[0]?.value[1] ?? 0);
}

async function finalBlocksPass({ publicClient }: TestChain): Promise<void> {
	const head = await publicClient.getBlockNumber();
	const final = async () => (await publicClient.getBlock({ blockTag: "finalized" })).number;
	await expect.poll(final, patience).toBeGreaterThan(head);
}

/** Keeps the base fee where it is set. Without full blocks it would fall by an eighth with each block. */
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
