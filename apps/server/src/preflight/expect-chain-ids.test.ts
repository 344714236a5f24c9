import { startTestChains, type TestChains } from "@geoswap/devnet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectChain } from "../chain/evm/connect-chain.ts";
import type { EvmChainConfig } from "../config/chain-config.ts";
import { expectChainIds } from "./expect-chain-ids.ts";
import { refuseOtherChains } from "./refuse-other-chains.ts";

let chains: TestChains;
beforeAll(async () => {
	chains = await startTestChains();
});
afterAll(() => chains.stop());

test("an endpoint of another chain, or one that does not respond, is refused without showing its key", async () => {
	const { origin, destination } = chains;
	await expectChainIds([connectChain(origin), connectChain(destination)]);
	const swapped = connectChain({ ...origin, rpcUrl: `${destination.rpcUrl}/?key=a-key` });
	const wrong = `chains.31337.nodes: ${new URL(destination.rpcUrl).origin} is chain 31338`;
	await expect(expectChainIds([swapped])).rejects.toMatchObject({ name: "ConfigError", message: wrong });
	const dead = connectChain({ ...origin, rpcUrl: "http://user:password@127.0.0.1:9/a-key" });
	await expect(expectChainIds([dead], { patienceMs: 0 })).rejects.toMatchObject({
		name: "ConfigError",
		message: "chains.31337.nodes: http://127.0.0.1:9 does not answer",
	});
});

test("the one of several nodes that belongs to another chain is refused by its position, and one that does not respond is not refused", async () => {
	const { origin, destination } = chains;
	const dead = "http://127.0.0.1:9/a-key";
	const refuse = (...urls: string[]) =>
		refuseOtherChains({
			...origin,
			kind: "evm",
			nodes: urls.map((url) => ({ url })),
		} as unknown as EvmChainConfig);
	await refuse(origin.rpcUrl, dead);
	await expect(refuse(origin.rpcUrl, dead, `${destination.rpcUrl}/?key=a-key`)).rejects.toMatchObject({
		name: "ConfigError",
		message: `chains.31337.nodes.2: ${new URL(destination.rpcUrl).origin} is chain 31338`,
	});
});
