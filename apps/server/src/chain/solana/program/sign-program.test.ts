import { deriveDevnetKeys, startTestSolana, type TestSolana } from "@geoswap/devnet";
import {
	attestationDigest,
	attestationMessage,
	type Decision,
	decideOrders,
	emptyAccountRentLamports,
	fromSolanaWord,
	type Order,
	openTransaction,
	orderId,
	packDeadlines,
	type SolanaAddress,
	solanaChainId,
	solanaNativeToken,
	tokenAccountRentLamports,
	toSolanaWord,
} from "@geoswap/protocol";
import {
	createKeyPairSignerFromBytes,
	generateKeyPairSigner,
	type KeyPairSigner,
	signBytes,
} from "@solana/kit";
import { getCloseAccountInstruction } from "@solana-program/token";
import { bytesToHex, type Hex, toHex } from "viem";
import { sign } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SolanaActions, solanaActions } from "../../../../test/solana/solana-actions.ts";
import { type Landed, readLanded, receivedBy } from "../read/read-landed.ts";
import { readBlockhash } from "../read/read-slots.ts";
import { readSolanaWallet } from "../read/read-solana-wallet.ts";
import type { SignedTransaction } from "../send/sign-instructions.ts";
import { coSignOrder } from "../wallet/co-sign-order.ts";
import { readOrders, readRecords } from "./read-orders.ts";
import { signEnding, signSweep, signVoid } from "./sign-ending.ts";
import { signFill } from "./sign-fill.ts";

const native = toSolanaWord(solanaNativeToken);
const recordRent = 1_336_320n;

let solana: TestSolana;
let on: SolanaActions;
let operator: KeyPairSigner;
let deployment: TestSolana["deployment"];
let secondsAhead = 0;
let swaps = 0n;

beforeAll(async () => {
	// Slots pass only by the test's own actions.
	solana = await startTestSolana({ slotMs: 3_600_000 });
	on = await solanaActions(solana);
	operator = await createKeyPairSignerFromBytes(solana.keys.operator);
	({ deployment } = solana);
});
afterAll(() => solana?.stop());

async function parts() {
	const { blockhash } = await readBlockhash(on.chain);
	return { deployment, operator, feePayer: on.feePayer, blockhash, computePrice: 1_000n };
}

async function land(signing: Promise<SignedTransaction>): Promise<Landed> {
	const landed = await readLanded(on.chain, await on.land(await signing));
	if (!landed) throw new Error("it landed");
	return landed;
}

/** Returns an order of 10 USDC of the first wallet, from the program to an EVM chain. */
function orderFrom(terms: Partial<Order> = {}): Order {
	const now = BigInt(Math.floor(Date.now() / 1_000) + secondsAhead);
	swaps += 1n;
	return {
		wallet: toSolanaWord((on.wallets[0] as KeyPairSigner).address),
		inputToken: on.word("USDC"),
		inputAmount: 10_000_000n,
		originChainId: BigInt(solanaChainId),
		destinationChainId: 31_337n,
		outputToken: toHex(6n, { size: 32 }),
		minOutput: 9_000_000n,
		recipient: toHex(7n, { size: 32 }),
		topUp: 0n,
		escrow: toSolanaWord(deployment.program.address),
		originVault: toSolanaWord(deployment.program.vault),
		destinationVault: toHex(8n, { size: 32 }),
		attesterSet: deployment.program.attesterSet.hash,
		swapKey: toHex(swaps, { size: 32 }),
		deadlines: packDeadlines({
			openDeadline: now + 60n,
			fillDeadline: now + 600n,
			refundAfter: now + 7_200n,
		}),
		...terms,
	};
}

/** Returns an order to at least 9 USDC on Solana, from an EVM chain. */
function orderTo(recipient: SolanaAddress, terms: Partial<Order> = {}): Order {
	return orderFrom({
		...onSolana(recipient),
		wallet: toHex(1n, { size: 32 }),
		inputToken: toHex(2n, { size: 32 }),
		originChainId: 31_337n,
		escrow: toHex(3n, { size: 32 }),
		originVault: toHex(4n, { size: 32 }),
		...terms,
	});
}

function onSolana(recipient: SolanaAddress): Partial<Order> {
	return {
		destinationChainId: BigInt(solanaChainId),
		destinationVault: toSolanaWord(deployment.program.vault),
		outputToken: on.word("USDC"),
		recipient: toSolanaWord(recipient),
	};
}

async function open(order: Order, wallet = on.wallets[0] as KeyPairSigner): Promise<Landed> {
	const { blockhash } = await readBlockhash(on.chain);
	const compute = { unitLimit: 100_000, microLamportsPerUnit: 1_000n };
	const message = { feePayer: on.feePayer.address, blockhash, compute };
	const built = await openTransaction(deployment, order, message);
	const signature = bytesToHex(await signBytes(wallet.keyPair.privateKey, built.message));
	const op = { ...message, signature };
	return land(coSignOrder({ deployment, order, op, feePayerKey: on.feePayer }));
}

async function stateOf(order: Order) {
	const [account] = await readOrders(on.chain, {
		orderIds: [orderId(order)],
		commitment: "confirmed",
	});
	return account && { state: account.state, isPaid: account.isPaid };
}

async function recordOf(order: Order) {
	const [reading] = await readRecords(on.chain, {
		orderIds: [orderId(order)],
		commitment: "confirmed",
	});
	return reading?.record;
}

/** Returns the decision that two attesters signed for. */
async function attested(kind: "Release" | "Refund", order: Order): Promise<Decision> {
	const hash = attestationDigest(attestationMessage(kind, [order]));
	const keys = deriveDevnetKeys().attesters.slice(0, 2);
	const signatures = await Promise.all(
		keys.map((privateKey): Promise<Hex> => sign({ hash, privateKey, to: "hex" })),
	);
	return { by: "attesters", set: deployment.program.attesterSet, signatures };
}

async function release(order: Order): Promise<Landed> {
	const decision = await attested("Release", order);
	return land(signEnding({ ...(await parts()), order, to: "vault", decision }));
}

async function passTime(seconds: number): Promise<void> {
	secondsAhead += seconds;
	await solana.admin.passTime({ seconds });
}

test("a fee payer co-signs the opening of an order in the program, and of no other program", async () => {
	const order = orderFrom();
	const landed = await open(order);
	expect(landed.isFailed).toBe(false);
	expect(await stateOf(order)).toEqual({ state: "opened", isPaid: false });
	expect(await receivedBy(landed, { owner: fromSolanaWord(order.wallet), token: order.inputToken })).toBe(
		-order.inputAmount,
	);
	const stranger = toSolanaWord(on.stranger.address);
	await expect(open({ ...order, originVault: stranger })).rejects.toThrow("origin vault");
	await expect(open({ ...order, escrow: stranger })).rejects.toThrow("escrow");
});

test("a fill pays exactly its amount once, creates the recipient's account, and leaves a record whose rent the vault pays", async () => {
	const { address: recipient } = await generateKeyPairSigner();
	const order = orderTo(recipient);
	const filling = { ...(await parts()), order, amount: 9_500_000n, createsAccount: true };
	const landed = await land(signFill(filling));
	expect(landed.isFailed).toBe(false);
	expect(await receivedBy(landed, { owner: recipient, token: order.outputToken })).toBe(9_500_000n);
	const { vault } = deployment.program;
	expect(await receivedBy(landed, { owner: vault, token: order.outputToken })).toBe(-9_500_000n);
	expect(await receivedBy(landed, { owner: vault, token: native })).toBe(-recordRent);
	expect(await receivedBy(landed, { owner: on.feePayer.address, token: native })).toBe(
		-tokenAccountRentLamports,
	);
	expect(await recordOf(order)).toMatchObject({ state: "filled", amount: 9_500_000n });
	expect((await land(signFill({ ...filling, ...(await parts()), amount: 9_400_000n }))).isFailed).toBe(true);

	const sol = orderTo(recipient, { outputToken: native, minOutput: emptyAccountRentLamports });
	const paid = await land(
		signFill({ ...(await parts()), order: sol, amount: emptyAccountRentLamports, createsAccount: true }),
	);
	expect(await receivedBy(paid, { owner: recipient, token: native })).toBe(emptyAccountRentLamports);
});

test("within Solana one transaction pays the recipient and takes the input to the vault; otherwise the operator refunds", async () => {
	const recipient = (on.wallets[1] as KeyPairSigner).address;
	const [filled, refunded] = [orderFrom(onSolana(recipient)), orderFrom(onSolana(recipient))];
	await open(filled);
	await open(refunded);
	const landed = await land(
		signFill({ ...(await parts()), order: filled, amount: 9_500_000n, createsAccount: false }),
	);
	expect(await receivedBy(landed, { owner: recipient, token: filled.outputToken })).toBe(9_500_000n);
	const { vault } = deployment.program;
	expect(await receivedBy(landed, { owner: vault, token: filled.inputToken })).toBe(500_000n);
	expect(await stateOf(filled)).toEqual({ state: "released", isPaid: true });

	const paidBack = await land(
		signEnding({ ...(await parts()), order: refunded, to: "wallet", decision: { by: "operator" } }),
	);
	const wallet = fromSolanaWord(refunded.wallet);
	expect(await receivedBy(paidBack, { owner: wallet, token: refunded.inputToken })).toBe(10_000_000n);
	expect(await stateOf(refunded)).toEqual({ state: "refunded", isPaid: true });
	const late = signFill({ ...(await parts()), order: refunded, amount: 9_500_000n, createsAccount: false });
	expect((await land(late)).isFailed).toBe(true);
	await expect(signVoid({ ...(await parts()), order: filled })).rejects.toThrow("only filled or refunded");
});

test("a void and a fill exclude each other", async () => {
	const recipient = (on.wallets[1] as KeyPairSigner).address;
	const order = orderTo(recipient);
	expect((await land(signVoid({ ...(await parts()), order }))).isFailed).toBe(false);
	expect(await recordOf(order)).toMatchObject({ state: "voided" });
	const filling = signFill({ ...(await parts()), order, amount: 9_500_000n, createsAccount: false });
	expect((await land(filling)).isFailed).toBe(true);
});

test("attesters' signatures release an order to the vault, or refund it, also to a wallet that closed its account", async () => {
	const released = orderFrom();
	await open(released);
	const { vault } = deployment.program;
	const toVault = await release(released);
	expect(await receivedBy(toVault, { owner: vault, token: on.word("USDC") })).toBe(released.inputAmount);
	expect(await stateOf(released)).toEqual({ state: "released", isPaid: true });

	const wallet = await generateKeyPairSigner();
	const order = orderFrom({ wallet: toSolanaWord(wallet.address) });
	const token = fromSolanaWord(order.inputToken);
	const account = await solana.admin.mintTo({ owner: wallet.address, token, amount: order.inputAmount });
	await open(order, wallet);
	const destination = on.feePayer.address;
	await on.land(await on.sign([getCloseAccountInstruction({ account, destination, owner: wallet })]));
	const decision = await attested("Refund", order);
	const refunding = { order, to: "wallet", decision } as const;
	expect((await land(signEnding({ ...(await parts()), ...refunding }))).isFailed).toBe(true);
	expect(await stateOf(order)).toEqual({ state: "opened", isPaid: false });
	const paid = await land(signEnding({ ...(await parts()), ...refunding, createsAccount: true }));
	expect(await receivedBy(paid, { owner: wallet.address, token: order.inputToken })).toBe(10_000_000n);
	const reading = await readSolanaWallet(on.chain, { wallet: wallet.address, token: order.inputToken });
	expect(reading.hasAccount).toBe(true);
});

test("after its deadline an order is refunded without attesters, and not before", async () => {
	const order = orderFrom();
	await open(order);
	const refund = async () =>
		land(signEnding({ ...(await parts()), order, to: "wallet", decision: { by: "time" } }));
	expect((await refund()).isFailed).toBe(true);
	await passTime(7_201);
	expect((await refund()).isFailed).toBe(false);
	expect(await stateOf(order)).toEqual({ state: "refunded", isPaid: true });
});

test("an order that a third party decided is paid without another decision", async () => {
	const order = orderFrom();
	await open(order);
	const decision = await attested("Release", order);
	if (decision.by !== "attesters") throw new Error("attesters decide");
	const { address, vault } = deployment.program;
	const byStranger = await decideOrders(address, "Release", { orderIds: [orderId(order)], ...decision });
	await on.land(await on.sign([byStranger]));
	expect(await stateOf(order)).toEqual({ state: "released", isPaid: false });
	const paying = { order, to: "vault", decision: { by: "earlier" } } as const;
	const paid = await land(signEnding({ ...(await parts()), ...paying }));
	expect(await receivedBy(paid, { owner: vault, token: order.inputToken })).toBe(order.inputAmount);
});

test("a sweep returns the rent of orders to the fee payer and that of records to the vault, to the lamport", async () => {
	const opened = orderFrom();
	const openedBy = await open(opened);
	const rent = -(await receivedBy(openedBy, { owner: on.feePayer.address, token: native }));
	expect(rent).toBe(tokenAccountRentLamports + 2_561_280n);
	await release(opened);
	const voided = orderTo((on.wallets[1] as KeyPairSigner).address);
	await land(signVoid({ ...(await parts()), order: voided }));
	await passTime(7_200 + 86_400 + 60);
	const swept = await land(
		signSweep({
			...(await parts()),
			accounts: [{ orderId: orderId(opened), payer: on.feePayer.address }, { orderId: orderId(voided) }],
		}),
	);
	expect(swept.isFailed).toBe(false);
	expect(await receivedBy(swept, { owner: on.feePayer.address, token: native })).toBe(rent);
	expect(await receivedBy(swept, { owner: deployment.program.vault, token: native })).toBe(recordRent);
	expect([await stateOf(opened), await recordOf(voided)]).toEqual([undefined, undefined]);
	const many = Array.from({ length: 17 }, (_, i) => ({
		orderId: toHex(i, { size: 32 }),
		payer: deployment.feePayers[1] ?? on.feePayer.address,
	}));
	await expect(signSweep({ ...(await parts()), accounts: many.slice(1) })).resolves.toBeDefined();
	for (const accounts of [[], many]) {
		await expect(signSweep({ ...(await parts()), accounts })).rejects.toThrow(RangeError);
	}
});

test("no key signs for another deployment's order, an unlisted token, less than the minimum, or one of the service's addresses", async () => {
	const stranger = toSolanaWord(on.stranger.address);
	const order = orderTo(on.stranger.address);
	const signing = async (terms: Partial<Order>, amount = 9_500_000n) =>
		signFill({ ...(await parts()), order: { ...order, ...terms }, amount, createsAccount: false });
	await expect(signing({ destinationVault: stranger })).rejects.toThrow("destination vault");
	await expect(signing({ destinationChainId: 1n })).rejects.toThrow("not on Solana");
	await expect(signing({ outputToken: stranger })).rejects.toThrow("not an asset");
	await expect(signing({}, 8_999_999n)).rejects.toThrow("less than");
	const { program, feePayers } = deployment;
	for (const own of [program.vault, program.address, program.operator, ...feePayers]) {
		await expect(signing({ recipient: toSolanaWord(own) })).rejects.toThrow("the service's own");
	}
	const opened = orderFrom(onSolana(on.stranger.address));
	const ending = async (given: Order, to: "vault" | "wallet", decision: Decision) =>
		signEnding({ ...(await parts()), order: given, to, decision });
	const signed: Decision = { by: "attesters", set: deployment.program.attesterSet, signatures: [] };
	await expect(ending(opened, "vault", signed)).rejects.toThrow("within Solana");
	await expect(ending(order, "vault", signed)).rejects.toThrow("not on Solana");
	await expect(ending(opened, "vault", { by: "operator" })).rejects.toThrow("release");
	await expect(ending(orderFrom(), "wallet", { by: "operator" })).rejects.toThrow("within Solana only");
});
