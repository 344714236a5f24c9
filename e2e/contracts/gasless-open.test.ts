import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { geoAccountAbi, geoEscrowAbi, type Order, orderId, orderTerms } from "@geoswap/protocol";
import {
	type Address,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	parseEventLogs,
	type TransactionReceipt,
	toFunctionSelector,
	zeroHash,
} from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { getDelegation } from "viem/actions";
import { afterAll, beforeAll, expect, test } from "vitest";
import { revertOf } from "../chain/revert-of.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { assetAddress, makeOrder } from "../wallet/make-order.ts";
import { sendBundle, signDelegation, signOpening } from "../wallet/send-bundle.ts";
import { delegatedWallet, fundEther, fundedWallet } from "../wallet/test-wallet.ts";

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

test("a wallet with no ether is delegated and its tokens are escrowed in one transaction with one signature of its order", async () => {
	const wallet = await fundedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const receipt = await sendBundle({
		chain: origin,
		relayer,
		openings: [await signOpening({ order, wallet })],
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

test("the same order again opens nothing, and its input is taken once", async () => {
	const wallet = await delegatedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const opening = await signOpening({ order, wallet });
	await sendBundle({ chain: origin, relayer, openings: [opening] });
	const escrowed = await usdcOf(origin.deployment.contracts.escrow);

	const again = await sendBundle({ chain: origin, relayer, openings: [opening] });
	expect(reasonOf(again)).toBe(selectorOf("AlreadyOpened(bytes32)"));
	expect(await usdcOf(origin.deployment.contracts.escrow)).toBe(escrowed);
});

test.each(["typed", "personal"] as const)(
	"an order signed as %s opens without an allowance, and leaves none",
	async (kind) => {
		const wallet = await delegatedWallet(origin, relayer);
		const order = await orderOf(wallet);
		const openings = [await signOpening({ order, wallet, kind })];
		await sendBundle({ chain: origin, relayer, openings });
		expect(await stateOf(order)).toBe(escrowState.opened);
		expect(await allowanceOf(wallet.address)).toBe(0n);
	},
);

test("a wallet that is delegated to the typed-only account refuses an order signed as opaque bytes", async () => {
	const { typedDelegate } = origin.deployment.contracts;
	const wallet = await fundedWallet(origin, relayer);
	const authorizations = [await signDelegation(origin, wallet, typedDelegate)];
	const order = await orderOf(wallet);
	const personal = await sendBundle({
		chain: origin,
		relayer,
		openings: [await signOpening({ order, wallet, kind: "personal" })],
		authorizations,
	});
	expect(reasonOf(personal)).toBe(selectorOf("Opaque()"));
	await sendBundle({
		chain: origin,
		relayer,
		openings: [await signOpening({ order, wallet, kind: "typed" })],
	});
	expect(await stateOf(order)).toBe(escrowState.opened);
});

test("a signature opens nothing on another chain, even if the wallet is delegated and has the input there", async () => {
	const { destination } = chains;
	const wallet = await fundedWallet(origin, relayer);
	// Its token is the native one, which has the same address on every chain.
	const order = { ...(await orderOf(wallet)), inputToken: zeroHash };
	await fundEther(destination, wallet.address);
	const receipt = await sendBundle({
		chain: destination,
		relayer,
		openings: [await signOpening({ order, wallet })],
		authorizations: [await signDelegation(destination, wallet)],
	});
	expect(reasonOf(receipt)).toBe(selectorOf("WrongSigner(address)"));
});

test("an order opens in no other escrow, even one with the same code", async () => {
	const other: Address = "0xe5c0000000000000000000000000000000000099";
	const code = await origin.publicClient.getCode({ address: origin.deployment.contracts.escrow });
	await origin.testClient.setCode({ address: other, bytecode: code ?? "0x" });
	const wallet = await delegatedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const receipt = await sendBundle({
		chain: origin,
		relayer,
		openings: [await signOpening({ order, wallet })],
		escrow: other,
	});
	expect(reasonOf(receipt)).toBe(selectorOf("OnlyEscrow(address)"));
	expect(await stateOf(order)).toBe(escrowState.none);
});

test("after openDeadline an order takes nothing", async () => {
	const wallet = await delegatedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const opening = await signOpening({ order, wallet });
	const before = await usdcOf(wallet.address);
	await origin.testClient.increaseTime({ seconds: 61 });
	await origin.testClient.mine({ blocks: 1 });

	const receipt = await sendBundle({ chain: origin, relayer, openings: [opening] });
	expect(reasonOf(receipt)).toBe(selectorOf("InvalidDeadlines()"));
	expect(await stateOf(order)).toBe(escrowState.none);
	expect(await usdcOf(wallet.address)).toBe(before);
});

test("an order without funds, or with a wrong signature, affects no other in the same transaction", async () => {
	const wallets = [];
	for (let i = 0; i < 4; i++) wallets.push(await delegatedWallet(origin, relayer));
	const [poor, forged, ...honest] = wallets as [PrivateKeyAccount, PrivateKeyAccount, ...PrivateKeyAccount[]];
	const dear = { ...(await orderOf(poor)), inputAmount: 10_000_001n };
	const stolen = await orderOf(forged);
	const orders = await Promise.all(honest.map(orderOf));
	const openings = [
		await signOpening({ order: dear, wallet: poor }),
		{ ...(await signOpening({ order: stolen, wallet: poor })), wallet: forged.address },
		...(await Promise.all(orders.map((order, i) => signOpening({ order, wallet: honest[i] ?? poor })))),
	];
	const receipt = await sendBundle({ chain: origin, relayer, openings });
	expect(receipt.status).toBe("success");
	for (const order of orders) expect(await stateOf(order)).toBe(escrowState.opened);
	for (const order of [dear, stolen]) expect(await stateOf(order)).toBe(escrowState.none);
});

test("a delegation outlives a transaction that opens nothing", async () => {
	const wallet = await fundedWallet(origin, relayer);
	const order = await orderOf(wallet);
	await sendBundle({
		chain: origin,
		relayer,
		openings: [{ ...(await signOpening({ order, wallet })), proof: "0x" }],
		authorizations: [await signDelegation(origin, wallet)],
	});
	expect(await getDelegation(origin.publicClient, { address: wallet.address })).toBe(
		origin.deployment.contracts.delegate,
	);
	expect(await stateOf(order)).toBe(escrowState.none);
});

test("a third party that sends a signed order opens the same order and gains nothing", async () => {
	const stranger = privateKeyToAccount(generatePrivateKey());
	await fundEther(origin, stranger.address);
	const wallet = await delegatedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const before = await origin.publicClient.getBalance({ address: stranger.address });
	const receipt = await sendBundle({
		chain: origin,
		relayer: stranger,
		openings: [await signOpening({ order, wallet })],
	});
	const [opened] = parseEventLogs({ abi: geoEscrowAbi, eventName: "Opened", logs: receipt.logs });
	expect(opened?.args).toMatchObject({ orderId: orderId(order), wallet: wallet.address });
	expect(await stateOf(order)).toBe(escrowState.opened);
	expect(await origin.publicClient.getBalance({ address: stranger.address })).toBe(
		before - receipt.gasUsed * receipt.effectiveGasPrice,
	);
});

test("a delegated wallet pays no other caller than its escrow", async () => {
	const wallet = await delegatedWallet(origin, relayer);
	const order = await orderOf(wallet);
	const { proof } = await signOpening({ order, wallet });
	const data = encodeFunctionData({
		abi: geoAccountAbi,
		functionName: "pay",
		args: [orderId(order), orderTerms(order), proof],
	});
	for (const account of [relayer, wallet]) {
		const paid = origin.publicClient.call({ account, to: wallet.address, data });
		expect((await revertOf(geoAccountAbi, paid)).errorName).toBe("OnlyEscrow");
	}
});

/** Returns the selector of the error for which the escrow did not open the only order of a transaction. */
function reasonOf(receipt: TransactionReceipt): Hex | undefined {
	expect(receipt.status).toBe("success");
	const [event] = parseEventLogs({ abi: geoEscrowAbi, eventName: "NotOpened", logs: receipt.logs });
	return event?.args.reason;
}

function selectorOf(error: string): Hex {
	return toFunctionSelector(error);
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
