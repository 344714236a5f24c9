import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestChains, type TestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { pino } from "pino";
import { type Address, type Hex, hexToBytes } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { assetAddress, orderActions } from "../../../test/order/order-actions.ts";
import { interceptPool } from "../../../test/service/intercept-pool.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { moveIdOf, moveRows } from "../../../test/treasury/move-rows.ts";
import { treasurerActions } from "../../../test/treasury/treasurer-actions.ts";
import { reconcile } from "../../audit/reconcile.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { advance } from "../../follow/evm/advance.ts";
import { writeOffMove } from "../../money/move/decide-move.ts";
import { declareFlow, type Flow } from "../../money/move/declared-flows.ts";
import { readTreasuryPause } from "../../money/move/treasury-pause.ts";
import { advanceMoves } from "../../treasury/advance-moves.ts";
import { adoptCommand, cancelCommand, retryCommand, writeOffCommand } from "./decide-commands.ts";
import { pauseCommand, resumeCommand } from "./pause-commands.ts";
import { planCommand } from "./plan-command.ts";
import { movesCommand, showMoveCommand } from "./treasury-commands.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-treasury-"));
const config = join(folder, "geoswap.json");
const by = { by: "ada", reason: "a test" };
const noId = "00000000-0000-0000-0000-000000000000";

let chains: TestChains;
let actions: Awaited<ReturnType<typeof treasurerActions>>;
let rows: ReturnType<typeof moveRows>;
let database: TestDatabase;
let usdc: Address;
const said: string[] = [];
const errors: string[] = [];

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	actions = await treasurerActions(chains);
	rows = moveRows(database.pool, { chains, actions });
	usdc = assetAddress(chains.origin, "USDC");
	const pace = { finalitySeconds: 5, openSeconds: 75, fillSeconds: 45, refundSeconds: 30 };
	const nodes = [chains.origin, chains.destination].map(
		({ chainId, rpcUrl }) => [chainId, { nodes: [{ url: rpcUrl }], ...pace }] as const,
	);
	writeFileSync(join(folder, "deployment.json"), formatDeployment(chains.deployment));
	writeFileSync(
		config,
		JSON.stringify({
			deployment: "deployment.json",
			chains: Object.fromEntries(nodes),
			attesters: [7, 8].map((port) => ({ url: `http://127.0.0.1:${port}` })),
			api: { port: 0 },
			worker: { port: 0 },
			restate: { ingressUrl: "http://127.0.0.1:9", adminUrl: "http://127.0.0.1:9" },
		}),
	);
	vi.stubEnv("DATABASE_URL", database.urls.owner);
	vi.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
	vi.spyOn(console, "error").mockImplementation((line: string) => void errors.push(line));
	await follow();
});
beforeEach(() => {
	said.length = 0;
	errors.length = 0;
});
afterAll(async () => {
	vi.unstubAllEnvs();
	vi.restoreAllMocks();
	await actions?.stop();
	await database?.drop();
	await chains?.stop();
	rmSync(folder, { recursive: true });
});

/** Follows both chains until everything that happened is final and booked. */
async function follow(): Promise<void> {
	await orderActions(chains).finalize();
	for (const chain of [chains.origin, chains.destination]) {
		const following = {
			chain: connectChain(chain),
			pool: database.pool,
			engine: { poke: async () => {} },
			relayers: [],
			log: pino({ level: "silent" }),
		};
		while (await advance(following));
	}
}

async function breaches(): Promise<string[]> {
	await follow();
	const report = await reconcile({
		pool: database.pools.auditor,
		chains: [chains.origin, chains.destination],
		earlierAttesterSets: [],
		nowMs: Date.now(),
	});
	return report.breaches.map(({ invariant }) => invariant);
}

/** Returns a move as `show --json` prints it, after the lines for people. */
async function show(id: string): Promise<{ flow: Record<keyof Flow, unknown>; lines: string }> {
	said.length = 0;
	expect(await showMoveCommand({ id, config })).toBe(0);
	const lines = said.join("\n");
	said.length = 0;
	expect(await showMoveCommand({ id, config, json: true })).toBe(0);
	return { flow: JSON.parse(said.pop() ?? ""), lines };
}

async function rowOf(id: string) {
	const { rows: found } = await database.owner.query("select * from treasury_moves where id = $1", [id]);
	return found[0];
}

async function reserved(): Promise<bigint> {
	const { rows: found } = await database.owner.query<{ reserved: bigint }>(
		"select reserved from inventory where chain_id = $1 and token = $2",
		[chains.origin.chainId, hexToBytes(usdc)],
	);
	return found[0]?.reserved ?? 0n;
}

async function balances(): Promise<Record<string, bigint>> {
	const { rows: sums } = await database.owner.query<{ account: string; sum: string }>(
		`select account, sum(amount)::text as sum from entries
		where chain_id = $1 and token = $2 and account in ('bridge', 'loss') group by 1`,
		[chains.origin.chainId, hexToBytes(usdc)],
	);
	return Object.fromEntries(sums.map(({ account, sum }) => [account, BigInt(sum)]));
}

test("a queued move is cancelled with its reservation, and a declaration without one, and the row has who did it and why", async () => {
	const before = await reserved();
	const id = await rows.queue({ moveId: moveIdOf("cancelled"), amount: 7n });
	expect(await reserved()).toBe(before + 7n);
	const { lines } = await show(id);
	expect(lines).toContain("waits for the treasurer's key to sign it");
	expect(lines).toMatch(/late from 20\S+ on/);
	expect(await cancelCommand({ id, ...by })).toBe(0);
	expect(await reserved()).toBe(before);
	expect(await rowOf(id)).toMatchObject({
		state: "cancelled",
		data: { cancelledBy: "ada", cancelReason: "a test", minFinalityThreshold: 2_000 },
	});

	const { chainId, deployment } = chains.origin;
	const holder = deployment.contracts.vault;
	const deposit = { kind: "deposit", chainId, token: usdc, amount: 5n, holder, ...by } as const;
	const declared = await declareFlow(database.owner, deposit);
	expect(await cancelCommand({ id: declared, ...by, json: true })).toBe(0);
	expect(JSON.parse(said.pop() ?? "")).toEqual({ id: declared, state: "cancelled", refusal: null });
	expect(await rowOf(declared)).toMatchObject({ state: "cancelled", data: { cancelledBy: "ada" } });
	expect(await reserved()).toBe(before);
});

test("a move that is signed or made, and one that is not there, are not cancelled", async () => {
	const id = await rows.queue({ moveId: moveIdOf("sent"), amount: 8n });
	await rows.change(id, "queued", "sent");
	const before = await reserved();
	expect(await cancelCommand({ id, ...by })).toBe(1);
	expect(errors.pop()).toBe(`error: ${id} is sent: only what is queued can be cancelled`);
	expect(await reserved()).toBe(before);
	expect(await rowOf(id)).toMatchObject({ state: "sent" });
	await rows.change(id, "sent", "failed", { problem: "its transaction was reverted or replaced" });
	const { lines } = await show(id);
	expect(lines).toContain("failed: its transaction was reverted or replaced");
	expect(lines).not.toContain("late from");

	expect(await cancelCommand({ id: noId, ...by, json: true })).toBe(1);
	expect(JSON.parse(said.pop() ?? "")).toEqual({ id: noId, state: null, refusal: null });
	expect(errors.pop()).toMatch(/no declaration or move has the id/);
	await expect(cancelCommand({ id: "1", ...by })).rejects.toThrow("is not the id of a move");
});

test("a stuck bridge is looked at again from its burn on, and any other move is not", async () => {
	const { id, transactionHash } = await rows.burn("retried", 1_000_000n);
	expect(await retryCommand({ id, ...by })).toBe(1);
	expect(errors.pop()).toBe(`error: ${id} is moved: only a stuck bridge can be retried`);
	const bytes = hexToBytes(transactionHash);
	await rows.change(id, "moved", "stuck", {
		problem: "wrong mint: another recipient",
		message: bytes,
		attestation: bytes,
		nonce: bytes,
		reattested_at: new Date(),
		look_at: new Date(),
	});
	expect((await show(id)).lines).toContain("stuck: wrong mint: another recipient. It is still looked at");
	const earliest = Date.now() + 3_600_000;
	expect(await retryCommand({ id, ...by, json: true })).toBe(0);
	expect(JSON.parse(said.pop() ?? "")).toEqual({ id, state: "moved", refusal: null });
	const row = await rowOf(id);
	expect(row).toMatchObject({
		state: "moved",
		problem: null,
		look_at: null,
		message: null,
		attestation: null,
		nonce: null,
		reattested_at: null,
		data: { retriedBy: "ada", retryReason: "a test" },
	});
	expect(row.due_at.getTime()).toBeGreaterThanOrEqual(earliest);

	await follow();
	await rows.arrive(id, transactionHash, 1_000_000n);
	expect((await show(id)).lines).toMatch(
		/arrived, and waits until .*\n.*\n.*\n.*\n.*arrived with 0x.* on chain 31338/,
	);
	await rows.change(id, "arrived", "final");
	const { flow, lines } = await show(id);
	expect(flow).toMatchObject({
		state: "final",
		amount: "1000000",
		received: "1000000",
		transaction: transactionHash,
	});
	expect(lines).toContain("received 1 USDC");
});

test("a stuck bridge is written off in the books and in its row, both or neither, and only once its burn is booked", async () => {
	const before = await balances();
	const { id } = await rows.burn("lost", 2_000_000n);
	expect(await writeOffCommand({ id, ...by })).toBe(1);
	expect(errors.pop()).toMatch(/is moved: only a stuck bridge can be written off$/);
	await rows.change(id, "moved", "stuck", { problem: "it is late" });
	expect(await writeOffCommand({ id, ...by })).toBe(1);
	expect(errors.pop()).toMatch(/is stuck: its burn is not booked yet/);

	await follow();
	const failing = interceptPool(database.owner, {
		before: async (statement) => {
			if (statement.includes("set data = data")) throw new Error("the connection is lost");
		},
	});
	await expect(writeOffMove(failing, { id, ...by })).rejects.toThrow("the connection is lost");
	expect(await rowOf(id)).toMatchObject({ state: "stuck", posting_key: null });
	const { bridge = 0n, loss = 0n } = before;
	expect(await balances()).toEqual({ ...before, bridge: bridge + 2_000_000n });

	expect(await writeOffCommand({ id, ...by })).toBe(0);
	expect(await balances()).toEqual({ ...before, bridge, loss: loss + 2_000_000n });
	expect(await rowOf(id)).toMatchObject({
		state: "lost",
		data: { writtenOffBy: "ada", writeOffReason: "a test" },
	});
	expect(await breaches()).toEqual([]);
	expect(await writeOffCommand({ id, ...by })).toBe(1);
	expect(await balances()).toEqual({ ...before, bridge, loss: loss + 2_000_000n });
	expect((await show(id)).lines).toContain("written off as a loss: it is late");
});

test("while the treasury is paused no move is queued, and lists and plans say who paused it and why", async () => {
	await pauseCommand(by);
	expect(said.pop()).toMatch(/^the treasury is paused;/);
	await pauseCommand({ by: "bob", reason: "again", json: true });
	expect(JSON.parse(said.pop() ?? "")).toMatchObject({ isNew: false, paused: by });
	await expect(rows.queue({ moveId: moveIdOf("paused"), amount: 1n })).rejects.toThrow("not queued");
	const line = /^the treasury is paused since .* by ada: a test\. Its keys start no move/;
	await movesCommand({ limit: "1", config });
	expect(said.pop()).toMatch(line);
	expect(await planCommand({ config })).toBe(1);
	expect(said.pop()).toMatch(line);

	expect(await resumeCommand({ by: "bob", reason: "it is over" })).toBe(0);
	expect(said.pop()).toMatch(/^no longer: the treasury is paused/);
	expect(await readTreasuryPause(database.owner)).toBeUndefined();
	const { rows: pauses } = await database.owner.query("select * from treasury_pauses");
	expect(pauses).toMatchObject([
		{ paused_by: "ada", reason: "a test", resumed_by: "bob", resume_reason: "it is over" },
	]);
	expect(await resumeCommand({ ...by, json: true })).toBe(1);
	expect(errors.pop()).toBe("error: the treasury is not paused");
	await pauseCommand({ by: "carol", reason: "once more" });
	expect(await readTreasuryPause(database.owner)).toMatchObject({ by: "carol" });
	expect(await resumeCommand(by)).toBe(0);
});

test("moves that a vault made and the database lacks are adopted, and then followed to their end", async () => {
	const adopt = (moveId: Hex, chain = chains.origin.chainId) =>
		adoptCommand({ moveId, chain: String(chain), ...by, config, json: true });
	const adopted = () => JSON.parse(said.pop() ?? "").id as string;
	const amount = 10n ** 15n;
	const to = privateKeyToAddress(chains.keys.treasurer);
	const made = {
		trade: await actions.trade({ moveId: moveIdOf("a trade"), amount }),
		send: await actions.send({ moveId: moveIdOf("a send"), to, amount }),
		bridge: await actions.bridge({
			moveId: moveIdOf("a bridge"),
			amount: 3_000_000n,
			maxFee: 40n,
			minFinalityThreshold: 2_000,
		}),
	};
	expect(await breaches()).toEqual(["T2", "T2", "T2"]);

	expect(await adopt(moveIdOf("a trade"))).toBe(0);
	const trade = adopted();
	expect(await adopt(moveIdOf("a send"))).toBe(0);
	const send = adopted();
	expect(await adopt(moveIdOf("a bridge"))).toBe(0);
	const bridge = adopted();
	const common = { state: "moved", made_by: "ada", reason: "a test", nth: 0 };
	expect(await rowOf(trade)).toMatchObject({ ...common, kind: "trade", moved_block: made.trade.block });
	expect(await rowOf(send)).toMatchObject({ ...common, kind: "send", amount });
	// The two bridges of the other tests are done and lost; those that failed or were cancelled do not count.
	expect(await rowOf(bridge)).toMatchObject({
		...common,
		nth: 2,
		kind: "bridge",
		amount: 3_000_000n,
		min_received: 2_999_960n,
		to_chain_id: chains.destination.chainId,
		data: { maxFee: "40", minFinalityThreshold: 2_000 },
	});
	expect(await breaches()).toEqual([]);

	await actions.mint(made.bridge.transactionHash);
	for (const id of [trade, send, bridge]) {
		await expect.poll(() => lookAt(id)).toBe("final");
	}
	expect(await rowOf(bridge)).toMatchObject({ received: 3_000_000n });
	expect(await breaches()).toEqual([]);
	expect(await rowOf(bridge)).toMatchObject({
		posting_key: `${chains.destination.chainId}:arrival:${bridge}`,
	});
});

/** Has the service look at all open moves, and returns the state of one. */
async function lookAt(id: string): Promise<string> {
	await follow();
	const connected = [chains.origin, chains.destination].map((chain) => connectChain(chain));
	await advanceMoves({
		pool: database.pool,
		chainOf: (chainId) => connected.find((one) => one.chainId === chainId),
		iris: actions.iris,
		pokeTreasurer: async () => {},
		// The service reads the chains again for a waiting move only after seconds.
		nowMs: () => Date.now() + 60_000,
		log: pino({ level: "silent" }),
	});
	return (await rowOf(id)).state;
}

test("a move that has a row, that no vault made, or whose key has an open move is not adopted", async () => {
	const chain = String(chains.origin.chainId);
	const options = { chain, ...by, config };
	expect(await adoptCommand({ moveId: moveIdOf("a trade"), ...options })).toBe(1);
	expect(errors.pop()).toMatch(/is in the row .* already, which is final$/);
	expect(await adoptCommand({ moveId: moveIdOf("never made"), ...options, json: true })).toBe(1);
	expect(JSON.parse(said.pop() ?? "")).toEqual({
		refusal: expect.stringMatching(/^no vault on chain 31337/),
	});
	await expect(adoptCommand({ moveId: "0x12", ...options })).rejects.toThrow("32 bytes in hex");
	await expect(adoptCommand({ moveId: moveIdOf("a trade"), ...options, chain: "1" })).rejects.toThrow(
		"1 is not a configured EVM chain; these are 31337, 31338",
	);

	const { id, transactionHash } = await rows.burn("is open", 1_000_000n);
	const moveId = moveIdOf("waits for it");
	await actions.bridge({ moveId, amount: 1_000_000n });
	await follow();
	expect(await adoptCommand({ moveId, ...options })).toBe(1);
	expect(errors.pop()).toMatch(/a move of the same kind, token and destination is open/);
	await rows.arrive(id, transactionHash, 1_000_000n);
	await rows.change(id, "arrived", "final");
	expect(await adoptCommand({ moveId, ...options })).toBe(0);
	const adopted = said.pop()?.split("\n")[0] ?? "";
	expect(await rowOf(adopted)).toMatchObject({ state: "moved", nth: 4 });
});

test("an adopted bridge is searched on the other chain from a block before its burn on", async () => {
	const { rows: found } = await database.owner.query(
		"select destination_block, moved_block from treasury_moves where move_id = $1",
		[hexToBytes(moveIdOf("waits for it"))],
	);
	expect(found).toMatchObject([{ destination_block: 0 }]);
	await database.owner.query("delete from treasury_moves where move_id = $1", [
		hexToBytes(moveIdOf("waits for it")),
	]);
	const { chainId } = chains.destination;
	await database.owner.query(
		`insert into block_times (chain_id, number, timestamp)
		select $1, n, own.timestamp - 601 + 2 * (n - 5) from block_times own, generate_series(1, 9) as n
		where own.chain_id = $2 and own.number = $3
		on conflict (chain_id, number) do update set timestamp = excluded.timestamp`,
		[chainId, chains.origin.chainId, found[0]?.moved_block],
	);
	const moveId = moveIdOf("waits for it");
	expect(await adoptCommand({ moveId, chain: String(chains.origin.chainId), ...by, config })).toBe(0);
	const id = said.pop()?.split("\n")[0] ?? "";
	expect(await rowOf(id)).toMatchObject({ destination_block: 5 });
});

test("native tokens are described in whole tokens", async () => {
	await movesCommand({ limit: "10", config });
	expect(said.find((line) => line.includes("  trade  "))).toMatch(
		/0\.001 ETH on chain 31337 from 0x\w{40} for USDC\n {2}done$/,
	);
	expect(said.find((line) => line.includes("  send  "))).toMatch(/0\.001 ETH .* to 0x\w{40}\n {2}done$/);
});
