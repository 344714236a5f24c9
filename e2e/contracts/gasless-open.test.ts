import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { geoAccountAbi, geoEscrowAbi, type Order, orderId } from "@geoswap/protocol";
import { type Address, encodeFunctionData, erc20Abi, parseEventLogs, toFunctionSelector } from "viem";
import { entryPoint09Abi, entryPoint09Address } from "viem/account-abstraction";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { getDelegation } from "viem/actions";
import { afterAll, beforeAll, expect, test } from "vitest";
import { revertOf } from "../chain/revert-of.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { assetAddress, makeOrder } from "../wallet/make-order.ts";
import { sendBundle, sendTransaction, signDelegation, signOrderOp } from "../wallet/send-bundle.ts";
import { delegatedWallet, fundEther, fundedWallet, mintUsdc } from "../wallet/test-wallet.ts";

/** ERC-7821: the mode of a batch that reverts as a whole, and a batch without calls. */
const batchMode = `0x01${"00".repeat(31)}` as const;
const emptyBatch = `0x${"00".repeat(31)}20${"00".repeat(32)}` as const;

const escrowState = { none: 0, opened: 1 } as const;

let chains: TestChains;
let origin: TestChain;
let relayer: PrivateKeyAccount;
let usdc: Address;

beforeAll(async () => {
	chains = await startTestChains({ automine: true });
	origin = chains.origin;
	relayer = privateKeyToAccount(chains.keys.relayers[0] ?? "0x");
	usdc = assetAddress(origin, "USDC");
});
afterAll(() => chains.stop());

test("a wallet with no ether is delegated and its tokens are escrowed in one transaction with one op signature", async () => {
	const wallet = await fundedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const receipt = await sendBundle({
		chain: origin,
		relayer,
		userOps: [await signOrderOp({ chain: origin, order, wallet })],
		authorizations: [await signDelegation(origin, wallet)],
	});

	expect(receipt.status).toBe("success");
	expect(receipt.type).toBe("eip7702");
	expect(await getDelegation(origin.publicClient, { address: wallet.address })).toBe(
		origin.deployment.contracts.delegate,
	);
	const [opened] = parseEventLogs({ abi: geoEscrowAbi, eventName: "Opened", logs: receipt.logs });
	expect(opened?.args.orderId).toBe(orderId(order));
	expect(await stateOf(order)).toBe(escrowState.opened);
	expect(await usdcOf(wallet.address)).toBe(0n);
	expect(await allowanceOf(wallet.address)).toBe(0n);
	expect(await origin.publicClient.getBalance({ address: wallet.address })).toBe(0n);
});

test("the same op again is refused with AA25, and the order is opened once", async () => {
	const wallet = await delegatedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const userOp = await signOrderOp({ chain: origin, order, wallet });
	await sendBundle({ chain: origin, relayer, userOps: [userOp] });
	const escrowed = await usdcOf(origin.deployment.contracts.escrow);

	expect(await refusal(sendBundle({ chain: origin, relayer, userOps: [userOp] }))).toBe(
		"AA25 invalid account nonce",
	);
	expect(await usdcOf(origin.deployment.contracts.escrow)).toBe(escrowed);
});

test("a later swap of a wallet that holds an allowance clears it first", async () => {
	const wallet = await delegatedWallet(origin, relayer);
	await fundEther(origin, wallet.address);
	await sendTransaction({
		chain: origin,
		account: wallet,
		to: usdc,
		data: encodeFunctionData({
			abi: erc20Abi,
			functionName: "approve",
			args: [origin.deployment.contracts.escrow, 5n],
		}),
	});
	const order = await orderOf(wallet);
	await sendBundle({
		chain: origin,
		relayer,
		userOps: [await signOrderOp({ chain: origin, order, wallet, allowance: 5n })],
	});
	expect(await stateOf(order)).toBe(escrowState.opened);
	expect(await allowanceOf(wallet.address)).toBe(0n);
});

test("an op fails on another chain, even if the wallet is delegated there too", async () => {
	const { destination } = chains;
	const wallet = await fundedWallet(origin, relayer);
	const order = await orderOf(wallet);
	await mintUsdc({ chain: destination, relayer, to: wallet.address, amount: order.inputAmount });
	const refused = await refusal(
		sendBundle({
			chain: destination,
			relayer,
			userOps: [await signOrderOp({ chain: origin, order, wallet })],
			authorizations: [await signDelegation(destination, wallet)],
		}),
	);
	expect(refused).toBe("AA24 signature error");
});

test("an op fails at another EntryPoint, even one with the same code", async () => {
	const other: Address = "0x4337000000000000000000000000000000000099";
	const code = await origin.publicClient.getCode({ address: entryPoint09Address });
	await origin.testClient.setCode({ address: other, bytecode: code ?? "0x" });
	const wallet = await delegatedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const userOp = await signOrderOp({ chain: origin, order, wallet });
	expect(
		await refusal(sendBundle({ chain: origin, relayer, userOps: [userOp], entryPoint: other })),
	).toContain("AA23");
	expect(await stateOf(order)).toBe(escrowState.none);
});

test("after openDeadline an op is mined but takes nothing, and its nonce is spent", async () => {
	const wallet = await delegatedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const userOp = await signOrderOp({ chain: origin, order, wallet });
	const before = await usdcOf(wallet.address);
	await origin.testClient.increaseTime({ seconds: 61 });
	await origin.testClient.mine({ blocks: 1 });

	const receipt = await sendBundle({ chain: origin, relayer, userOps: [userOp] });
	const [outcome] = parseEventLogs({
		abi: entryPoint09Abi,
		eventName: "UserOperationEvent",
		logs: receipt.logs,
	});
	const [reason] = parseEventLogs({
		abi: entryPoint09Abi,
		eventName: "UserOperationRevertReason",
		logs: receipt.logs,
	});
	expect(outcome?.args.success).toBe(false);
	expect(reason?.args.revertReason).toBe(toFunctionSelector("InvalidDeadlines()"));
	expect(await stateOf(order)).toBe(escrowState.none);
	expect(await usdcOf(wallet.address)).toBe(before);
	expect(await allowanceOf(wallet.address)).toBe(0n);
	expect(await refusal(sendBundle({ chain: origin, relayer, userOps: [userOp] }))).toBe(
		"AA25 invalid account nonce",
	);
});

test("an op signed for one delegate fails after the wallet is delegated to another", async () => {
	const otherDelegate: Address = "0xDe1E6A7E00000000000000000000000000000099";
	const code = await origin.publicClient.getCode({ address: origin.deployment.contracts.delegate });
	await origin.testClient.setCode({ address: otherDelegate, bytecode: code ?? "0x" });
	const wallet = await delegatedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const userOp = await signOrderOp({ chain: origin, order, wallet });

	const refused = await refusal(
		sendBundle({
			chain: origin,
			relayer,
			userOps: [userOp],
			authorizations: [await signDelegation(origin, wallet, otherDelegate)],
		}),
	);
	expect(refused).toBe("AA24 signature error");
});

test("a delegation outlives the bundle that carried it, even one that reverts", async () => {
	const wallet = await fundedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const userOp = { ...(await signOrderOp({ chain: origin, order, wallet })), signature: "0x" as const };
	const receipt = await sendTransaction({
		chain: origin,
		account: relayer,
		to: entryPoint09Address,
		data: encodeFunctionData({
			abi: entryPoint09Abi,
			functionName: "handleOps",
			args: [[userOp], relayer.address],
		}),
		authorizationList: [await signDelegation(origin, wallet)],
	});
	expect(receipt.status).toBe("reverted");
	expect(await getDelegation(origin.publicClient, { address: wallet.address })).toBe(
		origin.deployment.contracts.delegate,
	);
	expect(await stateOf(order)).toBe(escrowState.none);
});

test("a stranger who submits the op opens the same order and gains nothing", async () => {
	const stranger = privateKeyToAccount(generatePrivateKey());
	await fundEther(origin, stranger.address);
	const wallet = await delegatedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const before = await origin.publicClient.getBalance({ address: stranger.address });
	const receipt = await sendBundle({
		chain: origin,
		relayer: stranger,
		userOps: [await signOrderOp({ chain: origin, order, wallet })],
	});
	const [opened] = parseEventLogs({ abi: geoEscrowAbi, eventName: "Opened", logs: receipt.logs });
	expect(opened?.args).toMatchObject({ orderId: orderId(order), wallet: wallet.address });
	expect(await stateOf(order)).toBe(escrowState.opened);
	expect(await origin.publicClient.getBalance({ address: stranger.address })).toBe(
		before - receipt.gasUsed * receipt.effectiveGasPrice,
	);
});

test("a delegated wallet executes for itself and for nobody else", async () => {
	const wallet = await delegatedWallet(origin, relayer);
	await fundEther(origin, wallet.address);
	const nothing = encodeFunctionData({
		abi: geoAccountAbi,
		functionName: "execute",
		args: [batchMode, emptyBatch],
	});
	const call = (from: PrivateKeyAccount) =>
		origin.publicClient.call({ account: from, to: wallet.address, data: nothing });
	await expect(call(wallet)).resolves.toBeDefined();
	expect((await revertOf(geoAccountAbi, call(relayer))).errorName).toBe("AccountUnauthorized");
});

/** Returns the EntryPoint's reason for refusing a bundle. */
async function refusal(sending: Promise<unknown>): Promise<string> {
	const { errorName, args } = await revertOf(entryPoint09Abi, sending);
	return errorName === "FailedOp" || errorName === "FailedOpWithRevert" ? String(args?.[1]) : errorName;
}

function orderOf(wallet: { address: Address }): Promise<Order> {
	return makeOrder({
		chains,
		wallet: wallet.address,
		inputToken: usdc,
		outputToken: assetAddress(chains.destination, "USDC"),
	});
}

function stateOf(order: Order): Promise<number> {
	return origin.publicClient.readContract({
		address: origin.deployment.contracts.escrow,
		abi: geoEscrowAbi,
		functionName: "orderState",
		args: [orderId(order)],
	});
}

function usdcOf(owner: Address): Promise<bigint> {
	return tokenBalance(origin, usdc, owner);
}

function allowanceOf(owner: Address): Promise<bigint> {
	return origin.publicClient.readContract({
		address: usdc,
		abi: erc20Abi,
		functionName: "allowance",
		args: [owner, origin.deployment.contracts.escrow],
	});
}
