import { movePrice, quoterAbi, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { fromWord, geoVaultAbi, type Order, vaultPath } from "@geoswap/protocol";
import { type Address, encodeFunctionData, erc20Abi, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { revertOf } from "../chain/revert-of.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { assetAddress, makeOrder } from "../wallet/make-order.ts";
import { sendTransaction } from "../wallet/send-bundle.ts";

const budget = 25_000_000n;

let chains: TestChains;
let destination: TestChain;
beforeAll(async () => {
	chains = await startTestChains({ automine: true });
	destination = chains.destination;
});
afterAll(() => chains.stop());

const routes = [
	{ what: "one pool", symbol: "ORB", fees: [3000] },
	{ what: "two pools, by way of the wrapped native token", symbol: "ORB", fees: [500, 3000] },
	{ what: "one pool, unwrapped to the native token", symbol: "ETH", fees: [500] },
] as const;

test.each(routes)(
	"through $what the recipient gets exactly what QuoterV2 quotes",
	async ({ symbol, fees }) => {
		const order = await routedOrder(symbol, 1n);
		const quoted = await quote(symbol, fees);
		const receipt = await sendTransaction({
			chain: destination,
			account: relayer(),
			to: destination.deployment.contracts.vault,
			data: fillData({ order, fees, minOutput: quoted }),
		});
		expect(receipt.status).toBe("success");
		expect(await received(order, symbol)).toBe(quoted);
		expect(await routerAllowance()).toBe(0n);
	},
);

test("a fill whose price moved below its minimum moves no tokens, alone or in a batch", async () => {
	const quoted = await quote("ORB", [3000]);
	const order = await routedOrder("ORB", quoted);
	await movePrice(destination, destination.deployment, { symbol: "ORB", percent: "+3" });
	const { vault } = destination.deployment.contracts;
	const inventory = await usdcOf(vault);
	const filling = destination.publicClient.call({
		account: relayer(),
		to: vault,
		data: fillData({ order, fees: [3000], minOutput: 0n }),
	});
	expect((await revertOf(geoVaultAbi, filling)).errorName).toBe("TooLittleDelivered");

	const batch = encodeFunctionData({
		abi: geoVaultAbi,
		functionName: "fillMany",
		args: [[fillItem({ order, fees: [3000], minOutput: 0n })]],
	});
	const receipt = await sendTransaction({ chain: destination, account: relayer(), to: vault, data: batch });
	expect(receipt.status).toBe("success");
	expect(await received(order, "ORB")).toBe(0n);
	expect(await usdcOf(vault)).toBe(inventory);
	expect(await routerAllowance()).toBe(0n);
});

function relayer() {
	return privateKeyToAccount(chains.keys.relayers[0] ?? "0x");
}

function routedOrder(symbol: string, minOutput: bigint): Promise<Order> {
	return makeOrder({
		chains,
		wallet: privateKeyToAddress(generatePrivateKey()),
		inputToken: assetAddress(chains.origin, "USDC"),
		outputToken: assetAddress(destination, symbol),
		minOutput,
	});
}

type Route = { order: Order; fees: readonly number[]; minOutput: bigint };

function fillItem({ order, fees: [poolFee = 0, secondPoolFee = 0], minOutput }: Route) {
	return { order, amount: budget, minOutput, poolFee, secondPoolFee };
}

function fillData(route: Route): Hex {
	return encodeFunctionData({ abi: geoVaultAbi, functionName: "fill", args: [fillItem(route)] });
}

async function quote(symbol: string, fees: readonly number[]): Promise<bigint> {
	const { deployment, publicClient } = destination;
	const { result } = await publicClient.simulateContract({
		address: deployment.uniswap.quoterV2,
		abi: quoterAbi,
		functionName: "quoteExactInput",
		args: [vaultPath(deployment, { asset: assetAddress(destination, symbol), fees }), budget],
	});
	return result[0];
}

function received(order: Order, symbol: string): Promise<bigint> {
	return tokenBalance(destination, assetAddress(destination, symbol), fromWord(order.recipient));
}

function usdcOf(owner: Address): Promise<bigint> {
	return tokenBalance(destination, destination.deployment.settlementToken, owner);
}

function routerAllowance(): Promise<bigint> {
	const { contracts, uniswap, settlementToken } = destination.deployment;
	return destination.publicClient.readContract({
		address: settlementToken,
		abi: erc20Abi,
		functionName: "allowance",
		args: [contracts.vault, uniswap.router],
	});
}
