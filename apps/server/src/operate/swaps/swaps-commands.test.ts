import { randomBytes } from "node:crypto";
import {
	addressOfWord,
	formatAddress,
	formatTransactionHash,
	solanaChainId,
	toSwapId,
} from "@geoswap/protocol";
import { bytesToHex, hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { anyOrder } from "../../../../../packages/protocol/vectors/read-vectors.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { createSwapScene, destinationId, originId, roundOptions } from "../../../test/swap/swap-scene.ts";
import { explainSwapCommand, showSwapsCommand } from "./swaps-commands.ts";

let database: TestDatabase;
const said: string[] = [];
beforeAll(async () => {
	database = await createTestDatabase();
	// A login with only the auditor's rights, which must be enough for each command.
	vi.stubEnv("AUDITOR_DATABASE_URL", database.urls.auditor);
	for (const method of ["log", "error"] as const)
		vi.spyOn(console, method).mockImplementation((line: string) => void said.push(line));
});
beforeEach(() => {
	said.length = 0;
});
afterAll(async () => {
	vi.unstubAllEnvs();
	vi.restoreAllMocks();
	await database?.drop();
});

const config = () => roundOptions(database.pool, { nowMs: 0 }).config;
const show = (key: string, options: { limit?: string; json?: boolean } = {}) =>
	showSwapsCommand({ key, config: "none.json", limit: "20", days: "30", ...options }, config);
const explain = (key: string, options: { json?: boolean } = {}) =>
	explainSwapCommand({ key, config: "none.json", ...options }, config);

/** Writes a transaction that a lane has signed for a job of the swap. */
async function sign(
	swapId: string,
	{ chainId, kind, hash }: { chainId: number; kind: string; hash: Buffer },
) {
	await database.owner.query(
		`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
			sent_at_block) values ($1, $2, $3, 0, $4, '\\x', $5, $6, 1, 'broadcast', 1)`,
		[
			chainId,
			randomBytes(chainId === solanaChainId ? 32 : 20),
			7,
			hash,
			kind,
			JSON.stringify([{ swapId, kind, orderId: "0x01" }]),
		],
	);
}

test("a swap is found by its id, its UUID, its order, and a transaction of any side, regardless of its sender", async () => {
	const scene = await createSwapScene(database.pool);
	const [fill, refund, solanaPayout] = [randomBytes(32), randomBytes(32), randomBytes(64)];
	await scene.emit("Opened", originId);
	await sign(scene.uuid, { chainId: destinationId, kind: "fill", hash: fill });
	await sign(scene.uuid, { chainId: originId, kind: "refund", hash: refund });
	await database.owner.query("insert into chain_heads values ($1, 1, '\\x', 1, 1, 1, 1, 0, 0)", [
		solanaChainId,
	]);
	await sign(scene.uuid, { chainId: solanaChainId, kind: "fill", hash: solanaPayout });
	const { rows } = await database.owner.query(
		"select transaction_hash from chain_events where order_id = $1",
		[hexToBytes(scene.orderId)],
	);
	const swapId = toSwapId(scene.uuid);
	for (const key of [
		swapId,
		scene.uuid,
		scene.orderId,
		bytesToHex(rows[0].transaction_hash),
		bytesToHex(fill),
		bytesToHex(refund),
		formatTransactionHash(solanaChainId, bytesToHex(solanaPayout)),
	]) {
		said.length = 0;
		expect(await show(key), key).toBe(0);
		expect(said[0], key).toContain(swapId);
	}
});

test("one swap is shown completely with its terms, the place of its money, its history, jobs and events, also as JSON", async () => {
	const scene = await createSwapScene(database.pool);
	await database.pool.query("insert into swap_events (swap_id, fact) values ($1, 'opening')", [scene.uuid]);
	const hash = randomBytes(32);
	await sign(scene.uuid, { chainId: originId, kind: "open", hash });
	await scene.emit("Opened", originId);
	expect(await show(scene.uuid)).toBe(0);
	const text = said.join("\n");
	const { inputAmount, minOutput, inputToken } = anyOrder();
	const token = addressOfWord(originId, inputToken);
	expect(text).toContain(`input      ${inputAmount} units of ${token} on chain ${originId}, worth 40 USD`);
	expect(text).toContain(`minimum    ${minOutput} units`);
	expect(text).toContain("held by the wallet");
	expect(text).toMatch(
		new RegExp(`open signed by 0x\\w+ for chain ${originId}, nonce 7.*${bytesToHex(hash)}`),
	);
	expect(text).toMatch(/ {2}\S+Z {2}opening\n/);
	expect(text).toContain(`Opened on chain ${originId}, block 100, not final`);

	said.length = 0;
	expect(await show(scene.uuid, { json: true })).toBe(0);
	expect(JSON.parse(said[0] ?? "")).toMatchObject({
		swaps: [
			{
				swapId: toSwapId(scene.uuid),
				status: "pending",
				stage: "opening",
				funds: { chainId: originId, holder: "wallet", amount: String(inputAmount) },
				terms: { input: { token, amount: String(inputAmount) }, minOutput: { amount: String(minOutput) } },
				history: {
					facts: [{ fact: "opening" }],
					transactions: [{ kind: "open", state: "broadcast", hash: bytesToHex(hash) }],
					events: [{ name: "Opened", isFinal: false }],
					jobs: [],
				},
			},
		],
	});
});

test("the swaps of a wallet or a recipient are listed, newest first, up to the limit", async () => {
	const first = await createSwapScene(database.pool);
	const second = await createSwapScene(database.pool);
	const { wallet, recipient } = anyOrder();
	expect(await show(addressOfWord(originId, wallet).toLowerCase(), { limit: "2", json: true })).toBe(0);
	const { swaps } = JSON.parse(said[0] ?? "");
	expect(swaps.map(({ uuid }: { uuid: string }) => uuid)).toEqual(
		[first.uuid, second.uuid].toSorted().toReversed(),
	);
	expect(swaps[0].history).toBeUndefined();

	said.length = 0;
	expect(await show(formatAddress(destinationId, addressOfWord(destinationId, recipient)))).toBe(0);
	expect(said[0]?.split("\n").length).toBeGreaterThanOrEqual(2);
	expect(said[0]).toContain(`${toSwapId(second.uuid)}  `);
	await expect(explain(addressOfWord(originId, wallet))).rejects.toThrow("names several swaps");
});

test("a well-formed argument that matches no swap exits 1 with a hint, and one that cannot match any is a usage error", async () => {
	for (const command of [show, explain]) {
		for (const [key, hint] of [
			["0190a000-0000-7000-8000-000000000000", "AUDITOR_DATABASE_URL"],
			[bytesToHex(randomBytes(32)), "has signed it"],
			[bytesToHex(randomBytes(20)), "--days"],
		] as const) {
			said.length = 0;
			expect(await command(key)).toBe(1);
			expect(said).toEqual([expect.stringContaining(`no swap is known by ${key}`)]);
			expect(said[0]).toContain(hint);
		}
		await expect(command("swp_what")).rejects.toThrow("is neither the id of a swap");
	}
	await expect(show(bytesToHex(randomBytes(20)), { limit: "0" })).rejects.toThrow("--limit");
});

test("explain prints its findings, as text and as JSON", async () => {
	const scene = await createSwapScene(database.pool);
	expect(await explain(scene.uuid)).toBe(0);
	expect(said[0]).toMatch(
		/^swp_\w+ {2}pending, stage opening\nopening: The order is not open yet.*\nfacts\n.*\na round would do now\n {2}queues the job open\nit waits for\n {2}the next round/s,
	);
	said.length = 0;
	expect(await explain(toSwapId(scene.uuid), { json: true })).toBe(0);
	expect(JSON.parse(said[0] ?? "")).toMatchObject({
		swap: { uuid: scene.uuid },
		fact: "opening",
		actions: ["queues the job open"],
		jobs: [],
		pauses: [],
	});
});
