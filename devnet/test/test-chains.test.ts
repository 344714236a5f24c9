import { deploymentSchema, formatDeployment } from "@geoswap/protocol";
import { privateKeyToAddress } from "viem/accounts";
import { afterEach, expect, test } from "vitest";
import { readFeeds, startTestChains, type TestChains } from "../src/index.ts";

const started: TestChains[] = [];
afterEach(async () => {
	await Promise.all(started.splice(0).map((chains) => chains.stop()));
});

async function start(options: { automine: boolean }): Promise<TestChains> {
	const chains = await startTestChains(options);
	started.push(chains);
	return chains;
}

test("a test gets a dedicated pair of chains in under two seconds once another test has had one", async () => {
	await start({ automine: true });
	const startedAt = performance.now();
	const { origin, destination } = await start({ automine: true });
	expect(performance.now() - startedAt).toBeLessThan(2_000);
	expect(await origin.publicClient.getChainId()).toBe(31337);
	expect(await destination.publicClient.getChainId()).toBe(31338);
});

test("pairs of chains started at the same time are separate", async () => {
	const [one, two] = await Promise.all([start({ automine: true }), start({ automine: true })]);
	const address = one.deployment.chains[0]?.contracts.vault ?? "0x";
	await one.origin.testClient.setBalance({ address, value: 1n });
	expect(await one.origin.publicClient.getBalance({ address })).toBe(1n);
	expect(await two.origin.publicClient.getBalance({ address })).toBeGreaterThan(1n);
});

test("the chains have the current time, fresh feeds and a readable finalized state", async () => {
	const { origin, destination } = await start({ automine: true });
	for (const { publicClient, deployment, ...chain } of [origin, destination]) {
		const { timestamp } = await publicClient.getBlock();
		expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(5);
		for (const { ageSeconds } of await readFeeds({ publicClient, ...chain }, deployment)) {
			expect(ageSeconds).toBeLessThan(5);
		}
		const address = deployment.contracts.vault;
		expect(await publicClient.getBalance({ address, blockTag: "finalized" })).toBeGreaterThan(0n);
	}
});

test("without automine new blocks are produced continuously, and feeds are fresh again after a jump of an hour", async () => {
	const { origin } = await start({ automine: false });
	const first = await origin.publicClient.getBlockNumber();
	await expect
		.poll(() => origin.publicClient.getBlockNumber(), { timeout: 5_000 })
		.toBeGreaterThan(first + 1n);

	const { timestamp } = await origin.publicClient.getBlock();
	await origin.testClient.increaseTime({ seconds: 3_600 });
	const isFresh = async () => {
		const block = await origin.publicClient.getBlock();
		const feeds = await readFeeds(origin, origin.deployment);
		return (
			block.timestamp >= timestamp + 3_600n &&
			feeds.every(({ ageSeconds, heartbeatSeconds }) => ageSeconds < heartbeatSeconds)
		);
	};
	await expect.poll(isFresh, { timeout: 10_000, interval: 200 }).toBe(true);
});

test("the deployment passes its schema and round-trips through its text", async () => {
	const { deployment } = await start({ automine: true });
	const text = formatDeployment(deployment);
	expect(deploymentSchema.parse(JSON.parse(text))).toEqual(deployment);
	const reordered = {
		chains: deployment.chains.map((chain) => Object.fromEntries(Object.entries(chain).reverse())),
	};
	expect(formatDeployment(deploymentSchema.parse(reordered))).toBe(text);
});

test("the attester keys are in the order of the attester set", async () => {
	const { deployment, keys } = await start({ automine: true });
	for (const { attesterSet } of deployment.chains) {
		expect(keys.attesters.map((key) => privateKeyToAddress(key))).toEqual(attesterSet.attesters);
	}
});
