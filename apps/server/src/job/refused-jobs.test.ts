import { randomUUID } from "node:crypto";
import {
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	type SolanaAddress,
	solanaNativeToken,
} from "@geoswap/protocol";
import { type Hex, hexToBytes, numberToHex, zeroHash } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { insertWait } from "../../test/swap/insert-wait.ts";
import { readOrphans, refuseDeadOpens } from "../lane/solana/push-orphans.ts";
import { type JobKind, jobPriority } from "../swap/facts/job.ts";
import { signedOpToJson } from "../swap/record/swap-json.ts";
import { journalLease } from "./journal/journal-lease.ts";
import { endUnseenTransaction, raiseNonce } from "./journal/lane-transactions.ts";
import { type LeasedJobs, takeBundle, takeSingleJobs } from "./take-jobs.ts";

const lane = { chainId: 1, relayer: "0x00000000000000000000000000000000000000b1" } as const;
const lease = { headNumber: 100, leaseMs: 60_000, limit: 3 };
const feePayer = solanaNativeToken as SolanaAddress;

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	await raiseNonce(database.pool, lane, 7);
});
afterAll(() => database.drop());
beforeEach(() => database.owner.query("truncate jobs, waits, lane_transactions"));

const order: Order = {
	originChainId: 1n,
	destinationChainId: 2n,
	escrow: numberToHex(1, { size: 32 }),
	originVault: numberToHex(2, { size: 32 }),
	destinationVault: numberToHex(3, { size: 32 }),
	attesterSet: zeroHash,
	wallet: numberToHex(4, { size: 32 }),
	inputToken: numberToHex(5, { size: 32 }),
	inputAmount: 6n,
	outputToken: numberToHex(7, { size: 32 }),
	minOutput: 1n,
	recipient: numberToHex(8, { size: 32 }),
	topUp: 0n,
	swapKey: zeroHash,
	deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
};
const terms = orderToJson(order);
const evmOp = signedOpToJson({
	delegate: "0x00000000000000000000000000000000000000c1",
	gas: 1n,
	signatureKind: "personal",
	signature: "0x00",
	authorization: {
		chainId: 1,
		address: "0x00000000000000000000000000000000000000c1",
		nonce: 0,
		yParity: 0,
		r: "0x01",
		s: "0x01",
	},
});
const authorization = "authorization" in evmOp ? evmOp.authorization : undefined;
const solanaOp = signedOpToJson({
	kind: "solana",
	feePayer,
	blockhash: "any",
	lastValidBlockHeight: 50n,
	compute: { unitLimit: 1, microLamportsPerUnit: 1n },
	signature: "0x00",
});

/** Queues a job as it is written, for a swap that is not due. */
async function queue({
	kind = "open",
	op = evmOp,
	order_terms = terms,
	turn = 0,
	state = "queued",
}: {
	kind?: JobKind;
	op?: unknown;
	order_terms?: unknown;
	turn?: number;
	state?: string;
} = {}): Promise<string> {
	const swapId = randomUUID();
	await database.owner.query(
		`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, payload, state, priority, turn)
		values ($1, $2, 1, $3, $4, $5, $6, $7, $8)`,
		[
			swapId,
			kind,
			hexToBytes(orderId(order)),
			JSON.stringify(order_terms),
			JSON.stringify(kind === "open" ? { op } : {}),
			state,
			jobPriority[kind],
			turn,
		],
	);
	await insertWait(database.owner, { swapId, orderId: orderId(order) });
	return swapId;
}

async function stateOf(swapId: string) {
	const { rows } = await database.owner.query(
		`select state, reason, failures, leased_until is not null as is_leased, mark, due_at <= now() as is_due
		from jobs join waits using (swap_id) where swap_id = $1`,
		[swapId],
	);
	return rows[0];
}

const malformedOps: [string, { op?: unknown; order_terms?: unknown }][] = [
	["unknown fields", { op: { junk: 1 } }],
	["no op", { op: null }],
	["an op that is not an object", { op: "x" }],
	["a height that is not a number", { op: { ...solanaOp, lastValidBlockHeight: "x" } }],
	["an authorization that is null", { op: { ...evmOp, authorization: null } }],
	[
		"an authorization with a negative nonce",
		{ op: { ...evmOp, authorization: { ...authorization, nonce: -1 } } },
	],
	["an amount that is not a number", { order_terms: { ...terms, inputAmount: "x" } }],
	["an amount that is not whole", { order_terms: { ...terms, inputAmount: "1.5" } }],
	["no terms", { order_terms: [] }],
];

test.each(malformedOps)(
	"an open with %s is refused by the lane that takes it, and the next one is leased",
	async (_, change) => {
		const bad = await queue({ ...change, turn: -5 });
		const good = await queue();
		const taken: LeasedJobs[] = [];
		for (let i = 0; i < 2; i++) {
			const leased = await takeBundle(database.pool, lane, { ...lease, releasesOnly: false });
			if (leased) taken.push(leased);
		}
		expect(taken.flatMap(({ jobs }) => jobs.map(({ swapId }) => swapId))).toEqual([good]);
		expect(taken.flatMap(({ malformed }) => malformed)).toMatchObject([{ swapId: bad, kind: "open" }]);
		const refused = { state: "refused", reason: "reverted", is_leased: false, mark: 1, is_due: true };
		expect(await stateOf(bad)).toMatchObject(refused);
		expect(await stateOf(good)).toMatchObject({ state: "queued", is_leased: true, mark: 0, is_due: false });
	},
);

test("an unreadable op for this fee payer is refused, and the others are leased", async () => {
	const bad = await queue({ op: { ...solanaOp, lastValidBlockHeight: "x" }, turn: -5 });
	const good = await queue({ op: solanaOp });
	const leased = await takeSingleJobs(database.pool, lane, { ...lease, feePayer, isOpensOnly: false });
	expect(leased?.jobs.map(({ swapId }) => swapId)).toEqual([good]);
	expect(await stateOf(bad)).toMatchObject({ state: "refused", reason: "reverted", mark: 1, is_due: true });
});

test("an unreadable payment is not refused but waits, and blocks no other job", async () => {
	const bad = await queue({ kind: "release", order_terms: {} });
	const good = await queue();
	const taken: string[] = [];
	for (let i = 0; i < 2; i++) {
		const leased = await takeBundle(database.pool, lane, { ...lease, releasesOnly: false });
		taken.push(...(leased?.jobs.map(({ swapId }) => swapId) ?? []));
	}
	expect(taken).toEqual([good]);
	expect(await stateOf(bad)).toMatchObject({ state: "queued", failures: 1, is_leased: false });
});

test("an op of an unknown fee payer is refused once it is expired or unreadable, and its swap is due", async () => {
	const gone = { ...solanaOp, feePayer: "gone" };
	const place = { chainId: 1, feePayers: [feePayer], finalizedHeight: 50 };
	const alive = [await queue({ op: solanaOp }), await queue({ op: gone })];
	expect(await readOrphans(database.pool, place)).toMatchObject({ hasDeadOpens: false });
	const dead = [
		await queue({ op: { ...gone, lastValidBlockHeight: "49" } }),
		await queue({ op: { ...gone, lastValidBlockHeight: "x" } }),
		await queue({ op: { ...gone, lastValidBlockHeight: "9".repeat(30) } }),
		await queue({ op: { junk: 1 } }),
		await queue({ op: null }),
	];
	expect(await readOrphans(database.pool, place)).toMatchObject({ hasDeadOpens: true });
	expect((await refuseDeadOpens(database.pool, place)).toSorted()).toEqual(dead.toSorted());
	for (const swapId of dead) {
		expect(await stateOf(swapId)).toMatchObject({
			state: "refused",
			reason: "expired",
			mark: 1,
			is_due: true,
		});
	}
	for (const swapId of alive) expect(await stateOf(swapId)).toMatchObject({ state: "queued", mark: 0 });
});

test("the swap of a refused job is due as soon as the refusal is written, and no other swap is", async () => {
	const [bad, good] = [await queue(), await queue()];
	await database.owner.query("update jobs set payload = payload #- '{op,authorization}'");
	const leased = await takeBundle(database.pool, lane, { ...lease, releasesOnly: false });
	expect(leased?.jobs).toHaveLength(2);
	const outcomes = (leased?.jobs ?? []).map((job) => ({
		job,
		change: job.swapId === bad ? { refuse: "expired" as const } : { notBeforeBlock: 101 },
	}));
	await journalLease(database.pool, lane, {
		lease: leased?.lease ?? 0,
		nonce: leased?.nonce ?? 0,
		outcomes,
		transactions: [],
	});
	expect(await stateOf(bad)).toMatchObject({ state: "refused", reason: "expired", mark: 1, is_due: true });
	expect(await stateOf(good)).toMatchObject({ state: "queued", mark: 0, is_due: false });
});

test("the swaps of a transaction that never landed are due as soon as that is written", async () => {
	const [open, release] = [await queue({ state: "sent" }), await queue({ kind: "release", state: "sent" })];
	await database.owner.query("update jobs set relayer = $1, nonce = 3", [hexToBytes(lane.relayer as Hex)]);
	await database.owner.query(
		`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
			sent_at_block) values (1, $1, 3, 0, '', '', 'open', '[]', 0, 'broadcast', 1)`,
		[hexToBytes(lane.relayer)],
	);
	expect(await endUnseenTransaction(database.pool, lane, 3)).toBe(true);
	expect(await stateOf(open)).toMatchObject({ state: "refused", reason: "expired", mark: 1, is_due: true });
	expect(await stateOf(release)).toMatchObject({ state: "queued", mark: 1, is_due: true });
	expect(await endUnseenTransaction(database.pool, lane, 3)).toBe(false);
	expect(await stateOf(open)).toMatchObject({ mark: 1 });
});
