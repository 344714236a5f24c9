import { movePrice, quoterAbi, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { fromWord, geoVaultAbi, type Order } from "@geoswap/protocol";
import { type Address, concat, encodeFunctionData, erc20Abi, type Hex, numberToHex, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assetAddress, makeOrder } from "../make-order.ts";
import { revertOf } from "../revert-of.ts";
import { sendTransaction } from "../send-bundle.ts";

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
	"through $what the recipient gets what QuoterV2 says, to the unit",
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

test("a fill whose price moved past its minimum leaves nothing behind, alone and in a batch", async () => {
	const quoted = await quote("ORB", [3000]);
	const order = await routedOrder("ORB", quoted);
	await movePrice(destination, destination.deployment, { symbol: "ORB", percent: "+3" });
	const { vault } = destination.deployment.contracts;
	const stock = await usdcOf(vault);
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
	expect(await usdcOf(vault)).toBe(stock);
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

async function quote(symbol: string, [fee = 0, secondFee]: readonly number[]): Promise<bigint> {
	const { uniswap, settlementToken, wrappedNative } = destination.deployment;
	const asset = assetAddress(destination, symbol);
	const last = asset === zeroAddress ? wrappedNative : asset;
	const hop = (tier: number) => numberToHex(tier, { size: 3 });
	const { result } = await destination.publicClient.simulateContract({
		address: uniswap.quoterV2,
		abi: quoterAbi,
		functionName: "quoteExactInput",
		args: [
			concat([
				settlementToken,
				hop(fee),
				...(secondFee === undefined ? [] : [wrappedNative, hop(secondFee)]),
				last,
			]),
			budget,
		],
	});
	return result[0];
}

function received(order: Order, symbol: string): Promise<bigint> {
	const recipient = fromWord(order.recipient);
	const token = assetAddress(destination, symbol);
	if (token === zeroAddress) return destination.publicClient.getBalance({ address: recipient });
	return balanceOf(token, recipient);
}

function usdcOf(owner: Address): Promise<bigint> {
	return balanceOf(destination.deployment.settlementToken, owner);
}

function balanceOf(token: Address, owner: Address): Promise<bigint> {
	return destination.publicClient.readContract({
		address: token,
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [owner],
	});
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
