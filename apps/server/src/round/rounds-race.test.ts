import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { newSwapUuid, type Order, packDeadlines, type SwapUuid, toSwapKey, toWord } from "@geoswap/protocol";
import { pino } from "pino";
import { bytesToHex, type Hex, hexToBytes, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anyOrder } from "../../../../packages/protocol/vectors/read-vectors.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { insertRandomWorld } from "../../test/swap/random-swaps.ts";
import { sequence } from "../../test/swap/sequence.ts";
import { destinationId, originId, roundOptions, token } from "../../test/swap/swap-scene.ts";
import { submitSwap } from "../api/submit/submit-swap.ts";
import { inTransaction } from "../database/database.ts";
import { finishJobs } from "../job/queue-jobs.ts";
import { markDepositsFinal } from "../money/exposure.ts";
import { saveInventory } from "../money/inventory/inventory-balance.ts";
import { markOrders, markSwaps } from "../swap/due/mark-swaps.ts";
import { createRound } from "./run-round.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

const attesterSet: Hex = `0x${"5e".repeat(32)}`;
const accounts = ["1", "2", "3"].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
const other = "0x00000000000000000000000000000000000000bb";

/** Chooses by the seed. The order in which the parts take their turns depends on the machine. */
const random = sequence(Number(process.env.GEOSWAP_SEED));

/** Submits as the API does. Every second swap delivers another token, so that locks of several rows are taken. */
async function submit(i: number): Promise<void> {
	const nowMs = Date.now();
	const id = newSwapUuid({ nowMs, random: randomBytes(10) });
	const now = Math.floor(nowMs / 1_000);
	const output = i % 2 === 0 ? token : other;
	const order: Order = {
		...anyOrder(),
		originChainId: BigInt(i % 3 === 0 ? destinationId : originId),
		destinationChainId: BigInt(i % 3 === 0 ? originId : destinationId),
		attesterSet,
		outputToken: toWord(output),
		wallet: bytesToHex(randomBytes(32)),
		topUp: 0n,
		swapKey: toSwapKey(id),
		deadlines: packDeadlines({
			openDeadline: BigInt(now + 300),
			fillDeadline: BigInt(now + 600),
			refundAfter: BigInt(now + 900),
		}),
	};
	const delivery = { kind: "inventory", amount: 4n } as const;
	const pairs = ([token, other] as const).map((one) => ({
		chainId: destinationId,
		token: one,
		direction: "buy" as const,
	}));
	const result = await submitSwap(database.pools.api, {
		swap: {
			id,
			accountId: accounts[i % accounts.length] as string,
			order,
			output: 4n,
			valueUsdCents: 100n,
			feeMillibps: 12_500,
			delivery,
			op: {
				delegate: zeroAddress,
				gas: 1n,
				signatureKind: "personal",
				signature: "0x12",
			},
		},
		pairs,
		reserve: () => ({
			delivery,
			chainId: destinationId,
			token: output,
			amount: 4n,
			volumes: pairs.map((pair) => ({ ...pair, amount: 1n })),
		}),
		isOpened: false,
		admit: () => {},
		countedOrders: [],
		limits: { shareOfInventory: 1, unopenedUsdCents: undefined, reservationSeconds: 60 },
		nowMs: () => nowMs,
	});
	expect(result.outcome).toBe("created");
}

const eventOf = {
	open: "Opened",
	fill: "Filled",
	release: "Released",
	void: "Voided",
	refund: "Refunded",
} as const;

/**
 * Makes a block of a chain, with all jobs that lanes have sent done, in one transaction, as `applyBlock` writes them.
 */
async function makeBlock(chainId: number): Promise<void> {
	await inTransaction(database.pool, async (db) => {
		const { rows: heads } = await db.query<{ number: number }>(
			`update chain_heads set number = number + 1, finalized_number = number - 1, timestamp = extract(epoch from now())::bigint,
				finalized_timestamp = extract(epoch from now())::bigint - 2, updated_at = now(),
				compared_timestamp = extract(epoch from now())::bigint - 2, compared_at = now()
			where chain_id = $1 returning number`,
			[chainId],
		);
		const number = heads[0]?.number ?? 0;
		await db.query("update heartbeats set finalized_number = $2, signed_at = now() where chain_id = $1", [
			chainId,
			number - 2,
		]);
		await db.query("select setseed($1)", [random()]);
		const { rows } = await db.query<{ order_id: Buffer; kind: keyof typeof eventOf }>(
			"select order_id, kind from jobs where chain_id = $1 and state = 'sent' order by random()",
			[chainId],
		);
		const events = rows.map((row) => ({ name: eventOf[row.kind], orderId: bytesToHex(row.order_id) }));
		for (const [i, { name, orderId: id }] of events.entries()) {
			const data = name === "Filled" ? { delivered: "4", spentToken: token, spent: "4" } : { paid: true };
			await db.query("insert into chain_events values ($1, $2, $3, '\\x00', $4, '\\x00', $5, $6, $7)", [
				...[chainId, number, i, randomBytes(32), hexToBytes(id), name, data],
			]);
		}
		await finishJobs(db, { chainId, events });
		await markOrders(
			db,
			events.map((event) => event.orderId),
		);
		const inventory = [other, token].map((one) => ({
			token: one as Hex,
			balance: 10n ** 9n,
			outflowAvailable: 10n ** 9n,
		}));
		if (chainId === destinationId) await saveInventory(db, { chainId, blockNumber: number, inventory });
		await markDepositsFinal(db, { chainId, after: number - 3, upTo: number - 2 });
	});
}

/** Takes queued jobs as a lane does, some of them without success. Attesters sign immediately. */
async function runLane(): Promise<void> {
	const refused = await inTransaction(database.pool, async (db) => {
		await db.query("select setseed($1)", [random()]);
		await db.query(
			`update jobs set state = 'queued', updated_at = now() where (swap_id, kind) in (
				select swap_id, kind from jobs where state = 'unattested' order by random() limit 20 for update skip locked)`,
		);
		const { rows } = await db.query<{ swap_id: SwapUuid; kind: string }>(
			"select swap_id, kind from jobs where state = 'queued' order by random() limit 20 for update skip locked",
		);
		await db.query(
			`update jobs set state = 'sent', updated_at = now()
			where (swap_id, kind) in (select * from unnest($1::uuid[], $2::text[]))`,
			[rows.map((row) => row.swap_id), rows.map((row) => row.kind)],
		);
		return rows.filter(({ kind }) => kind === "fill" && random() < 0.25).map((row) => row.swap_id);
	});
	await inTransaction(database.pool, async (db) => {
		await db.query(
			"update jobs set state = 'refused', reason = 'price' where kind = 'fill' and state = 'sent' and swap_id = any($1::uuid[])",
			[refused],
		);
		await markSwaps(db, refused);
	});
}

test("rounds, submits, followers and lanes run concurrently without a deadlock, and every swap ends", async () => {
	await insertRandomWorld(database.owner, { nowMs: Date.now() });
	await database.owner.query("insert into inventory values ($1, $2, 1000000000, 1000000000, 0, 1)", [
		destinationId,
		hexToBytes(other),
	]);
	await database.owner.query("update inventory set balance = 1000000000");
	const lines: { msg: string }[] = [];
	const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
	const clock = {
		get nowMs() {
			return Date.now();
		},
	};
	const { config, ...options } = roundOptions(database.pool, clock, { log });
	const chains = config.chains.map((chain) => ({ ...chain, unreleasedCapUsd: 1e9, unfinalCapUsd: 1e9 }));
	const rounds = [60, 7].map((batchSize) =>
		createRound({ ...options, config: { ...config, chains }, batchSize }),
	);
	let submitted = 0;
	let isOver = false;
	const loop = async (run: () => Promise<unknown>, isOn: () => boolean) => {
		while (isOn()) {
			await run();
			await sleep(1);
		}
	};
	const swaps = 120;
	const working = Promise.all([
		...rounds.map((runRound) => loop(runRound, () => !isOver)),
		loop(
			() => makeBlock(originId),
			() => !isOver,
		),
		loop(
			() => makeBlock(destinationId),
			() => !isOver,
		),
		loop(runLane, () => !isOver),
		loop(runLane, () => !isOver),
	]);
	const submitAll = () =>
		loop(
			() => submit(submitted++),
			() => submitted < swaps,
		);
	await Promise.all([submitAll(), submitAll(), submitAll()]);
	const left = async () =>
		(await database.pool.query("select id, stage, status from swaps where ended_at is null")).rows;
	const unwaited = async () =>
		(
			await database.pool.query(
				"select id from swaps s where ended_at is null and not exists (select from waits w where w.swap_id = s.id)",
			)
		).rows;
	for (let i = 0; i < 400 && (await left()).length > 0; i++) {
		expect(await unwaited()).toEqual([]);
		await sleep(100);
	}
	isOver = true;
	await working;
	expect(await left()).toEqual([]);
	const { rows } = await database.pool.query(
		`select (select count(*) from swaps) as swaps, (select count(*) from waits) as waits, (select count(*) from jobs) as jobs,
			(select count(*) from exposures) as exposures, (select count(*) from reservations) as reservations,
			(select sum(reserved) from inventory) as reserved, (select sum(in_flight) from pair_volume) as in_flight`,
	);
	const nothing = { waits: 0, jobs: 0, exposures: 0, reservations: 0, reserved: 0n, in_flight: 0n };
	expect(rows).toEqual([{ swaps: submitted, ...nothing }]);
	const { rows: outcomes } = await database.pool.query("select distinct status from swaps order by status");
	expect(outcomes.map(({ status }) => status)).toEqual(["refunded", "settled"]);
	expect(lines.filter(({ msg }) => /deadlock|could not be processed|one at a time/.test(msg))).toEqual([]);
}, 60_000);
