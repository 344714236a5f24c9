import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { fromWord, geoEscrowAbi, geoVaultAbi, type Order, orderId, unpackDeadlines } from "@geoswap/protocol";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { revertOf } from "../chain/revert-of.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { attest } from "../wallet/attest.ts";
import { assetAddress, makeOrder } from "../wallet/make-order.ts";
import { sendBundle, sendTransaction, signDelegation, signOpening } from "../wallet/send-bundle.ts";
import { fundedWallet } from "../wallet/test-wallet.ts";

let chains: TestChains;
let relayer: PrivateKeyAccount;

beforeAll(async () => {
	chains = await startTestChains({ automine: true });
	relayer = privateKeyToAccount(chains.keys.relayers[0] ?? "0x");
});
afterAll(() => chains.stop());

test("a delivered order is released to the vault, and can then no longer be refunded", async () => {
	const { origin, destination, keys } = chains;
	const order = await openOrder();
	const output = assetAddress(destination, "USDC");
	const { originVault, wallet } = addressesOf(order);
	const inventory = await tokenBalance(origin, assetAddress(origin, "USDC"), originVault);

	await send(destination, destination.deployment.contracts.vault, fillData(order, 9_950_000n));
	expect(await tokenBalance(destination, output, wallet)).toBe(9_950_000n);

	const attestation = await attest({ chain: origin, keys, kind: "Release", orders: [order] });
	await send(
		origin,
		origin.deployment.contracts.escrow,
		encodeFunctionData({ abi: geoEscrowAbi, functionName: "release", args: [order, attestation] }),
	);
	expect(await tokenBalance(origin, assetAddress(origin, "USDC"), originVault)).toBe(
		inventory + order.inputAmount,
	);
	await warpPast(origin, unpackDeadlines(order.deadlines).refundAfter);
	expect(await escrowRefusal(refundData(order))).toBe("NotOpen");
});

test("a voided order can no longer be filled, and its whole input goes back on attestation", async () => {
	const { origin, destination, keys } = chains;
	const order = await openOrder();
	const { vault } = destination.deployment.contracts;
	await send(
		destination,
		vault,
		encodeFunctionData({ abi: geoVaultAbi, functionName: "void", args: [order] }),
	);
	const filling = destination.publicClient.call({
		account: relayer,
		to: vault,
		data: fillData(order, 9_950_000n),
	});
	expect((await revertOf(geoVaultAbi, filling)).errorName).toBe("AlreadyDecided");

	const attestation = await attest({ chain: origin, keys, kind: "Refund", orders: [order] });
	const wrongKind = encodeFunctionData({
		abi: geoEscrowAbi,
		functionName: "release",
		args: [order, attestation],
	});
	expect(await escrowRefusal(wrongKind)).toBe("InvalidAttester");
	await send(
		origin,
		origin.deployment.contracts.escrow,
		encodeFunctionData({ abi: geoEscrowAbi, functionName: "refundEarly", args: [order, attestation] }),
	);
	expect(await tokenBalance(origin, assetAddress(origin, "USDC"), addressesOf(order).wallet)).toBe(
		order.inputAmount,
	);
});

test("without the service, any caller can refund the whole input to the wallet after refundAfter, and not before", async () => {
	const { origin } = chains;
	const order = await openOrder();
	expect(await escrowRefusal(refundData(order))).toBe("TooEarly");
	await warpPast(origin, unpackDeadlines(order.deadlines).refundAfter);
	await send(origin, origin.deployment.contracts.escrow, refundData(order));
	expect(await tokenBalance(origin, assetAddress(origin, "USDC"), addressesOf(order).wallet)).toBe(
		order.inputAmount,
	);
});

test("a same-chain order is delivered and released by one transaction", async () => {
	const { origin } = chains;
	const order = await openOrder(origin);
	const { vault, escrow } = origin.deployment.contracts;
	await send(origin, vault, fillData(order, 9_950_000n));
	expect(await tokenBalance(origin, assetAddress(origin, "USDT"), addressesOf(order).wallet)).toBe(
		9_950_000n,
	);
	const released = 2;
	expect(
		await origin.publicClient.readContract({
			address: escrow,
			abi: geoEscrowAbi,
			functionName: "orderState",
			args: [orderId(order)],
		}),
	).toBe(released);
});

/** Opens an order by a new wallet's first op, from USDC to USDC on the other chain, or to USDT on the same. */
async function openOrder(destination: TestChain = chains.destination): Promise<Order> {
	const { origin } = chains;
	const wallet = await fundedWallet(origin, relayer);
	const order = await makeOrder({
		chains,
		wallet: wallet.address,
		destination,
		inputToken: assetAddress(origin, "USDC"),
		outputToken: assetAddress(destination, destination === origin ? "USDT" : "USDC"),
	});
	await sendBundle({
		chain: origin,
		relayer,
		openings: [await signOpening({ order, wallet })],
		authorizations: [await signDelegation(origin, wallet)],
	});
	return order;
}

function addressesOf(order: Order): { wallet: Address; originVault: Address } {
	return { wallet: fromWord(order.wallet), originVault: fromWord(order.originVault) };
}

function fillData(order: Order, amount: bigint): Hex {
	const item = { order, amount, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
	return encodeFunctionData({ abi: geoVaultAbi, functionName: "fill", args: [item] });
}

function refundData(order: Order): Hex {
	return encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [order] });
}

async function escrowRefusal(data: Hex): Promise<string> {
	const { publicClient, deployment } = chains.origin;
	const calling = publicClient.call({ account: relayer, to: deployment.contracts.escrow, data });
	return (await revertOf(geoEscrowAbi, calling)).errorName;
}

async function send(chain: TestChain, to: Address, data: Hex): Promise<void> {
	const receipt = await sendTransaction({ chain, account: relayer, to, data });
	expect(receipt.status).toBe("success");
}

async function warpPast(chain: TestChain, timestamp: bigint): Promise<void> {
	await chain.testClient.setNextBlockTimestamp({ timestamp: timestamp + 1n });
	await chain.testClient.mine({ blocks: 1 });
}
