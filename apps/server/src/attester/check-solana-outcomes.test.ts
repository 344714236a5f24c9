import { startTestChains, startTestSolana, type TestChains, type TestSolana } from "@geoswap/devnet";
import {
	attestationDigest,
	attestationMessage,
	formatTransactionHash,
	type Heartbeat,
	heartbeatTypedData,
	type Order,
	orderId,
	orderToJson,
	type SolanaAddress,
	toSolanaWord,
} from "@geoswap/protocol";
import {
	AccountRole,
	generateKeyPairSigner,
	getCompiledTransactionMessageDecoder,
	getCompiledTransactionMessageEncoder,
	getTransactionDecoder,
	type Instruction,
	type KeyPairSigner,
	signBytes,
} from "@solana/kit";
import { getRequestHeapFrameInstruction } from "@solana-program/compute-budget";
import { getAddMemoInstruction } from "@solana-program/memo";
import { getCloseAccountInstruction } from "@solana-program/token";
import {
	type Address,
	bytesToHex,
	type Hex,
	hexToBytes,
	recoverAddress,
	recoverTypedDataAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { orderActions } from "../../test/order/order-actions.ts";
import { signerOfAccount } from "../../test/signer/signer-of-account.ts";
import { type SolanaActions, solanaActions } from "../../test/solana/solana-actions.ts";
import { connectChain } from "../chain/evm/chain-client.ts";
import { connectSolana } from "../chain/solana/connect-solana.ts";
import { markerInstructions } from "../chain/solana/marker/marker-instructions.ts";
import { readLanded } from "../chain/solana/read/read-landed.ts";
import type { SignedTransaction } from "../chain/solana/send/sign-instructions.ts";
import { transferInstructions } from "../chain/solana/send/transfer-instructions.ts";
import { createLog } from "../telemetry/log.ts";
import type { Refusal } from "./create-attester.ts";
import { startAttester } from "./start-attester.ts";

const slowSlotMs = 3_600_000;
const payout = 9_500_000n;

let chains: TestChains;
let solana: TestSolana;
let actions: ReturnType<typeof orderActions>;
let on: SolanaActions;
let attester: Awaited<ReturnType<typeof startAttester>>;
let account: ReturnType<typeof privateKeyToAccount>;

beforeAll(async () => {
	[chains, solana] = await Promise.all([startTestChains(), startTestSolana({ slotMs: slowSlotMs })]);
	actions = orderActions(chains);
	on = await solanaActions(solana);
	account = privateKeyToAccount(chains.keys.attesters[0] ?? "0x");
	attester = await start({ solana: connectSolana(solana) });
});
afterAll(async () => {
	await attester?.close();
	await Promise.all([chains?.stop(), solana?.stop()]);
});

function start(sight: { solana?: ReturnType<typeof connectSolana> }) {
	return startAttester({
		config: {
			chains: [chains.origin, chains.destination].map((chain) => connectChain(chain)),
			earlierAttesterSets: [],
			earlierRouters: [],
			earlierSettlementTokens: [],
			host: "127.0.0.1",
			port: 0,
			logLevel: "silent",
			...sight,
		},
		signer: signerOfAccount(account),
		nowMs: Date.now,
		log: createLog({ level: "silent", process: "test" }),
	});
}

async function ask(
	kind: "Release" | "Refund",
	hints: readonly { order: Order; delivery?: string }[],
	url = attester.url,
) {
	const deliveries = Object.fromEntries(
		hints.flatMap(({ order, delivery }) => (delivery ? [[orderId(order), delivery]] : [])),
	);
	const response = await fetch(`${url}/attest`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ kind, orders: hints.map(({ order }) => orderToJson(order)), deliveries }),
	});
	const body = (await response.json()) as { refused?: Refusal[]; attester: Address; signature: Hex };
	return { status: response.status, body, reasons: body.refused?.map(({ reason }) => reason) };
}

/** Returns the attester's reason to refuse once all of it is final, or undefined if it signs. */
async function reasonOf(
	kind: "Release" | "Refund",
	order: Order,
	delivery?: string,
): Promise<string | undefined> {
	await on.finalize();
	return (await ask(kind, [{ order, ...(delivery ? { delivery } : {}) }])).reasons?.[0];
}

/** Lands a transaction, and checks that it happened: it may be a lie to the attester. */
async function landed(instructions: readonly Instruction[], { fails = false } = {}): Promise<Hex> {
	const signature = await on.land(await on.sign(instructions));
	expect((await readLanded(on.chain, signature))?.isFailed).toBe(fails);
	return signature;
}

const makeOrder = async (terms: Parameters<SolanaActions["toSolana"]>[1] = {}) =>
	on.toSolana(await actions.makeOrder(), terms);
const vaultTo = (recipient: KeyPairSigner, amount = payout, symbol = "USDC") =>
	on.transfer(symbol, amount, { from: on.keys.vault, to: recipient.address });
const walletOf = (i: number) => on.wallets[i] as KeyPairSigner;

test("a release is signed only once its payout is final, and then no refund is signed", async () => {
	const order = await makeOrder();
	const signature = await on.land(await on.signPayout(order, payout));
	const delivery = formatTransactionHash(solana.deployment.chainId, signature);
	expect((await ask("Release", [{ order, delivery }])).reasons).toEqual(["not_filled"]);
	await on.finalize();
	const { status, body } = await ask("Release", [{ order, delivery }]);
	expect(status).toBe(200);
	const hash = attestationDigest(attestationMessage("Release", [order]));
	expect(await recoverAddress({ hash, signature: body.signature })).toBe(account.address);
	// The same signature in hex.
	expect((await ask("Release", [{ order, delivery: signature }])).status).toBe(200);
	expect((await ask("Release", [{ order }])).reasons).toEqual(["delivery_unnamed"]);
	expect((await ask("Release", [{ order, delivery: "nonsense" }])).status).toBe(400);
	expect(await reasonOf("Refund", order)).toBe("filled");
});

test("a payout counts if it creates the recipient's account, and if it pays SOL", async () => {
	const { address: recipient } = await generateKeyPairSigner();
	const order = await makeOrder({ recipient });
	const made = await on.land(await on.signPayout(order, payout, { createsAccount: true }));
	expect(await reasonOf("Release", order, made)).toBeUndefined();
	const native = await makeOrder({ recipient, symbol: "SOL", minOutput: 1_000_000n });
	const paid = await on.land(await on.signPayout(native, 1_000_000n));
	expect(await reasonOf("Release", native, paid)).toBeUndefined();
});

test("a payout still counts after its marker was closed", async () => {
	const order = await makeOrder();
	const signature = await on.land(await on.signPayout(order, payout));
	const marker = (await on.marker(order))[1]?.accounts?.[0]?.address;
	await landed([
		getCloseAccountInstruction({
			account: marker ?? on.feePayer.address,
			destination: on.feePayer.address,
			owner: on.keys.vault,
		}),
	]);
	expect(await reasonOf("Release", order, signature)).toBeUndefined();
});

test("no release is signed for a payout that failed, is too small or unmarked, or has another recipient, token or order", async () => {
	const order = await makeOrder();
	const other = await makeOrder({ recipient: walletOf(1).address });
	const marker = await on.marker(order);
	const lies: Record<string, readonly Instruction[]> = {
		failed: [...(await vaultTo(walletOf(0))), ...marker, ...marker],
		"too little": [...(await vaultTo(walletOf(0), 8_999_999n)), ...(await on.marker(order))],
		"to another": [...(await vaultTo(walletOf(1))), ...(await on.marker(order))],
		"in another token": [...(await vaultTo(walletOf(0), payout, "USDT")), ...(await on.marker(order))],
		"of another order": [...(await vaultTo(walletOf(0))), ...(await on.marker(other))],
		unmarked: await vaultTo(walletOf(0)),
		"marked by another key": [
			...(await vaultTo(walletOf(0))),
			...(await on.marker(order, { base: on.keys.escrow })),
		],
	};
	for (const [what, instructions] of Object.entries(lies)) {
		const signature = await landed(instructions, { fails: what === "failed" });
		expect([what, await reasonOf("Release", order, signature)]).toEqual([what, "not_filled"]);
		// The marker was made all the same, and is closed for the next case.
		await closeMarker(order);
	}
	const nowhere = bytesToHex(new Uint8Array(64).fill(7));
	expect(await reasonOf("Release", order, nowhere)).toBe("not_filled");
});

async function closeMarker(order: Order): Promise<void> {
	const account = (await on.marker(order))[1]?.accounts?.[0]?.address;
	if (!account) return;
	const close = getCloseAccountInstruction({
		account,
		destination: on.feePayer.address,
		owner: on.keys.vault,
	});
	await on.land(await on.sign([close]));
}

test("one payment does not count for two orders, nor two payments for one", async () => {
	const [first, second] = [await makeOrder(), await makeOrder()];
	const both = await landed([
		...(await vaultTo(walletOf(0), payout)),
		...(await on.marker(first)),
		...(await on.marker(second)),
	]);
	await on.finalize();
	const { reasons } = await ask("Release", [
		{ order: first, delivery: both },
		{ order: second, delivery: both },
	]);
	expect(reasons).toEqual(["not_filled", "not_filled"]);

	const order = await makeOrder();
	const paysTwice = await landed([
		...(await vaultTo(walletOf(0))),
		...(await vaultTo(walletOf(0))),
		...(await on.marker(order)),
	]);
	expect(await reasonOf("Release", order, paysTwice)).toBe("not_filled");
});

test("a transfer by others, or one with a return transfer, memo or reference, does not count as a payout", async () => {
	const recipient = walletOf(2);
	const makeLie = async (instructions: (order: Order) => Promise<readonly Instruction[]>) => {
		const order = await makeOrder({ recipient: recipient.address });
		const signature = await landed([...(await instructions(order)), ...(await on.marker(order))]);
		return reasonOf("Release", order, signature);
	};
	const { address: to } = recipient;
	expect(await makeLie(() => on.transfer("USDC", payout, { from: walletOf(3), to }))).toBe("not_filled");
	expect(
		await makeLie(async () => [
			...(await vaultTo(recipient)),
			...(await on.transfer("USDC", payout, { from: recipient, to: on.keys.vault.address })),
		]),
	).toBe("not_filled");
	expect(
		await makeLie(async () => [
			...(await vaultTo(recipient)),
			...(await on.transfer("USDT", 5n, { from: recipient, to: on.keys.vault.address })),
		]),
	).toBe("not_filled");
	const memo = getAddMemoInstruction(
		{ memo: "for the invoice" },
		{ programAddress: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr" as never },
	);
	expect(await makeLie(async () => [...(await vaultTo(recipient)), memo])).toBe("not_filled");
	// An account that a transfer does not need is how a shop tells which bill was paid.
	const reference = { address: on.stranger.address, role: AccountRole.READONLY };
	expect(
		await makeLie(async () =>
			(await vaultTo(recipient)).map((instruction) => ({
				...instruction,
				accounts: [...(instruction.accounts ?? []), reference],
			})),
		),
	).toBe("not_filled");
	expect(
		await makeLie(async () => [
			...(await vaultTo(recipient)),
			...(await on.transfer("SOL", 1_000_000n, { from: on.keys.vault, to })),
		]),
	).toBe("not_filled");
	expect(await makeLie(() => vaultTo(recipient))).toBeUndefined();
});

test("a payout with any instruction, account or data that it does not need does not count", async () => {
	const { feePayer, stranger, keys } = on;
	const reference = { address: stranger.address, role: AccountRole.READONLY };
	const named = (instruction: Instruction): Instruction => ({
		...instruction,
		accounts: [...(instruction.accounts ?? []), reference],
	});
	const longer = (instruction: Instruction): Instruction => ({
		...instruction,
		data: new Uint8Array([...(instruction.data ?? []), 7]),
	});
	const toSol = (to: SolanaAddress) => on.transfer("SOL", 1_000_000n, { from: feePayer, to });
	const accountOf = async (owner: SolanaAddress) => {
		const [create] = await transferInstructions({
			deployment: solana.deployment,
			from: keys.vault,
			to: owner,
			token: on.word("USDC"),
			amount: payout,
			accountPaidBy: feePayer,
		});
		return create as Instruction;
	};
	const { address: newcomer } = await generateKeyPairSigner();
	type Parts = { order: Order; pay: Instruction; marker: Instruction[] };
	const all = ({ pay, marker }: Parts) => [pay, ...marker];
	const lies: Record<string, (parts: Parts) => Promise<readonly Instruction[]> | readonly Instruction[]> = {
		"an account beside what computing costs": (parts) => [
			named(getRequestHeapFrameInstruction({ bytes: 32_768 })),
			...all(parts),
		],
		"computing that a payout asks nothing of": (parts) => [
			getRequestHeapFrameInstruction({ bytes: 32_768 }),
			...all(parts),
		],
		"an account beside the recipient's": async (parts) => [
			named(await accountOf(walletOf(0).address)),
			...all(parts),
		],
		"an account made for another": async (parts) => [await accountOf(newcomer), ...all(parts)],
		"an account made twice": async (parts) => [
			await accountOf(walletOf(0).address),
			await accountOf(walletOf(0).address),
			...all(parts),
		],
		"rent to another": async (parts) => [...(await toSol(stranger.address)), ...all(parts)],
		"rent twice": ({ pay, marker }) => [pay, ...marker.slice(0, 1), ...marker],
		"rent of another's": async ({ order, pay, marker }) => {
			const [paid] = await markerInstructions({
				feePayer: stranger,
				base: keys.vault,
				orderId: orderId(order),
				owner: keys.vault.address,
			});
			return [pay, paid as Instruction, ...marker.slice(1)];
		},
		"an account beside the marker": ({ pay, marker }) => [
			pay,
			...marker.slice(0, 2),
			...marker.slice(2).map(named),
		],
		"an account beside the marker's rent": ({ pay, marker }) => [
			pay,
			...marker.slice(0, 1).map(named),
			...marker.slice(1),
		],
		"words after the payment": ({ pay, marker }) => [longer(pay), ...marker],
	};
	for (const [what, lie] of Object.entries(lies)) {
		const order = await makeOrder();
		const [pay] = await vaultTo(walletOf(0));
		const marker = await on.marker(order);
		const signature = await landed(await lie({ order, pay: pay as Instruction, marker }));
		expect([what, await reasonOf("Release", order, signature)]).toEqual([what, "not_filled"]);
	}
	// The other account is in no instruction at all, and does not sign.
	const order = await makeOrder();
	const signed = await on.sign([...(await vaultTo(walletOf(0))), ...(await on.marker(order))]);
	const aside = await on.land(await namingAside(signed, stranger.address));
	expect((await readLanded(on.chain, aside))?.isFailed).toBe(false);
	expect(await reasonOf("Release", order, aside)).toBe("not_filled");
	await closeMarker(order);
	// A payout with the accounts that it needs, and no more, is accepted.
	const needed = [await accountOf(walletOf(0).address), ...(await vaultTo(walletOf(0)))];
	const plain = await landed([...needed, ...(await on.marker(order))]);
	expect(await reasonOf("Release", order, plain)).toBeUndefined();
});

/** Returns the same transaction, with an additional account that nothing in it uses. */
async function namingAside({ raw }: SignedTransaction, address: SolanaAddress): Promise<SignedTransaction> {
	const { messageBytes } = getTransactionDecoder().decode(hexToBytes(raw));
	const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
	const { header } = message;
	const bytes = new Uint8Array(
		getCompiledTransactionMessageEncoder().encode({
			...message,
			header: { ...header, numReadonlyNonSignerAccounts: header.numReadonlyNonSignerAccounts + 1 },
			staticAccounts: [...message.staticAccounts, address],
		} as typeof message),
	);
	const keys = [on.feePayer, on.keys.vault];
	const signatures = await Promise.all(
		message.staticAccounts
			.slice(0, header.numSignerAccounts)
			.map((signer) => keys.find((key) => key.address === signer) as KeyPairSigner)
			.map((key) => signBytes(key.keyPair.privateKey, bytes)),
	);
	return {
		raw: bytesToHex(new Uint8Array([signatures.length, ...signatures.flatMap((one) => [...one]), ...bytes])),
		signature: bytesToHex(signatures[0] as Uint8Array),
	};
}

test("a transfer between our own keys does not count as a payout", async () => {
	for (const recipient of [on.keys.escrow.address, on.feePayer.address]) {
		const order = await makeOrder({ recipient, symbol: "SOL", minOutput: 1_000_000n });
		const moved = await landed([
			...(await on.transfer("SOL", 1_000_000n, { from: on.keys.vault, to: recipient })),
			...(await on.marker(order)),
		]);
		expect(await reasonOf("Release", order, moved)).toBe("not_filled");
	}
});

test("a refund is signed only once the void is final, and then no release is signed", async () => {
	const order = await makeOrder();
	const signature = await on.land(await on.signVoid(order));
	expect((await ask("Refund", [{ order }])).reasons).toEqual(["not_voided"]);
	await on.finalize();
	expect((await ask("Refund", [{ order }])).status).toBe(200);
	expect((await ask("Release", [{ order, delivery: signature }])).reasons).toEqual(["voided"]);
});

test("an order to Solana does not expire, and lamports at its marker's address do not void it", async () => {
	const order = on.toSolana(await actions.makeOrder({ stepSeconds: 10n }));
	await chains.origin.testClient.increaseTime({ seconds: 100_000 });
	await chains.origin.testClient.mine({ blocks: 10 });
	expect(await reasonOf("Refund", order)).toBe("not_voided");
	const [rent] = await on.marker(order);
	if (rent) await landed([rent]);
	expect(await reasonOf("Refund", order)).toBe("not_voided");
});

test("an attester that does not know Solana, or cannot reach it, refuses with that reason", async () => {
	const order = await makeOrder();
	const [blind, deaf] = [
		await start({}),
		await start({ solana: connectSolana({ ...solana, rpcUrl: "http://127.0.0.1:9" }) }),
	];
	try {
		expect((await ask("Refund", [{ order }], blind.url)).reasons).toEqual(["unknown_chain"]);
		expect((await ask("Refund", [{ order }], deaf.url)).reasons).toEqual(["chain_unavailable"]);
		const beats = (await (await fetch(`${deaf.url}/heartbeat`)).json()) as Heartbeat[];
		expect(beats.map((beat) => beat.chainId)).toEqual([31337, 31338]);
	} finally {
		await Promise.all([blind.close(), deaf.close()]);
	}
});

test("nothing is signed for keys and assets outside the configuration, nor for an input on Solana", async () => {
	const order = await makeOrder();
	await on.land(await on.signVoid(order));
	const stranger = toSolanaWord(on.stranger.address);
	expect(await reasonOf("Refund", { ...order, destinationVault: stranger })).toBe("unknown_vault");
	expect(await reasonOf("Refund", { ...order, outputToken: stranger })).toBe("unknown_asset");
	expect(await reasonOf("Refund", { ...order, attesterSet: stranger })).toBe("unknown_attester_set");
	expect(await reasonOf("Refund", order)).toBeUndefined();
	const origin = on.fromSolana(await actions.makeOrder());
	expect(await reasonOf("Refund", origin)).toBe("custodial_origin");
	expect(await reasonOf("Release", on.fromSolana(order))).toBe("custodial_origin");
});

test("a heartbeat contains the final slot of Solana, signed", async () => {
	const response = await fetch(`${attester.url}/heartbeat`);
	const beats = (await response.json()) as (Heartbeat & { signature: Hex })[];
	const { signature, ...beat } = beats.find(
		({ chainId }) => chainId === solana.deployment.chainId,
	) as never as Heartbeat & { signature: Hex };
	const finalized = await on.chain.rpc.getSlot({ commitment: "finalized" }).send();
	expect(beat.finalizedNumber).toBe(Number(finalized));
	expect(await recoverTypedDataAddress({ ...heartbeatTypedData(beat), signature })).toBe(account.address);
});
