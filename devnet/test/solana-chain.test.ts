import { emptyAccountRentLamports } from "@geoswap/protocol";
import {
	type Address,
	generateKeyPairSigner,
	getBase58Decoder,
	getTransactionEncoder,
	isSolanaError,
	SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM,
	SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
	SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
	SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED,
	SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
	SOLANA_ERROR__TRANSACTION_ERROR__INSUFFICIENT_FUNDS_FOR_RENT,
	type SolanaErrorCode,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestSolana, type TestSolana } from "../src/index.ts";
import { type SolanaClient, solanaClient } from "./solana-client.ts";

let solana: TestSolana;
let client: SolanaClient;
beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 50 });
	client = await solanaClient(solana);
});
afterAll(() => solana?.stop());

const sol = 1_000_000_000n;

function transferSol(from: SolanaClient["payer"], to: Address, amount: bigint) {
	return getTransferSolInstruction({ source: from, destination: to, amount });
}

async function newAddress(): Promise<Address> {
	return (await generateKeyPairSigner()).address;
}

async function balanceOf(owner: Address, commitment: "processed" | "confirmed" | "finalized" = "confirmed") {
	return (await client.rpc.getBalance(owner, { commitment }).send()).value;
}

/** Expects a send to be refused by its preflight, for this cause. */
async function expectPreflightFailure(sent: Promise<unknown>, cause: SolanaErrorCode) {
	const error = await sent.then(
		() => undefined,
		(thrown) => thrown,
	);
	expect(isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE)).toBe(
		true,
	);
	expect(isSolanaError(error.cause, cause), String(error.cause)).toBe(true);
	return error;
}

test("kit's sendAndConfirm works for confirmed and for finalized", async () => {
	for (const commitment of ["confirmed", "finalized"] as const) {
		const to = await newAddress();
		const { transaction } = await client.sign([transferSol(client.payer, to, sol)]);
		await client.sendAndConfirm(transaction, { commitment });
		expect(await balanceOf(to, commitment)).toBe(sol);
	}
});

test("the same signed bytes land once, even if they are sent several times", async () => {
	const to = await newAddress();
	const signed = await client.sign([transferSol(client.payer, to, sol)]);
	for (let i = 0; i < 5; i++) expect(await client.send(signed.wire)).toBe(signed.signature);
	const base58 = getBase58Decoder().decode(getTransactionEncoder().encode(signed.transaction));
	expect(
		await client.rpc
			.sendTransaction(base58 as typeof signed.wire, { encoding: "base58", skipPreflight: true })
			.send(),
	).toBe(signed.signature);
	await client.sendAndConfirm(signed.transaction, { commitment: "confirmed", skipPreflight: true });
	expect(await client.send(signed.wire)).toBe(signed.signature);
	await expectPreflightFailure(
		client.send(signed.wire, { skipPreflight: false }),
		SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED,
	);
	await solana.admin.warp({ slots: 3 });
	expect(await balanceOf(to)).toBe(sol);
	expect(await client.rpc.getSignaturesForAddress(to, { commitment: "confirmed" }).send()).toHaveLength(1);
});

test("a transaction with an expired blockhash fails the preflight, and never lands without one", async () => {
	const to = await newAddress();
	const lifetime = await client.latest();
	const early = await client.sign([transferSol(client.payer, to, sol)], { lifetime });
	const late = await client.sign([transferSol(client.payer, to, 2n * sol)], { lifetime });
	await solana.admin.warp({ slots: 50 });
	await client.sendAndConfirm(early.transaction, { commitment: "confirmed" });
	await solana.admin.warp({ slots: 110 });
	expect(await client.rpc.getBlockHeight({ commitment: "confirmed" }).send()).toBeGreaterThan(
		lifetime.lastValidBlockHeight,
	);
	expect((await client.rpc.isBlockhashValid(lifetime.blockhash).send()).value).toBe(false);
	await expectPreflightFailure(
		client.send(late.wire, { skipPreflight: false }),
		SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
	);
	await client.send(late.wire);
	await solana.admin.warp({ slots: 40 });
	expect(await client.statusOf(late.signature)).toBeNull();
	expect(await balanceOf(to, "finalized")).toBe(sol);
});

test("a preflight against the finalized state rejects a newer blockhash as unknown", async () => {
	await solana.admin.setFaults({ stallFinality: true });
	const { blockhash, lastValidBlockHeight } = (
		await client.rpc.getLatestBlockhash({ commitment: "processed" }).send()
	).value;
	const { wire } = await client.sign([transferSol(client.payer, await newAddress(), sol)], {
		lifetime: { blockhash, lastValidBlockHeight },
	});
	await expectPreflightFailure(
		client.rpc.sendTransaction(wire, { encoding: "base64", preflightCommitment: "finalized" }).send(),
		SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
	);
	await solana.admin.setFaults({});
});

test("a failed transaction lands with its error, and pays its fee and priority fee and nothing else", async () => {
	const { stranger } = client;
	const to = await newAddress();
	const before = await balanceOf(stranger.address);
	const tooMuch = [transferSol(stranger, to, 1_000_000n * sol)];
	const options = { payer: stranger, unitLimit: 123_457, unitPrice: 10_001n };
	const error = await expectPreflightFailure(
		client.sign(tooMuch, options).then(({ wire }) => client.send(wire, { skipPreflight: false })),
		SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM,
	);
	expect(error.context).toMatchObject({
		logs: expect.arrayContaining([expect.stringContaining("insufficient")]),
	});
	expect(error.cause.context).toMatchObject({ code: 1, index: 2 });

	const { signature, status } = await client.land(tooMuch, options);
	expect(status.err).toEqual({ InstructionError: [2n, { Custom: 1n }] });
	// The fee is one signature, and 123,457 units at 10,001 millionths, rounded up.
	const fee = 5_000n + 1_235n;
	expect(await balanceOf(stranger.address)).toBe(before - fee);
	const landed = await client.rpc
		.getTransaction(signature, {
			encoding: "json",
			commitment: "confirmed",
			maxSupportedTransactionVersion: 0,
		})
		.send();
	expect(landed?.meta).toMatchObject({ err: { InstructionError: [2n, { Custom: 1n }] }, fee });
	expect(landed?.meta?.preBalances[0]).toBe(before);
	expect(landed?.meta?.postBalances[0]).toBe(before - fee);
	expect(await balanceOf(to)).toBe(0n);
});

test("a transfer that leaves an account below its rent is refused with that error", async () => {
	const signed = await client.sign([
		transferSol(client.payer, await newAddress(), emptyAccountRentLamports - 1n),
	]);
	const error = await expectPreflightFailure(
		client.send(signed.wire, { skipPreflight: false }),
		SOLANA_ERROR__TRANSACTION_ERROR__INSUFFICIENT_FUNDS_FOR_RENT,
	);
	expect(error.cause.context).toMatchObject({ accountIndex: 1 });
});

test("a transaction whose payer cannot pay the fee never lands", async () => {
	const poor = await generateKeyPairSigner();
	const signed = await client.sign([transferSol(poor, await newAddress(), 1n)], { payer: poor });
	await client.send(signed.wire);
	await solana.admin.warp({ slots: 3 });
	expect(await client.statusOf(signed.signature)).toBeNull();
});

test("a wrong signature is refused by the preflight, and never lands without one", async () => {
	const to = await newAddress();
	const signed = await client.sign([transferSol(client.payer, to, sol)]);
	const bytes = Buffer.from(signed.wire, "base64");
	bytes[5] = (bytes[5] ?? 0) ^ 1;
	const forged = bytes.toString("base64") as typeof signed.wire;
	await expect(client.send(forged, { skipPreflight: false })).rejects.toSatisfy((error) =>
		isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE),
	);
	await client.send(forged);
	await solana.admin.warp({ slots: 3 });
	expect(await balanceOf(to, "processed")).toBe(0n);
});

test("a simulation returns the result of a transaction and changes nothing", async () => {
	const to = await newAddress();
	const { wire } = await client.sign([transferSol(client.payer, to, sol)]);
	const { value } = await client.rpc
		.simulateTransaction(wire, {
			encoding: "base64",
			commitment: "confirmed",
			sigVerify: true,
			accounts: { addresses: [to], encoding: "base64" },
		})
		.send();
	expect(value.err).toBeNull();
	expect(value.accounts?.[0]?.lamports).toBe(sol);
	expect(await balanceOf(to, "processed")).toBe(0n);

	await solana.admin.warp({ slots: 200 });
	const simulate = (replaceRecentBlockhash: boolean) =>
		client.rpc
			.simulateTransaction(wire, {
				encoding: "base64",
				commitment: "confirmed",
				...(replaceRecentBlockhash ? { replaceRecentBlockhash } : {}),
			})
			.send();
	expect((await simulate(false)).value.err).toBe("BlockhashNotFound");
	expect((await simulate(true)).value.err).toBeNull();
});

test("within a slot the transaction with the higher price runs first", async () => {
	const poor = await generateKeyPairSigner();
	await solana.admin.airdrop({ address: poor.address, lamports: 2n * sol });
	const to = await newAddress();
	const lifetime = await client.latest();
	// The balance is enough for only one of them.
	const low = await client.sign([transferSol(poor, to, (3n * sol) / 2n)], { lifetime, unitPrice: 1n });
	const high = await client.sign([transferSol(poor, to, (3n * sol) / 2n)], { lifetime, unitPrice: 1_000n });
	await fetch(solana.rpcUrl, {
		method: "POST",
		body: JSON.stringify(
			[low, high].map(({ wire }, id) => ({
				jsonrpc: "2.0",
				id,
				method: "sendTransaction",
				params: [wire, { encoding: "base64", skipPreflight: true }],
			})),
		),
	});
	await solana.admin.warp({ slots: 3 });
	expect((await client.statusOf(high.signature))?.err).toBeNull();
	expect((await client.statusOf(low.signature))?.err).toEqual({ InstructionError: [2n, { Custom: 1n }] });
});

test("malformed transactions do not stop the chain", async () => {
	const { wire } = await client.sign([transferSol(client.payer, await newAddress(), sol)]);
	const good = Buffer.from(wire, "base64");
	for (let i = 0; i < good.length; i++) {
		const bytes = Buffer.from(good);
		bytes[i] = (bytes[i] ?? 0) ^ 0xff;
		const garbled = [bytes, bytes.subarray(0, i)].map((some) => some.toString("base64") as typeof wire);
		const sends = garbled.flatMap((one) =>
			[true, false].map((skipPreflight) => client.send(one, { skipPreflight })),
		);
		await Promise.allSettled(sends);
	}
	await solana.admin.warp({ slots: 1 });
	expect(await client.rpc.getHealth().send()).toBe("ok");
});
