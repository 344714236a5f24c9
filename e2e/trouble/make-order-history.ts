import type { TestChain, TestChains } from "@geoswap/devnet";
import { geoEscrowAbi, geoVaultAbi, type Order, orderTerms, unpackDeadlines } from "@geoswap/protocol";
import {
	type Address,
	encodeFunctionData,
	erc20Abi,
	type Hash,
	type Hex,
	parseEther,
	zeroAddress,
} from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { attest } from "../wallet/attest.ts";
import { assetAddress, makeOrder } from "../wallet/make-order.ts";
import { sendTransaction } from "../wallet/send-bundle.ts";
import { fundEther, mintUsdc } from "../wallet/test-wallet.ts";
import { freezeInToken } from "./freeze-in-token.ts";

export type OrderHistory = {
	/**
	 * One order for each way in which an order can end, by honest and dishonest actions. All have the same wallet and
	 * recipient, and the same amount for each token.
	 */
	orders: Record<string, Order>;
	/** All transactions, of both chains. */
	hashes: Hash[];
};

/** Makes orders on a new pair of chains until at least one of them has reached each possible end. */
export async function makeOrderHistory(chains: TestChains): Promise<OrderHistory> {
	const { origin, destination, keys } = chains;
	const { escrow } = origin.deployment.contracts;
	const relayer = privateKeyToAccount(keys.relayers[0] ?? "0x");
	const wallet = privateKeyToAccount(generatePrivateKey());
	const elsewhere = privateKeyToAccount(generatePrivateKey()).address;
	const usdc = assetAddress(origin, "USDC");
	const hashes: Hash[] = [];
	await fundEther(origin, wallet.address);
	await mintUsdc({ chain: origin, relayer, to: wallet.address, amount: 1_000_000_000n });

	const send = async (
		chain: TestChain,
		account: PrivateKeyAccount,
		transaction: { to: Address; data: Hex; value?: bigint },
	): Promise<void> => {
		const { status, transactionHash } = await sendTransaction({ chain, account, ...transaction });
		if (status !== "success") throw new Error(`${transactionHash} reverted`);
		hashes.push(transactionHash);
	};
	const make = (inputToken: Address = usdc) =>
		makeOrder({
			chains,
			wallet: wallet.address,
			inputToken,
			inputAmount: 10_000_000n,
			outputToken: assetAddress(destination, "USDC"),
		});
	const open = async (order: Order): Promise<Order> => {
		const isNative = BigInt(order.inputToken) === 0n;
		const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: "open", args: [orderTerms(order)] });
		const args = [escrow, order.inputAmount] as const;
		const approval = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args });
		if (!isNative) await sendTransaction({ chain: origin, account: wallet, to: usdc, data: approval });
		await send(origin, wallet, { to: escrow, data, value: isNative ? order.inputAmount : 0n });
		return order;
	};
	const fill = (order: Order) => {
		const items = [{ order, amount: 9_950_000n, minOutput: 0n, poolFee: 0, secondPoolFee: 0 }];
		const data = encodeFunctionData({ abi: geoVaultAbi, functionName: "fillMany", args: [items] });
		return send(destination, relayer, { to: destination.deployment.contracts.vault, data });
	};
	const decide = async (functionName: "releaseMany" | "refundMany", ...orders: Order[]) => {
		const kind = functionName === "releaseMany" ? "Release" : "Refund";
		const attestation = await attest({ chain: origin, keys, kind, orders });
		const data = encodeFunctionData({ abi: geoEscrowAbi, functionName, args: [orders, attestation] });
		await send(origin, relayer, { to: escrow, data });
	};
	const refundLate = (order: Order) =>
		send(origin, relayer, {
			to: escrow,
			data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [order] }),
		});
	const claim = (token: Address) =>
		send(origin, relayer, {
			to: escrow,
			data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "claim", args: [token, wallet.address] }),
		});
	/** Refunds orders of the native token while the wallet has code that refuses it. */
	const credit = async (...orders: Order[]) => {
		await origin.testClient.setCode({ address: wallet.address, bytecode: "0xfe" });
		await decide("refundMany", ...orders);
		await origin.testClient.setCode({ address: wallet.address, bytecode: "0x" });
	};

	const orders: Record<string, Order> = {};
	for (const name of ["settled", "unreleased", "deliveredAndRefunded"]) {
		const order = await open(await make());
		await fill(order);
		orders[name] = order;
	}
	await decide("releaseMany", orders.settled as Order);
	orders.stolen = await open(await make());
	orders.stolenNative = await open(await make(zeroAddress));
	await decide("releaseMany", orders.stolen, orders.stolenNative);
	orders.refunded = await open(await make());
	await decide("refundMany", orders.refunded);
	orders.voided = await open(await make());
	await send(destination, relayer, {
		to: destination.deployment.contracts.vault,
		data: encodeFunctionData({ abi: geoVaultAbi, functionName: "voidMany", args: [[orders.voided]] }),
	});
	await decide("refundMany", orders.voided);
	orders.depositDropped = await make();
	await fill(orders.depositDropped);

	orders.credited = await open(await make(zeroAddress));
	orders.creditedToo = await open(await make(zeroAddress));
	await credit(orders.credited, orders.creditedToo);
	await claim(zeroAddress);
	orders.creditedLater = await open(await make(zeroAddress));
	await credit(orders.creditedLater);
	await send(origin, wallet, {
		to: escrow,
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "claimTo", args: [zeroAddress, elsewhere] }),
	});
	orders.creditedTokens = await open(await make());
	const unfreeze = await freezeInToken(origin, { token: usdc, holder: wallet.address });
	await decide("refundMany", orders.creditedTokens);
	await unfreeze();
	await claim(usdc);
	orders.owed = await open(await make(zeroAddress));
	await credit(orders.owed);

	orders.refundedLate = await open(await make());
	orders.failed = await make();
	orders.open = await open(await make());
	await origin.testClient.setNextBlockTimestamp({
		timestamp: unpackDeadlines(orders.open.deadlines).refundAfter + 1n,
	});
	await origin.testClient.mine({ blocks: 1 });
	await refundLate(orders.refundedLate);
	await refundLate(orders.deliveredAndRefunded as Order);
	// Blocks after all of this, so that it is final; then an order whose deadline has not passed.
	for (const { testClient } of [origin, destination]) await testClient.mine({ blocks: 100 });
	orders.unsent = await make();
	await origin.testClient.setBalance({ address: wallet.address, value: parseEther("1") });
	return { orders, hashes };
}
