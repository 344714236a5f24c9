import { geoVaultAbi, toWord } from "@geoswap/protocol";
import { encodeFunctionData, erc20Abi, parseUnits, zeroHash } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ability, connectWithout } from "../../../test/chain/connect-without.ts";
import {
	assetOf,
	createLaneScene,
	type LaneScene,
	newOrder,
	sendAsAnyone,
} from "../../../test/lane/lane-scene.ts";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { findBalanceSlot } from "../../chain/evm/simulate/find-balance-slot.ts";
import type { Delivery } from "../../swap/facts/swap-record.ts";
import { createFillSimulator, type PaperFill } from "./simulate-fill.ts";

const recipient = toWord("0x1111111111111111111111111111111111111111");
const inventory = parseUnits("1000", 6);

let scene: LaneScene;
beforeAll(async () => {
	scene = await createLaneScene();
	// The vault really holds nothing. Everything that it pays from is on paper.
	const { testClient, publicClient, deployment } = scene.chains.destination;
	const [token, holder] = [deployment.settlementToken, deployment.contracts.vault];
	const slot = await findBalanceSlot(scene.destination, { token, holder });
	if (!slot) throw new Error("the token keeps its balances in a usual place");
	await testClient.setStorageAt({ address: token, index: slot, value: zeroHash });
	const call = { address: token, abi: erc20Abi, functionName: "balanceOf", args: [holder] } as const;
	expect(await publicClient.readContract(call)).toBe(0n);
});
afterAll(() => scene.stop());

function simulatorOf(chain: EvmChain): ReturnType<typeof createFillSimulator> {
	return createFillSimulator(new Map([[chain.chainId, chain]]));
}

async function fillOf({ symbol = "USDC", ...change }: Partial<PaperFill> & { symbol?: string } = {}) {
	const outputToken = toWord(assetOf(scene.chains.destination, symbol));
	const order = await newOrder(scene, { wallet: recipient, outputToken, minOutput: 1n });
	return {
		order,
		delivery: { kind: "inventory", amount: 9_950_000n },
		minOutput: 0n,
		inventory,
		...change,
	} as const;
}

test.each<{ by: string; lacks: Ability[] }>([
	{ by: "eth_simulateV1", lacks: [] },
	{ by: "eth_call", lacks: ["eth_simulateV1"] },
])(
	"by $by, a fill from the paper inventory or through the router succeeds, and one of more than the inventory fails",
	async ({ lacks }) => {
		const { chain, stop } = await connectWithout(scene.chains.destination, lacks);
		try {
			const simulate = simulatorOf(chain);
			const done = await simulate(await fillOf());
			expect(done).toEqual({ outcome: "succeeded", gasUsed: expect.any(BigInt) });
			const router: Delivery = { kind: "router", budget: 9_950_000n, fees: [500] };
			const bought = await simulate(await fillOf({ symbol: "WETH", delivery: router }));
			expect(bought).toEqual({ outcome: "succeeded", gasUsed: expect.any(BigInt) });
			const tooMuch = await simulate(await fillOf({ inventory: 9_949_999n }));
			expect(tooMuch).toEqual({ outcome: "failed", reason: expect.stringMatching(/./) });
		} finally {
			await stop();
		}
	},
);

test("a fill that the chain would not execute fails with the vault's reason", async () => {
	const simulate = simulatorOf(scene.destination);
	const tooLittle: Delivery = { kind: "router", budget: 9_950_000n, fees: [500] };
	const fill = await fillOf({ symbol: "WETH", delivery: tooLittle, minOutput: 10n ** 30n });
	expect(await simulate(fill)).toMatchObject({ outcome: "failed" });
	const { destination, keys } = scene.chains;
	const guardian = privateKeyToAccount(keys.guardian);
	const vault = destination.deployment.contracts.vault;
	const data = encodeFunctionData({ abi: geoVaultAbi, functionName: "pause" });
	await sendAsAnyone(destination, { to: vault, data }, guardian);
	const paused = { abi: geoVaultAbi, address: vault, functionName: "paused" } as const;
	await expect.poll(() => destination.publicClient.readContract(paused)).toBe(true);
	expect(await simulate(await fillOf())).toEqual({ outcome: "failed", reason: "EnforcedPause" });
});

test("without a vault, an EVM chain, an opened order or a response, nothing is simulated, and the reason is given", async () => {
	const { destination } = scene;
	const fill = await fillOf();
	const { deployment } = destination;
	const undeployed = { ...deployment, contracts: { ...deployment.contracts, vault: relayerOf(scene) } };
	expect(await simulatorOf({ ...destination, deployment: undeployed })(fill)).toEqual({
		outcome: "not simulated",
		reason: "the vault is not deployed",
	});
	expect(await createFillSimulator(new Map())(fill)).toMatchObject({ outcome: "not simulated" });
	const { destinationChainId: originChainId } = fill.order;
	expect(await simulatorOf(destination)({ ...fill, order: { ...fill.order, originChainId } })).toEqual({
		outcome: "not simulated",
		reason: "the fill of a swap within one chain needs its open",
	});
	// A node without overrides in eth_call cannot simulate the vault's inventory.
	const { chain, stop } = await connectWithout(scene.chains.destination, [
		"eth_simulateV1",
		"overrides in eth_call",
	]);
	expect(await simulatorOf(chain)(fill)).toMatchObject({ outcome: "not simulated" });
	await stop();
	expect(await simulatorOf(chain)(fill)).toEqual({
		outcome: "not simulated",
		reason: expect.not.stringContaining("127.0.0.1"),
	});
});

function relayerOf({ relayers: [relayer] }: LaneScene) {
	if (!relayer) throw new Error("there is a relayer");
	return relayer.address;
}
