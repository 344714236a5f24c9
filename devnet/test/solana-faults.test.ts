import { type Address, generateKeyPairSigner } from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startTestSolana, type TestSolana } from "../src/index.ts";
import { type SolanaClient, solanaClient } from "./solana-client.ts";

const sol = 1_000_000_000n;

let solana: TestSolana;
let client: SolanaClient;
beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 50 });
	client = await solanaClient(solana);
});
afterEach(() => solana.admin.setFaults({}));
afterAll(() => solana?.stop());

async function transferTo(to: Address, amount = sol) {
	return client.sign([getTransferSolInstruction({ source: client.payer, destination: to, amount })]);
}

async function newAddress(): Promise<Address> {
	return (await generateKeyPairSigner()).address;
}

async function balanceOf(owner: Address) {
	return (await client.rpc.getBalance(owner, { commitment: "processed" }).send()).value;
}

test("a dropped send returns its signature, and lands only when it is sent again", async () => {
	const signed = await transferTo(await newAddress());
	await solana.admin.setFaults({ dropSends: true });
	expect(await client.send(signed.wire)).toBe(signed.signature);
	await solana.admin.warp({ slots: 5 });
	expect(await client.statusOf(signed.signature)).toBeNull();
	await solana.admin.setFaults({});
	await client.send(signed.wire);
	await solana.admin.warp({ slots: 1 });
	expect((await client.statusOf(signed.signature))?.err).toBeNull();
});

test("a fault for the next call ends after that call", async () => {
	const [first, second] = await Promise.all([transferTo(await newAddress()), transferTo(await newAddress())]);
	await solana.admin.setFaults({ dropSends: { next: 1 } });
	await client.send(first.wire);
	await client.send(second.wire);
	await solana.admin.warp({ slots: 2 });
	expect(await client.statusOf(first.signature)).toBeNull();
	expect(await client.statusOf(second.signature)).not.toBeNull();
});

test("a delayed send lands in a later slot", async () => {
	const signed = await transferTo(await newAddress());
	await solana.admin.setFaults({ delaySendMs: 300 });
	const sentAt = await client.rpc.getSlot({ commitment: "processed" }).send();
	await client.send(signed.wire);
	await expect.poll(() => client.statusOf(signed.signature), { interval: 20 }).not.toBeNull();
	const status = await client.statusOf(signed.signature);
	expect(status?.slot).toBeGreaterThanOrEqual(sentAt + 4n);
});

test("a call whose answer is dropped was still executed", async () => {
	const to = await newAddress();
	const signed = await transferTo(to);
	await solana.admin.setFaults({ dropAnswers: { methods: ["sendTransaction"] } });
	await expect(client.send(signed.wire)).rejects.toThrow();
	await solana.admin.warp({ slots: 1 });
	expect(await balanceOf(to)).toBe(sol);
	await solana.admin.setFaults({ dropAnswers: true });
	await expect(client.rpc.getSlot().send()).rejects.toThrow();
});

test("a delayed answer does not delay other answers", async () => {
	await solana.admin.setFaults({ delayAnswersMs: { ms: 500, methods: ["getSlot"] } });
	const startedAt = performance.now();
	const answered: string[] = [];
	await Promise.all([
		client.rpc
			.getSlot()
			.send()
			.then(() => answered.push("getSlot")),
		client.rpc
			.getBlockHeight()
			.send()
			.then(() => answered.push("getBlockHeight")),
	]);
	expect(performance.now() - startedAt).toBeGreaterThanOrEqual(490);
	expect(answered).toEqual(["getBlockHeight", "getSlot"]);
});

test("while finality is stalled, blocks continue; finality catches up afterwards", async () => {
	await solana.admin.setFaults({ stallFinality: true });
	const finalized = () => client.rpc.getSlot({ commitment: "finalized" }).send();
	const before = await finalized();
	await solana.admin.warp({ slots: 100 });
	expect(await finalized()).toBe(before);
	expect(await client.rpc.getSlot({ commitment: "confirmed" }).send()).toBeGreaterThan(before + 100n);
	await solana.admin.setFaults({});
	await solana.admin.warp({ slots: 1 });
	expect(await finalized()).toBeGreaterThan(before + 100n);
});

test("a false status reports a landed transaction as unknown, either for all signatures or for the given ones", async () => {
	const to = await newAddress();
	const [lied, other] = await Promise.all([transferTo(to), transferTo(to, 2n * sol)]);
	await Promise.all([lied, other].map(({ wire }) => client.send(wire)));
	await solana.admin.warp({ slots: 5 });
	const read = ({ signature }: typeof lied) =>
		client.rpc.getTransaction(signature, { encoding: "base64", maxSupportedTransactionVersion: 0 }).send();
	await solana.admin.setFaults({ lieAboutStatus: "unknown" });
	expect(await client.statusOf(lied.signature)).toBeNull();
	expect(await read(lied)).toBeNull();
	expect(await balanceOf(to)).toBe(3n * sol);
	await solana.admin.setFaults({
		lieAboutStatus: { signatures: [lied.signature], methods: ["getTransaction"] },
	});
	expect(await read(lied)).toBeNull();
	expect(await read(other)).not.toBeNull();
	expect(await client.statusOf(lied.signature)).not.toBeNull();
});

test("a transaction dropped by a fork disappears with its effects, other transactions stay, and a final one cannot be dropped", async () => {
	const to = await newAddress();
	const other = await newAddress();
	await solana.admin.setFaults({ stallFinality: true });
	const [dropped, kept] = [await transferTo(to), await transferTo(other)];
	const before = await balanceOf(client.payer.address);
	await client.send(dropped.wire);
	await solana.admin.warp({ slots: 1 });
	await client.send(kept.wire);
	await solana.admin.warp({ slots: 4 });
	expect(await balanceOf(to)).toBe(sol);
	const slot = (await client.statusOf(dropped.signature))?.slot ?? 0n;

	await solana.admin.dropTransaction(dropped);
	expect(await client.statusOf(dropped.signature)).toBeNull();
	expect(await balanceOf(to)).toBe(0n);
	expect(await balanceOf(other)).toBe(sol);
	expect(await balanceOf(client.payer.address)).toBe(before - sol - 5_000n);
	expect(await client.rpc.getSignaturesForAddress(to, { commitment: "confirmed" }).send()).toEqual([]);
	expect((await client.statusOf(kept.signature))?.err).toBeNull();

	await client.send(dropped.wire);
	await solana.admin.warp({ slots: 1 });
	expect((await client.statusOf(dropped.signature))?.slot).toBeGreaterThan(slot);
	expect(await balanceOf(to)).toBe(sol);

	await solana.admin.setFaults({});
	await solana.admin.warp({ slots: 40 });
	await expect(solana.admin.dropTransaction(dropped)).rejects.toThrow("is final");
});
