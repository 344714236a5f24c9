import { emptyAccountRentLamports, tokenAccountOf } from "@geoswap/protocol";
import {
	type Address,
	address,
	createSolanaRpc,
	generateKeyPairSigner,
	lamports,
	type Signature,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { getTransferCheckedInstruction } from "@solana-program/token";
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

test("a token transfer between two genesis accounts changes their balances", async () => {
	const { vault } = solana.deployment.program;
	const [usdc] = solana.deployment.assets;
	if (!usdc) throw new Error("there are assets");
	const [source, destination] = await Promise.all(
		[client.wallet.address, vault].map((owner) => tokenAccountOf({ owner, token: usdc.address })),
	);
	if (!source || !destination) throw new Error("a transfer has two ends");
	expect(await balanceOf(client.wallet.address)).toBe(0n);
	const transfer = getTransferCheckedInstruction({
		source,
		mint: usdc.address,
		destination,
		authority: client.wallet,
		amount: 25_000_000n,
		decimals: 6,
	});
	const { signature } = await client.land([transfer]);
	const { value } = await client.rpc.getTokenAccountBalance(destination, { commitment: "confirmed" }).send();
	expect(value).toMatchObject({ amount: "5000025000000", decimals: 6, uiAmountString: "5000025" });

	const landed = await client.rpc
		.getTransaction(signature, {
			encoding: "base64",
			commitment: "confirmed",
			maxSupportedTransactionVersion: 0,
		})
		.send();
	expect(landed?.meta?.preTokenBalances).toMatchObject([
		{ mint: usdc.address, owner: vault, uiTokenAmount: { amount: "5000000000000" } },
		{ mint: usdc.address, owner: client.wallet.address, uiTokenAmount: { amount: "10000000000" } },
	]);
	expect(landed?.meta?.postTokenBalances).toMatchObject([
		{ owner: vault, uiTokenAmount: { amount: "5000025000000" } },
		{ owner: client.wallet.address, uiTokenAmount: { amount: "9975000000" } },
	]);
	const held = await client.rpc
		.getTokenAccountsByOwner(
			vault,
			{ mint: usdc.address },
			{ encoding: "jsonParsed", commitment: "confirmed" },
		)
		.send();
	expect(held.value).toMatchObject([
		{
			pubkey: destination,
			account: { data: { parsed: { info: { tokenAmount: { amount: "5000025000000" } } } } },
		},
	]);
});

test("a confirmed transaction is not final yet, and each commitment reads its own slot", async () => {
	const to = await newAddress();
	await solana.admin.setFaults({ stallFinality: true });
	const { signature, status } = await client.land([transferSol(client.payer, to, sol)]);
	expect(status.confirmationStatus).toBe("confirmed");
	expect(status.confirmations).toBeGreaterThan(0n);
	const finalized = await client.rpc.getMultipleAccounts([to], { commitment: "finalized" }).send();
	expect(finalized.value).toEqual([null]);
	expect(finalized.context.slot).toBeLessThan(status.slot);
	const confirmed = await client.rpc
		.getAccountInfo(to, { commitment: "confirmed", encoding: "base64" })
		.send();
	expect(confirmed.value?.lamports).toBe(sol);
	expect(confirmed.context.slot).toBeGreaterThanOrEqual(status.slot);
	const read = (commitment: "confirmed" | "finalized") =>
		client.rpc
			.getTransaction(signature, { commitment, encoding: "base64", maxSupportedTransactionVersion: 0 })
			.send();
	expect(await read("finalized")).toBeNull();
	expect(await read("confirmed")).not.toBeNull();

	await solana.admin.setFaults({});
	await solana.admin.warp({ slots: 32 });
	expect(await balanceOf(to, "finalized")).toBe(sol);
	expect(await read("finalized")).toMatchObject({ slot: status.slot });
	expect(await client.statusOf(signature)).toMatchObject({
		confirmationStatus: "finalized",
		confirmations: null,
	});
});

test("signatures of an address are listed newest first, within before, until and limit", async () => {
	const to = await newAddress();
	const made: Signature[] = [];
	for (let i = 0; i < 4; i++)
		made.unshift((await client.land([transferSol(client.payer, to, sol + BigInt(i))])).signature);
	const list = async (config: object) => {
		const found = await client.rpc.getSignaturesForAddress(to, { commitment: "confirmed", ...config }).send();
		return found.map(({ signature }) => signature);
	};
	expect(await list({})).toEqual(made);
	expect(await list({ before: made[0], limit: 2 })).toEqual(made.slice(1, 3));
	expect(await list({ until: made[2] })).toEqual(made.slice(0, 2));
});

test("an old status is found only by a search of the history", async () => {
	const { signature } = await client.land([transferSol(client.payer, await newAddress(), sol)]);
	await solana.admin.warp({ slots: 160 });
	expect((await client.rpc.getSignatureStatuses([signature]).send()).value).toEqual([null]);
	expect(await client.statusOf(signature)).not.toBeNull();
	await expect(client.rpc.getSignatureStatuses(Array(257).fill(signature)).send()).rejects.toThrow();
});

test("amounts above 2^53 are returned exactly", async () => {
	const owner = await newAddress();
	const [usdc] = solana.deployment.assets;
	if (!usdc) throw new Error("there are assets");
	const amount = 9_007_199_254_740_993n;
	await solana.admin.mintTo({ owner, token: usdc.address, amount });
	await solana.admin.airdrop({ address: owner, lamports: amount });
	const account = await tokenAccountOf({ owner, token: usdc.address });
	for (const commitment of ["processed", "confirmed", "finalized"] as const) {
		expect(await balanceOf(owner, commitment)).toBe(amount);
		const { value } = await client.rpc.getTokenAccountBalance(account, { commitment }).send();
		expect(value.amount).toBe(String(amount));
	}
});

test("the RPC methods that wallets call are supported, and an unknown method is an error", async () => {
	const { rpc } = client;
	const to = await newAddress();
	const airdrop = await rpc.requestAirdrop(to, lamports(sol)).send();
	await expect.poll(async () => (await client.statusOf(airdrop))?.err).toBeNull();
	const { absoluteSlot, blockHeight } = await rpc.getEpochInfo({ commitment: "confirmed" }).send();
	expect(absoluteSlot).toBeGreaterThan(blockHeight);
	expect(Math.abs(Number(await rpc.getBlockTime(absoluteSlot).send()) - Date.now() / 1_000)).toBeLessThan(5);
	expect(await rpc.getGenesisHash().send()).toBe(solana.deployment.genesisHash);
	expect(await rpc.getHealth().send()).toBe("ok");
	expect(await rpc.getMinimumBalanceForRentExemption(0n).send()).toBe(emptyAccountRentLamports);
	expect((await rpc.getRecentPrioritizationFees().send()).length).toBeGreaterThan(0);
	const { transaction } = await client.sign([transferSol(client.payer, to, sol)], {
		unitLimit: 1_000_000,
		unitPrice: 1_000_000n,
	});
	const message = Buffer.from(transaction.messageBytes as unknown as Uint8Array).toString("base64") as never;
	expect((await rpc.getFeeForMessage(message, { commitment: "confirmed" }).send()).value).toBe(1_005_000n);
	const response = await fetch(solana.rpcUrl, {
		method: "POST",
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getNothing" }),
	});
	expect(await response.json()).toMatchObject({ error: { code: -32601 } });
});

test("subscribers are notified of accounts, logs and slots", async () => {
	const to = await newAddress();
	const abortSignal = AbortSignal.timeout(10_000);
	const [accounts, logs, slots] = await Promise.all([
		client.rpcSubscriptions
			.accountNotifications(to, { commitment: "confirmed", encoding: "base64" })
			.subscribe({ abortSignal }),
		client.rpcSubscriptions
			.logsNotifications({ mentions: [to] }, { commitment: "confirmed" })
			.subscribe({ abortSignal }),
		client.rpcSubscriptions.slotNotifications().subscribe({ abortSignal }),
	]);
	const first = async <T>(all: AsyncIterable<T>): Promise<T> => {
		for await (const one of all) return one;
		throw new Error("it ended");
	};
	const [account, log, slot, { signature }] = await Promise.all([
		first(accounts),
		first(logs),
		first(slots),
		client.land([transferSol(client.payer, to, sol)]),
	]);
	expect(account.value.lamports).toBe(sol);
	expect(log.value).toMatchObject({ signature, err: null });
	expect(slot.slot).toBeGreaterThan(slot.root);
});

test("block heights fall behind slots if slots are skipped", async () => {
	const skipping = await startTestSolana({ slotMs: 20, skipEvery: 3 });
	try {
		const rpc = createSolanaRpc(skipping.rpcUrl);
		const before = await rpc.getEpochInfo({ commitment: "processed" }).send();
		await skipping.admin.warp({ slots: 90 });
		const after = await rpc.getEpochInfo({ commitment: "processed" }).send();
		const slots = after.absoluteSlot - before.absoluteSlot;
		const heights = after.blockHeight - before.blockHeight;
		expect(slots).toBeGreaterThanOrEqual(89n);
		expect(Number(heights) / Number(slots)).toBeCloseTo(2 / 3, 1);
		const other = await solanaClient(skipping);
		const { transaction } = await other.sign([
			transferSol(other.payer, address("11111111111111111111111111111112"), sol),
		]);
		await other.sendAndConfirm(transaction, { commitment: "finalized" });
	} finally {
		await skipping.stop();
	}
});
