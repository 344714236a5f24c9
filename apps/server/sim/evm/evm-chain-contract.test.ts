import { startTestChains } from "@geoswap/devnet";
import { type Hex, numberToHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, describe, expect, test } from "vitest";
import { RpcFailure } from "../sim-chain.ts";
import { createSimEvmChain } from "./create-sim-evm-chain.ts";
import { evmChainContract } from "./evm-chain-contract.ts";
import type { EvmSubject } from "./evm-contract-scene.ts";

const starting = startTestChains({ automine: true });
/** The time at which the real chain's stories begin, so that the simulated one's begin in the same second. */
let beganAtMs = 0;

afterAll(async () => {
	await (await starting).stop();
});

async function startAnvilSubject(): Promise<EvmSubject> {
	const { origin, keys } = await starting;
	const request = (method: string, params: readonly unknown[]) => askNode(origin.rpcUrl, method, params);
	const timestamp = async () =>
		Number(((await request("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex }).timestamp);
	await request("evm_setAutomine", [false]);
	beganAtMs = (await timestamp()) * 1_000;
	return {
		deployment: origin.deployment,
		keys,
		request,
		mine: async (secondsLater) => {
			await request("evm_setNextBlockTimestamp", [numberToHex((await timestamp()) + secondsLater)]);
			await request("evm_mine", []);
		},
		reorg: async (depth) => {
			await request("anvil_reorg", [depth, []]);
		},
		giveNative: (address, value) => origin.testClient.setBalance({ address, value }),
		refuseAll: (address) => origin.testClient.setCode({ address, bytecode: "0xfe" }),
		stop: async () => {},
	};
}

async function startSimSubject(): Promise<EvmSubject> {
	const { origin, keys } = await starting;
	const chain = await createSimEvmChain({
		chainId: origin.chainId,
		name: "sim",
		startMs: beganAtMs,
		finalityBlocks: 4,
		attesterSet: origin.deployment.attesterSet,
		relayers: keys.relayers.map(privateKeyToAddress),
		roles: {
			admin: privateKeyToAddress(keys.deployer),
			guardians: [privateKeyToAddress(keys.guardian)],
			treasuries: [privateKeyToAddress(keys.treasury)],
		},
		deployment: { ...origin.deployment, deployedAtBlock: 1 },
	});
	for (const key of [keys.deployer, keys.guardian, keys.treasury]) {
		chain.give("0x0000000000000000000000000000000000000000", privateKeyToAddress(key), 10n ** 20n);
	}
	return {
		deployment: chain.deployment,
		keys,
		request: async (method, params) => chain.request(method, params),
		mine: async (secondsLater) => chain.produce({ atMs: (chain.timestamp() + secondsLater) * 1_000 }),
		reorg: async (depth) => chain.reorg({ depth, keep: () => false }),
		giveNative: async (holder, amount) =>
			chain.give("0x0000000000000000000000000000000000000000", holder, amount),
		refuseAll: async (address) => chain.placeCode(address, "0xfe"),
		stop: async () => {},
	};
}

async function askNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
	const answer = await fetch(url, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
	});
	const { result, error } = (await answer.json()) as {
		result?: unknown;
		error?: { code: number; message: string; data?: unknown };
	};
	if (error) throw new RpcFailure(error.code, error.message, error.data);
	return result ?? null;
}

const said: Record<"anvil" | "sim", Map<string, unknown>> = { anvil: new Map(), sim: new Map() };
describe("a real node", () => evmChainContract(startAnvilSubject, said.anvil));
describe("the simulated chain", () => evmChainContract(startSimSubject, said.sim));

test("the simulated chain gives the same answers as the real node, except for gas and hashes", () => {
	expect([...said.sim.keys()]).toEqual([...said.anvil.keys()]);
	for (const [story, answers] of said.anvil) expect.soft(said.sim.get(story), story).toEqual(answers);
});
