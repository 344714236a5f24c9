import {
	type ErrorCode,
	emptyAccountRentLamports,
	type SolanaAddress,
	tokenAccountOf,
} from "@geoswap/protocol";
import { getDelegation, waitForSwap } from "@geoswap/sdk";
import { AccountRole, generateKeyPairSigner, type KeyPairSigner } from "@solana/kit";
import {
	getSetComputeUnitLimitInstruction as setLimit,
	getSetComputeUnitPriceInstruction as setPrice,
} from "@solana-program/compute-budget";
import { getAllocateInstruction } from "@solana-program/system";
import { getTransferCheckedInstruction } from "@solana-program/token";
import { parseUnits } from "viem";
import { beforeAll, type ExpectStatic, test } from "vitest";
import {
	type SolanaScene,
	type SolanaSteps,
	signMessage,
	solanaSteps,
	tenUsdc,
	wireTransaction,
} from "../caller/solana-caller.ts";
import { holding } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { expectBooksAgree } from "../expect/expect-books-agree.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { sendSolana } from "../solana/send-solana.ts";
import { type MessageDraft, redraftMessage } from "../trouble/redraft-message.ts";
import { assetAddress } from "../wallet/make-order.ts";

/** The program with which browser wallets assert that a transaction did what they displayed. */
const lighthouse = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95" as SolanaAddress;
const noSignature = new Uint8Array(64);
const transactionBytes = 1_232;

let environment: Environment;
let client: Environment["client"];
let steps: SolanaSteps;
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
	steps = solanaSteps(environment, client);
});

async function sceneOf(terms?: Parameters<SolanaSteps["scene"]>[1]): Promise<SolanaScene> {
	return steps.scene(await environment.solana.newWallet({ usdc: tenUsdc }), terms);
}

function messageOf({ built }: Pick<SolanaScene, "built">): Uint8Array {
	return new Uint8Array(Buffer.from(built.geoOp.message, "base64"));
}

/** A transaction that is refused, and the details of the refusal. */
type Refused = { signed: string; details: unknown };

/**
 * Expects each to be refused with this code. They are sent concurrently, because the build lives for 20 seconds, and is
 * needed after.
 */
async function expectRefused(
	expect: ExpectStatic,
	{ built }: Pick<SolanaScene, "built">,
	code: ErrorCode,
	refused: readonly Refused[],
): Promise<void> {
	const answers = await Promise.all(refused.map(({ signed }) => steps.submit(built, signed)));
	for (const [i, answer] of answers.entries()) {
		const { signed, details } = refused[i] ?? {};
		expect([answer.body?.code, signed]).toEqual([code, signed]);
		expectRefusal(expect, answer, code, details);
	}
}

/**
 * Expects that the refusals created no swap and took nothing, so that the build still settles as if nothing had
 * happened.
 */
async function expectStillFresh(
	expect: ExpectStatic,
	{ account, quote, built, signed }: SolanaScene,
): Promise<void> {
	expect((await steps.submit(built, signed)).body).toEqual({ swapId: quote.swapId, status: "pending" });
	expect((await waitForSwap(client, quote.swapId)).status).toBe("settled");
	expect(await holding(environment.solana, "USDC", account.address)).toBe(0n);
}

async function expectNothing(expect: ExpectStatic, { account, quote }: SolanaScene): Promise<void> {
	expectRefusal(expect, await steps.status(quote), "SWAP_NOT_FOUND");
	expect(await holding(environment.solana, "USDC", account.address)).toBe(tenUsdc);
}

test.concurrent("a text that is not the base64 of a transaction is 400, and makes no swap [I4-23, D-submit-13]", async ({
	expect,
}) => {
	const scene = await sceneOf();
	const { signed } = scene;
	const bytes = Buffer.from(signed, "base64");
	const padded = (size: number) => Buffer.concat([bytes, Buffer.alloc(size)]).subarray(0, size);
	const message = messageOf(scene);
	const malformed = [
		...["", "x", "not base64!", "💥", "null", `${signed}=`, `=${signed}`, ` ${signed}`, `${signed}\n`],
		// Other encodings of the same bytes. Only the canonical one is accepted, which is none of these.
		...[
			`${signed.slice(0, 20)}\n${signed.slice(20)}`,
			`data:base64,${signed}`,
			signed.replace(/=*$/, "===="),
		],
		...[nonCanonical(bytes), bytes.toString("base64url"), bytes.toString("hex")].filter(
			(text) => text !== signed,
		),
		...[bytes.subarray(0, 64), bytes.subarray(0, 200), bytes.subarray(1), message].map(base64),
		// These have places for no or one signature, while the message requires two.
		...[wireTransaction(message, []), wireTransaction(message, [noSignature])],
		wireTransaction(message, [noSignature, noSignature, noSignature]),
		...[base64(Buffer.alloc(transactionBytes)), base64(padded(transactionBytes + 1)), base64(padded(4_000))],
		"A".repeat(20_000),
	];
	const details = issuesAt(expect, "signedTransaction");
	const refused = malformed.map((text) => ({ signed: text, details }));
	await expectRefused(expect, scene, "INVALID_REQUEST", refused);
	await expectNothing(expect, scene);
	await expectStillFresh(expect, scene);
});

test.concurrent("a transaction without the wallet's signature over it is 400, and makes no swap [I3-3, D-errors-6, D-submit-13]", async ({
	expect,
}) => {
	const scene = await sceneOf();
	const { account, built } = scene;
	const message = messageOf(scene);
	const [own, someone] = [await signMessage(account, message), await generateKeyPairSigner()];
	const altered = own.with(0, (own[0] ?? 0) ^ 1);
	const elsewhere = await signMessage(account, new TextEncoder().encode(built.geoOp.message));
	const theirs = await signMessage(someone, message);
	const details = { expected: account.address };
	const refused = [
		[noSignature, noSignature],
		[own, noSignature],
		[noSignature, theirs],
		[noSignature, altered],
		[noSignature, own.with(63, (own[63] ?? 0) ^ 0x80)],
		[noSignature, elsewhere],
		[theirs, theirs],
	].map((signatures) => ({ signed: wireTransaction(message, signatures), details }));
	await expectRefused(expect, scene, "INVALID_SIGNATURE", refused);
	const unsigned = await steps.submit(built, built.unsignedTransaction);
	expectRefusal(expect, unsigned, "INVALID_SIGNATURE", details);
	expect(unsigned.body?.message).toContain("missing");
	await expectNothing(expect, scene);
	await expectStillFresh(expect, scene);
});

test.concurrent("a transaction that the wallet changed is refused with the changed part, and makes no swap [D-errors-7, D-submit-13]", async ({
	expect,
}) => {
	const { solana } = environment;
	const account = await solana.newWallet({ usdc: tenUsdc });
	const another = await steps.scene(account);
	const scene = await steps.scene(account);
	const { built } = scene;
	const message = messageOf(scene);
	const thief = await generateKeyPairSigner();
	const theirs = await tokenAccountOf({ owner: thief.address, token: assetAddress(solana, "USDC") });
	const otherFeePayer = solana.deployment.feePayers.find((one) => one !== built.geoOp.feePayer);
	const assertion = {
		programAddress: lighthouse,
		accounts: [{ address: account.address, role: AccountRole.READONLY_SIGNER }],
		data: new Uint8Array([5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 4]),
	};
	const changes: [changed: string, change: (draft: MessageDraft) => unknown][] = [
		// Changes that browser wallets make by themselves.
		["instructions", ({ instructions }) => instructions.push(assertion)],
		["instructions", ({ instructions }) => instructions.unshift(assertion)],
		["instructions", ({ instructions }) => instructions.splice(1, 1, setPrice({ microLamports: 1n }))],
		["instructions", ({ instructions }) => instructions.splice(0, 1, setLimit({ units: 1_000_000 }))],
		["fee payer", (draft) => Object.assign(draft, { feePayer: account.address })],
		// Changes that would take from another account, give less, or leave the order out.
		["fee payer", (draft) => Object.assign(draft, { feePayer: otherFeePayer ?? thief.address })],
		["instructions", ({ instructions }) => changeData(instructions, 3, 1)],
		["instructions", ({ instructions }) => changeData(instructions, 3, 8)],
		["instructions", ({ instructions }) => changeData(instructions, 2, 100)],
		["instructions", ({ instructions }) => instructions.pop()],
		["instructions", ({ instructions }) => instructions.splice(0, 2)],
		["instructions", ({ instructions }) => instructions.reverse()],
		["instructions", ({ instructions }) => instructions.push(...instructions.slice(2, 3))],
		["accounts", ({ instructions }) => changeAccount(instructions, 0, theirs)],
		["accounts", ({ instructions }) => changeAccount(instructions, 2, theirs)],
		["blockhash", (draft) => Object.assign(draft, { blockhash: thief.address })],
		["version", (draft) => Object.assign(draft, { version: "legacy" })],
	];
	const changed = [
		...changes.map(([what, change]) => ({ what, message: redraftMessage(message, change) })),
		// The last byte counts lookup tables. This table is used by no instruction.
		{
			what: "lookup tables",
			message: new Uint8Array([...message.slice(0, -1), 1, ...new Uint8Array(32), 1, 0, 0]),
		},
		{ what: "bytes", message: new Uint8Array([...message, 0]) },
		{ what: "bytes", message: message.slice(0, -1) },
	];
	const refused = changed.map(async ({ what, message: other }): Promise<Refused[]> => {
		const others = Array.from({ length: signerCount(other) - 1 }, () => noSignature);
		const signatures = [...others, await signMessage(account, other)];
		const unsigned = signatures.map(() => noSignature);
		// The change is reported before anything about the signature.
		const both = [signatures, unsigned].map((given) => wireTransaction(other, given));
		return both.map((signed) => ({ signed, details: { changed: what } }));
	});
	// This is another transaction of the service for the same wallet, which differs at least by its order.
	const what = expect.stringMatching(/^(instructions|blockhash|fee payer)$/);
	const ofOther = { signed: another.signed, details: { changed: what } };
	const all = [...(await Promise.all(refused)).flat(), ofOther];
	await expectRefused(expect, scene, "TRANSACTION_CHANGED", all);
	expectRefusal(expect, await steps.status(another.quote), "SWAP_NOT_FOUND");
	await expectNothing(expect, scene);
	await expectStillFresh(expect, scene);
});

test.concurrent("a build has every part of its transaction, and any authorization is ignored [I2.3-3, I4-14, D-build-13, D-build-20]", async ({
	expect,
}) => {
	const { solana } = environment;
	const account = await solana.newWallet({ usdc: tenUsdc });
	const quote = await steps.quote(account);
	const authorization = {
		chainId: environment.origin.chainId,
		address: environment.origin.deployment.contracts.delegate,
		nonce: 0,
		yParity: 0,
		r: `0x${"1".repeat(64)}`,
		s: `0x${"2".repeat(64)}`,
	};
	for (const ignored of [undefined, null, "x", 1, [], {}, { chainId: "x" }, authorization]) {
		const before = Date.now();
		const { status, body } = await steps.build(quote, ignored);
		expect(status, JSON.stringify(body)).toBe(200);
		const { unsignedTransaction, geoOp, expiresAt } = body as SolanaScene["built"];
		const bytes = Buffer.from(unsignedTransaction, "base64");
		expect(bytes.toString("base64")).toBe(unsignedTransaction);
		// The bytes are two empty signatures, then a message of version 0.
		expect(bytes.subarray(0, 129)).toEqual(Buffer.concat([Buffer.of(2), Buffer.alloc(128)]));
		expect(bytes[129]).toBe(0x80);
		expect(bytes.subarray(129).toString("base64")).toBe(geoOp.message);
		expect(solana.deployment.feePayers).toContain(geoOp.feePayer);
		expect(geoOp).toMatchObject({ chainId: solana.chainId, escrow: solana.deployment.program.address });
		expect(Date.parse(expiresAt)).toBeGreaterThan(before);
		const { value: lives } = await solana.rpc.isBlockhashValid(geoOp.blockhash as never).send();
		expect(lives).toBe(true);
	}
});

test.concurrent("an insufficient balance is reported at build and at submit, can be read before, and the same bytes succeed once the wallet is funded [D-delegation-9, D-errors-3, D-errors-24, D-order-13]", async ({
	expect,
}) => {
	const { solana } = environment;
	const [account, friend, penniless] = [
		await solana.newWallet({ usdc: tenUsdc, lamports: parseUnits("0.1", 9) }),
		await solana.newWallet({ usdc: 1n }),
		await solana.newWallet(),
	];
	const short = (balance: bigint, required: bigint) => ({
		balance: String(balance),
		required: String(required),
	});
	const token = assetAddress(solana, "USDC");
	const balanceOf = async ({ address: walletAddress }: KeyPairSigner) =>
		(await getDelegation(environment.client, { chainId: solana.chainId, walletAddress, token })).balance;
	expect([await balanceOf(account), await balanceOf(penniless)]).toEqual([tenUsdc, 0n]);
	const tooMuch = await steps.quote(account, { amount: tenUsdc + 1n });
	expectRefusal(expect, await steps.build(tooMuch), "INSUFFICIENT_BALANCE", short(tenUsdc, tenUsdc + 1n));
	const withoutAccount = await steps.build(await steps.quote(penniless));
	expectRefusal(expect, withoutAccount, "INSUFFICIENT_BALANCE", short(0n, tenUsdc));

	const scene = await steps.scene(account);
	await moveUsdc(account, friend, 1n);
	const refused = await steps.submit(scene.built, scene.signed);
	expectRefusal(expect, refused, "INSUFFICIENT_BALANCE", short(tenUsdc - 1n, tenUsdc));
	expectRefusal(expect, await steps.status(scene.quote), "SWAP_NOT_FOUND");
	await solana.admin.mintTo({ owner: account.address, token, amount: 1n });
	await expectStillFresh(expect, scene);
});

test.concurrent("a swap must leave no SOL in the wallet, or enough for its rent", async ({ expect }) => {
	const { solana } = environment;
	const amount = parseUnits("0.1", 9);
	const least = emptyAccountRentLamports;
	for (const [lamports, required] of [
		[0n, amount],
		[amount - 1n, amount],
		[amount + 1n, amount + least],
		[amount + least - 1n, amount + least],
	] as const) {
		const account = await solana.newWallet({ lamports });
		const answer = await steps.build(await steps.quote(account, { token: "SOL", amount }));
		const details = { balance: String(lamports), required: String(required) };
		expectRefusal(expect, answer, "INSUFFICIENT_BALANCE", details);
		// Only the rest would be too small. The message must state this, because the wallet holds more than the input.
		if (lamports > amount) expect(answer.body?.message).toContain(String(least));
	}
	for (const lamports of [amount, amount + least]) {
		const account = await solana.newWallet({ lamports });
		expect((await steps.build(await steps.quote(account, { token: "SOL", amount }))).status).toBe(200);
	}
});

test.concurrent("the input of a submitted swap is not available to another swap", async ({ expect }) => {
	const account = await environment.solana.newWallet({ usdc: 3n * tenUsdc });
	const [first, second] = await Promise.all([
		steps.scene(account, { amount: 2n * tenUsdc }),
		steps.scene(account, { amount: 2n * tenUsdc }),
	]);
	expect((await steps.submit(first.built, first.signed)).status).toBe(200);
	// While the input is being taken it is counted at least once, and may be counted twice.
	const balance = expect.stringMatching(/^(0|10000000)$/);
	const details = { balance, required: String(2n * tenUsdc) };
	expectRefusal(expect, await steps.submit(second.built, second.signed), "INSUFFICIENT_BALANCE", details);
	expectRefusal(expect, await steps.build(second.quote), "INSUFFICIENT_BALANCE", details);
	expectRefusal(expect, await steps.status(second.quote), "SWAP_NOT_FOUND");
	expect((await waitForSwap(client, first.quote.swapId)).status).toBe("settled");
	expect(await holding(environment.solana, "USDC", account.address)).toBe(tenUsdc);
});

test.concurrent("a transaction that would fail is 422 with its reason, and makes no swap [D-errors-25]", async ({
	expect,
}) => {
	const { solana } = environment;
	const account = await solana.newWallet({ lamports: parseUnits("1", 9) });
	const scene = await steps.scene(account, { token: "SOL", amount: parseUnits("0.1", 9) });
	// Nothing can be transferred from an address that holds data.
	const instructions = [getAllocateInstruction({ newAccount: account, space: 8n })];
	await sendSolana(solana, { feePayer: account, instructions });
	const reason = expect.stringMatching(/^instruction 3: /);
	expectRefusal(expect, await steps.submit(scene.built, scene.signed), "SIMULATION_FAILED", { reason });
	expectRefusal(expect, await steps.build(scene.quote), "SIMULATION_FAILED", { reason });
	expectRefusal(expect, await steps.status(scene.quote), "SWAP_NOT_FOUND");
});

test.concurrent("a price that other swaps moved below the minimum is 409, and a fresh quote settles [D-errors-16]", async ({
	expect,
}) => {
	const { destination, solana } = environment;
	const to = { chain: destination, token: "ORB" };
	const large = parseUnits("2000", 6);
	const [whale, account] = [
		await solana.newWallet({ usdc: large }),
		await solana.newWallet({ usdc: tenUsdc }),
	];
	const [first, tight] = await Promise.all([
		steps.scene(whale, { amount: large, to }),
		steps.scene(account, { to, slippageBps: 1 }),
	]);
	expect((await steps.submit(first.built, first.signed)).status).toBe(200);
	const refused = await steps.submit(tight.built, tight.signed);
	expectRefusal(expect, refused, "LIQUIDITY_CHANGED", { reason: "price" });
	expectRefusal(expect, await steps.status(tight.quote), "SWAP_NOT_FOUND");
	const fresh = await steps.scene(account, { to });
	expect((await steps.submit(fresh.built, fresh.signed)).status).toBe(200);
	const swaps = [first, fresh].map(({ quote }) => waitForSwap(client, quote.swapId));
	expect((await Promise.all(swaps)).map(({ status }) => status)).toEqual(["settled", "settled"]);
});

test("after all these swaps the books match the chains to the unit", async ({ expect }) => {
	await expectBooksAgree(expect, environment);
});

function base64(bytes: Uint8Array): string {
	return Buffer.from(bytes).toString("base64");
}

/** Sets unused bits of the last character, so that a lenient decoder reads the same bytes. */
function nonCanonical(bytes: Uint8Array): string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const text = base64(bytes);
	const at = text.indexOf("=") - 1;
	if (at < 0) return text;
	return text.slice(0, at) + alphabet.charAt(alphabet.indexOf(text.charAt(at)) + 1) + text.slice(at + 1);
}

/**
 * Returns the number of signers of a message, which is the byte after its version, or the first byte if it has none.
 */
function signerCount(message: Uint8Array): number {
	return message[message[0] === 0x80 ? 1 : 0] ?? 0;
}

function changeData(instructions: MessageDraft["instructions"], at: number, byte: number): void {
	const instruction = instructions[at];
	const data = new Uint8Array(instruction?.data ?? []);
	data[byte] = (data[byte] ?? 0) ^ 1;
	if (instruction) instructions[at] = { ...instruction, data };
}

function changeAccount(instructions: MessageDraft["instructions"], at: number, address: SolanaAddress): void {
	const transfer = instructions[3];
	const accounts = transfer?.accounts?.map((meta, i) => (i === at ? { ...meta, address } : meta));
	if (transfer && accounts) instructions[3] = { ...transfer, accounts };
}

async function moveUsdc(from: KeyPairSigner, to: KeyPairSigner, amount: bigint): Promise<void> {
	const { solana } = environment;
	const mint = assetAddress(solana, "USDC");
	const [source, destination] = [
		await tokenAccountOf({ owner: from.address, token: mint }),
		await tokenAccountOf({ owner: to.address, token: mint }),
	];
	const transfer = { source, mint, destination, authority: from, amount, decimals: 6 };
	await sendSolana(solana, { feePayer: from, instructions: [getTransferCheckedInstruction(transfer)] });
}
