import { randomBytes, randomUUID } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	type StatusResponse,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { pino } from "pino";
import { hexToBytes, zeroAddress, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readStatements } from "../../test/database/read-statements.ts";
import { createRowErrors } from "../../test/database/row-errors.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { ensureAccount } from "../api/key/accounts.ts";
import { findApiKeys, insertApiKeys } from "../api/key/api-key-record.ts";
import { walletUnopened } from "../api/origin/wallet-unopened.ts";
import { createSwapReader } from "../api/status/swap-reader.ts";
import { readBeforeSubmit } from "../api/submit/read-before-submit.ts";
import { submitSwap, waitForSubmits } from "../api/submit/submit-swap.ts";
import { parseSealKeys } from "../config/seal-keys.ts";
import { applyBlock, applyQuietBlock } from "../follow/evm/apply-block.ts";
import { readClaimedOrders } from "../follow/evm/read-claimed-orders.ts";
import { readDemand } from "../follow/follow-pause.ts";
import { isWatchNeeded } from "../follow/solana/watched-transactions.ts";
import { storeAttestation } from "../job/attestations.ts";
import { storeHeartbeats } from "../job/heartbeats.ts";
import { dropEnded, hasOpenJobs, lockJobsAndWaits } from "../job/queue-jobs.ts";
import { readPaymentFacts } from "../job/read-payment-facts.ts";
import { readTraces } from "../lane/trace-transaction.ts";
import { insertExposures, lockExposures } from "../money/exposure.ts";
import { lockPairs } from "../money/inventory/inventory-balance.ts";
import { markReservationsOpened, unreserveAll } from "../money/inventory/reservations.ts";
import { post } from "../money/ledger/post.ts";
import { readUnsettledGas } from "../money/unsettled-gas.ts";
import { readDueWork } from "../process/due-work.ts";
import { loadSwapFacts, lockSwaps, lookAtSwap } from "../round/load-swap-facts.ts";
import { recordFacts, writeSwaps } from "../round/write-swaps.ts";
import { readDueSwaps } from "../swap/due/due-swaps.ts";
import { markOrders, markSwaps } from "../swap/due/mark-swaps.ts";
import { writeWaits } from "../swap/due/write-waits.ts";
import { pruneEvents, publishEvents } from "../swap/event/publish-events.ts";
import { readEventHead, readEventRows, readEventSwaps, readEventsAt } from "../swap/event/read-events.ts";
import type { SwapRecord } from "../swap/facts/swap-record.ts";
import { readSwap } from "../swap/record/read-swap.ts";
import { createDeliverer } from "../webhook/create-deliverer.ts";
import { newWebhookSecret, sealSecret } from "../webhook/webhook-secret.ts";
import { insertWebhook, queueDeliveries } from "../webhook/webhooks.ts";
import { type DatabasePool, openDatabase } from "./database.ts";
import { wasRestoredSince } from "./restores.ts";
import { grants } from "./roles/grants.ts";

let database: TestDatabase;
/** A pool of one connection. */
let one: DatabasePool;
/** Calls every function that sends a named statement. */
let runAll: () => Promise<void>;
/** The named statements that were sent, by name. */
let statements: Map<string, string>;
afterAll(async () => {
	await one.end();
	await database.drop();
});

const token = toWord("0x00000000000000000000000000000000000000a1");
const [originId, destinationId] = [31337, 31338];

beforeAll(async () => {
	database = await createTestDatabase({ as: "owner" });
	const { owner } = database;
	const order = newOrder();
	const uuid = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
	const id = hexToBytes(orderId(order));
	await owner.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, 7, 700, '{"kind": "inventory", "amount": "7"}')`,
		[uuid, id, orderToJson(order)],
	);
	await owner.query("insert into waits (swap_id, order_id) values ($1, $2)", [uuid, id]);
	await owner.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			booked_number)
		values ($1, 1, '', 1, 1, 1, 1, 1), ($2, 1, '', 1, 1, 1, 1, 1)`,
		[originId, destinationId],
	);
	// The refund became a credit, so a claim is searched for too.
	await owner.query(
		`insert into chain_events values ($1, 1, 1, '', '', '', $2, 'Refunded', '{"paid": false}')`,
		[originId, id],
	);
	await owner.query("insert into inventory values ($1, $2, 1000, 1000, 0, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	const accountId = await ensureAccount(owner, { id: randomUUID(), name: "test" });
	await insertApiKeys(owner, { keys: [{ id: "key", hash: randomBytes(32) }], accountId });

	one = openDatabase({ url: database.url, applicationName: "test", max: 1 });
	statements = recordNamed(one);
	runAll = async () => {
		const nowMs = Date.now();
		expect(await readSwap(one, uuid)).toMatchObject({ id: uuid });
		expect(await createSwapReader({ db: one }).read(uuid)).toMatchObject({ id: uuid });
		expect(await findApiKeys(one, ["key"])).toMatchObject([{ id: "key" }]);
		const nobody = { attesters: [], chainIds: [], heartbeatSeconds: 1, sightSeconds: 1 };
		await markOrders(one, [orderId(order)]);
		await markSwaps(one, [uuid]);
		expect((await readDueSwaps(one, { limit: 1, except: [] })).swapIds).toEqual([uuid]);
		await readDueWork(one, { overdueMs: 0 });
		expect(await lockSwaps(one, { swapIds: [uuid], lockTimeoutMs: 1_000 })).toEqual([uuid]);
		const [seen] = await loadSwapFacts(one, { swapIds: [uuid], nowMs, attestersOf: () => nobody });
		await lookAtSwap(one, { swapId: uuid, nowMs, attestersOf: () => nobody });
		expect(seen?.read()).toMatchObject({ swap: { id: uuid }, facts: { jobs: {} } });
		const submitted = await submit(one, { accountId, nowMs });
		if (submitted.outcome !== "created") throw new Error(submitted.outcome);
		await apply(one, submitted.swap);
		await waitForSubmits(one, accountId);
		expect(await publishEvents(one)).toBe(1);
		const { position: upTo } = await readEventHead(one);
		const told = await readEventRows(one, { accountId, after: 0, upTo, limit: 1 });
		expect(await readEventSwaps(one, told)).toHaveLength(1);
		expect(await readEventsAt(one, [upTo])).toHaveLength(1);
		await serveWebhook(one, { accountId, nowMs });
		await pruneEvents(one, { retentionMs: 0, nowMs });
		await walletUnopened(one, { order, nowMs });
		await wasRestoredSince(one, nowMs);
		await readTraces(one, [uuid]);
		await readPaymentFacts(one, []);
		await storeHeartbeats(one, [
			{ attester: zeroAddress, chainId: originId, finalizedNumber: 1, signedAtUnixSeconds: 1 },
		]);
		const set = { threshold: 1, attesters: [zeroAddress] };
		const nothing = { chainId: originId, kind: "Release", set, signatures: [], orderIds: [] } as const;
		await storeAttestation(one, { ...nothing, id: randomUUID(), signatures: [] });
		await isWatchNeeded(one, originId);
		await readDemand(one, originId);
		await hasOpenJobs(one);
		const entries = [
			{ account: "gas", token, amount: 1n },
			{ account: "relayer", token, amount: -1n },
		] as const;
		await post(one, [
			{ key: randomUUID(), chainId: originId, blockNumber: 1, name: "gas", orderId: undefined, entries },
		]);
		const block = { number: 2, hash: zeroHash, parentHash: zeroHash, timestamp: 2, baseFee: 1n };
		const applied = {
			chainId: originId,
			block,
			events: [],
			mined: [],
			finalized: block,
			vaults: [],
			assets: [],
		};
		expect(await applyQuietBlock(one, applied)).toBe(false);
		await expect(applyBlock(one, applied)).rejects.toThrow("does not follow the head");
		const data = { beneficiary: zeroAddress, token: zeroAddress };
		expect(await readClaimedOrders(one, { chainId: originId, events: [{ name: "Claimed", data }] })).toEqual(
			[],
		);
		await readBeforeSubmit(one, { order, accountId, nowMs });
		await readUnsettledGas(one, { accountId, nowMs });
		await lockPairs(one, [{ chainId: originId, token: zeroAddress, direction: "sell" }]);
	};
	await runAll();
});

test("every statement can be prepared, and its row type has what it returns", async () => {
	const source = await readStatements();
	const client = await database.owner.connect();
	try {
		const rowErrors = await createRowErrors(client, source);
		const errors: string[] = [];
		for (const statement of source.statements) {
			const { place, name = "" } = statement;
			if (isOfSchema.test(place)) continue;
			const named = statements.get(name);
			const texts = named === undefined ? statement.texts : [named];
			if (!texts)
				errors.push(`${place}: its text is not understood: write it simpler, or name it and call it above`);
			for (const text of texts ?? []) {
				const wrong = await rowErrors(statement, text).catch((error: Error) => [error.message]);
				errors.push(...wrong.map((error) => `${place.replace(/:.*/, "")}: ${error}`));
			}
		}
		expect([...new Set(errors)].toSorted()).toEqual(narrowed);
	} finally {
		client.release();
		source.close();
	}
	// Types are checked in a separate process, which takes longer on a busy machine.
}, 120_000);

/** Statements that make the schema and its roles. */
const isOfSchema = /^database\/(roles|migrate\.ts)/;

/** Columns for which a statement's conditions exclude some of the table's values. */
const narrowed = [
	'job/journal/lane-transactions.ts: state is "broadcast" | "final" | "mined" | "signed", not "broadcast" | "signed"',
	'lane/load-lane-state.ts: state is "broadcast" | "final" | "mined" | "signed", not "broadcast" | "signed"',
	"lane/trace-transaction.ts: trace is string | null, not string",
	"money/ledger/book-final.ts: order_id is Buffer<ArrayBufferLike> | null, not Buffer<ArrayBufferLike>",
	"swap/pause/pauses.ts: liftedAt is Date | null, not Date",
	"swap/pause/pauses.ts: liftedBy is string | null, not string",
	"swap/pause/pauses.ts: liftedReason is string | null, not string",
	"swap/record/unknown-orders.ts: order_id is Buffer<ArrayBufferLike> | null, not Buffer<ArrayBufferLike>",
];

test("columns added by a later version break no prepared statement on an open connection", async () => {
	// A new named statement needs a call in `runAll`.
	expect([...statements.keys()].toSorted()).toEqual(namesInSource());
	for (const table of Object.keys(grants)) {
		await database.owner.query(`alter table ${table} add column later text`);
	}
	await runAll();
	for (const [name, text] of statements) expect(text, name).not.toMatch(/(select|returning)\s+\*|\.\*/);
});

/** Delivers an event to webhooks that accept it, fail, and unsubscribe. */
async function serveWebhook(db: DatabasePool, { accountId, nowMs }: { accountId: string; nowMs: number }) {
	const keys = parseSealKeys(`a:${randomBytes(32).toString("base64url")}`);
	const results = [
		{ outcome: "delivered" },
		{ outcome: "failed", error: "tested" },
		{ outcome: "gone" },
	] as const;
	for (const result of results) {
		const id = randomUUID();
		const sealedSecret = sealSecret(keys, { webhookId: id, secret: newWebhookSecret() });
		await insertWebhook(db, { id, accountId, url: "https://example.com", sealedSecret, most: 100 });
		await database.owner.query("update webhooks set after = 0 where id = $1", [id]);
		await database.owner.query("update event_head set queued = 0");
		await queueDeliveries(db, { nowMs });
		const deliverer = createDeliverer({
			db,
			sender: { send: async () => result },
			keys,
			statusOf: () => ({}) as StatusResponse,
			pauseSeconds: { first: 5, longest: 3_600 },
			random: () => 0,
			nowMs: () => nowMs,
			log: pino({ level: "silent" }),
		});
		await deliverer.deliverDue();
		await deliverer.idle();
		await database.owner.query("delete from webhooks");
	}
}

/** Writes everything that a round may write for a swap. */
async function apply(db: DatabasePool, swap: SwapRecord): Promise<void> {
	const { id: swapId, stage, status } = swap;
	await lockJobsAndWaits(db, { jobsOf: [swapId], waitsOf: [swapId] });
	await lockExposures(db, { originIds: [originId], accountIds: [], chainIds: [originId] });
	await insertExposures(db, [{ swap, isFinal: true }]);
	await markReservationsOpened(db, [swapId]);
	await unreserveAll(db, [swapId]);
	const unchanged = { steps: [], failure: undefined, notes: {}, givingUp: undefined, isVisible: false };
	await writeSwaps(db, [{ ...unchanged, swapId, stage, status, isEnd: true }], { nowMs: Date.now() });
	await recordFacts(db, [{ swapId, fact: "tested", data: {} }]);
	const next = { wait: {}, dueMs: 0, isInCase: false, fact: "tested", idleRounds: 0, ask: undefined };
	await writeWaits(db, [{ ...next, swapId, mark: 0 }]);
	await dropEnded(db, [swapId]);
}

function newOrder(uuid = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })): Order {
	return {
		originChainId: BigInt(originId),
		destinationChainId: BigInt(destinationId),
		attesterSet: zeroHash,
		escrow: token,
		originVault: token,
		destinationVault: token,
		wallet: token,
		recipient: token,
		inputToken: token,
		outputToken: token,
		inputAmount: 10n,
		minOutput: 5n,
		topUp: 0n,
		swapKey: toSwapKey(uuid),
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
	};
}

function submit(pool: DatabasePool, { accountId, nowMs }: { accountId: string; nowMs: number }) {
	const id = newSwapUuid({ nowMs, random: randomBytes(10) });
	const delivery = { kind: "inventory", amount: 7n } as const;
	return submitSwap(pool, {
		swap: {
			id,
			accountId,
			order: newOrder(id),
			output: 7n,
			valueUsdCents: 7n,
			feeMillibps: 9_375,
			delivery,
			op: {
				delegate: zeroAddress,
				gas: 1n,
				signatureKind: "personal",
				signature: "0x00",
			},
		},
		pairs: [{ chainId: originId, token, direction: "sell" }],
		reserve: () => {
			const volumes = [{ chainId: originId, token, direction: "sell" as const, amount: 1n }];
			return { delivery, chainId: destinationId, token, amount: 7n, volumes };
		},
		isOpened: false,
		admit: () => {},
		countedOrders: [],
		limits: { shareOfInventory: 1, unopenedUsdCents: 1_000n, reservationSeconds: 60 },
		holdingLimit: { chainId: originId, token, amount: 10_000n },
		attesters: { attesters: [], chainIds: [], heartbeatSeconds: 1, sightSeconds: 1, threshold: 0 },
		nowMs: () => nowMs,
	});
}

/** Records the named statements that the pool's connections get, by name. */
function recordNamed(pool: DatabasePool): Map<string, string> {
	const statements = new Map<string, string>();
	pool.on("connect", (client) => {
		const query = client.query.bind(client) as (...args: unknown[]) => unknown;
		client.query = ((...args: unknown[]) => {
			const [config] = args as [{ name?: string; text: string }];
			if (config.name !== undefined) statements.set(config.name, config.text);
			return query(...args);
		}) as typeof client.query;
	});
	return statements;
}

function namesInSource(): string[] {
	const folder = join(import.meta.dirname, "..");
	const files = globSync("**/*.ts", { cwd: folder }).filter((file) => !file.endsWith(".test.ts"));
	const named = /\.query(?:<[^(]*>)?\(\{\s*name: "([a-z-]+)"/g;
	return files
		.flatMap((file) =>
			[...readFileSync(join(folder, file), "utf8").matchAll(named)].map(([, name = ""]) => name),
		)
		.toSorted();
}
