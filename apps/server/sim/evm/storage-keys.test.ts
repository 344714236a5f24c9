import { orderId, toWord } from "@geoswap/protocol";
import {
	encodeErrorResult,
	encodeFunctionData,
	type Hex,
	keccak256,
	parseAbi,
	stringToHex,
	zeroAddress,
} from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { createSimEvmChain } from "./create-sim-evm-chain.ts";
import { createEvmScene } from "./evm-contract-scene.ts";
import { blockedCode, hollowToken } from "./place-contracts.ts";
import { tokenAbi } from "./token-abi.ts";

const keyOf = (name: string): Hex => keccak256(stringToHex(name));

async function start(story: string) {
	const keys = {
		relayers: [keyOf("relayer")],
		attesters: [keyOf("attester")],
		guardian: keyOf("guardian"),
		deployer: keyOf("deployer"),
		treasury: keyOf("treasury"),
	};
	const chain = await createSimEvmChain({
		chainId: 31_337,
		name: "sim",
		startMs: 1_700_000_000_000,
		finalityBlocks: 3,
		attesterSet: { threshold: 1, attesters: keys.attesters.map(privateKeyToAddress) },
		relayers: keys.relayers.map(privateKeyToAddress),
	});
	const scene = await createEvmScene(
		{
			deployment: chain.deployment,
			keys,
			request: async (method, params) => chain.request(method, params),
			mine: async (secondsLater) => chain.produce({ atMs: (chain.timestamp() + secondsLater) * 1_000 }),
			reorg: async (depth) => chain.reorg({ depth, keep: () => false }),
			giveNative: async (holder, amount) => chain.give(zeroAddress, holder, amount),
			refuseAll: async (address) => chain.placeCode(address, "0xfe"),
			stop: async () => {},
		},
		story,
	);
	return { chain, scene };
}

test("a balance and an allowance are read from where each token keeps them", async () => {
	const { chain, scene } = await start("tokens");
	const { wallet, escrow, land } = scene;
	chain.give(zeroAddress, wallet.address, 10n ** 18n);
	for (const symbol of ["USDC", "USDT", "WETH", "ORB"]) {
		const token = scene.asset(symbol);
		chain.give(token, wallet.address, 1_000n);
		expect(await scene.balanceOf(symbol, wallet.address), symbol).toBe(1_000n);
		await land(wallet, {
			to: token,
			data: encodeFunctionData({ abi: tokenAbi, functionName: "approve", args: [escrow, 77n] }),
		});
		expect(chain.allowanceOf(token, wallet.address, escrow), symbol).toBe(77n);
		await land(wallet, {
			to: token,
			data: encodeFunctionData({ abi: tokenAbi, functionName: "transfer", args: [escrow, 400n] }),
		});
		expect(chain.balanceOf(token, wallet.address), symbol).toBe(600n);
		expect(chain.balanceOf(token, escrow), symbol).toBe(400n);
	}
});

test("the state of an order and a credit are read from where the contracts keep them", async () => {
	const { chain, scene } = await start("orders");
	const { wallet, relayer, land } = scene;
	const order = await scene.makeOrder();
	expect(chain.escrowStateOf(orderId(order))).toBe("none");
	await scene.openOrder(order);
	expect(chain.escrowStateOf(orderId(order))).toBe("opened");
	chain.placeCode(wallet.address, blockedCode);
	await land(relayer, scene.refund(order), { secondsLater: 200 });
	expect(chain.escrowStateOf(orderId(order))).toBe("refunded");
	expect(chain.creditOf(scene.asset("USDC"), wallet.address)).toBe(order.inputAmount);
	const fillable = await scene.makeFillable({ recipient: toWord(relayer.address) });
	expect(chain.vaultStateOf(orderId(fillable))).toBe("none");
	await land(relayer, scene.fillMany([{ order: fillable, amount: 9_900_000n }]));
	expect(chain.vaultStateOf(orderId(fillable))).toBe("filled");
});

test("an account on the blocklist receives no token and no ether", async () => {
	const { chain, scene } = await start("blocked");
	const { wallet, call } = scene;
	const blocked = scene.walletOf("blocked").address;
	chain.placeCode(blocked, blockedCode);
	chain.give(zeroAddress, wallet.address, 5n);
	const reverts = encodeErrorResult({
		abi: parseAbi(["error ERC20InvalidReceiver(address receiver)"]),
		args: [blocked],
	});
	for (const symbol of ["USDC", "USDT", "WETH", "ORB"]) {
		chain.give(scene.asset(symbol), wallet.address, 5n);
		const transfer = { abi: tokenAbi, functionName: "transfer" } as const;
		const to = scene.asset(symbol);
		const data = encodeFunctionData({ ...transfer, args: [blocked, 5n] });
		expect(await call(wallet.address, { to, data }), symbol).toEqual({ reverts });
		const other = encodeFunctionData({ ...transfer, args: [scene.relayer.address, 5n] });
		expect(await call(wallet.address, { to, data: other }), symbol).toHaveProperty("said");
	}
	expect(await call(wallet.address, { to: blocked, value: 5n })).toEqual({ reverts: "0x" });
});

test("the hollow token says that it took and paid", async () => {
	const { chain, scene } = await start("hollow");
	const { wallet, escrow } = scene;
	const order = await scene.makeOrder({ inputToken: toWord(hollowToken) });
	await scene.openOrder(order);
	expect(chain.escrowStateOf(orderId(order))).toBe("opened");
	expect(chain.balanceOf(hollowToken, escrow)).toBe(order.inputAmount);
	await scene.land(wallet, scene.refund(order), { secondsLater: 200 });
	expect(chain.balanceOf(hollowToken, wallet.address)).toBe(0n);
	expect(chain.creditOf(hollowToken, wallet.address)).toBe(0n);
});
