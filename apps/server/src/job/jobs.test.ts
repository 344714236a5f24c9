import { type Order, orderId, packDeadlines, type SolanaAddress, type SwapUuid } from "@geoswap/protocol";
import { bytesToHex, numberToHex, zeroAddress, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { queueJob } from "../../test/lane/queue-job.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { inTransaction } from "../database/database.ts";
import type { Job, JobState } from "../swap/facts/job.ts";
import type { SignedOp } from "../swap/facts/swap-record.ts";
import { type JobRow, jobFromRow, type NewJob } from "./jobs.ts";
import { endLease, type JobChange, journalLease } from "./journal/journal-lease.ts";
import { raiseNonce } from "./journal/lane-transactions.ts";
import { withdrawJobs } from "./queue-jobs.ts";
import { type LeasedJobs, takeBundle, takeSingleJobs } from "./take-jobs.ts";

const lane = { chainId: 2, relayer: "0x00000000000000000000000000000000000000b1" } as const;
const other = { chainId: 2, relayer: "0x00000000000000000000000000000000000000b2" } as const;

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	for (const relayer of [lane.relayer, other.relayer])
		await raiseNonce(database.pool, { chainId: 2, relayer }, 7);
});
afterAll(() => database.drop());

const order = {
	originChainId: 1n,
	destinationChainId: 2n,
	escrow: numberToHex(1, { size: 32 }),
	originVault: numberToHex(2, { size: 32 }),
	destinationVault: numberToHex(3, { size: 32 }),
	attesterSet: zeroHash,
	wallet: numberToHex(4, { size: 32 }),
	inputToken: numberToHex(5, { size: 32 }),
	inputAmount: 2n ** 127n,
	outputToken: numberToHex(6, { size: 32 }),
	minOutput: 1n,
	recipient: numberToHex(7, { size: 32 }),
	topUp: 0n,
	swapKey: zeroHash,
	deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
};
const job: NewJob = {
	swapId: "019a0000-0000-7000-8000-000000000000",
	kind: "fill",
	chainId: 2,
	orderId: orderId(order),
	order,
	payload: { delivery: { kind: "router", budget: 2n ** 100n, fees: [500, 3000] } },
	state: "queued",
};

test("a job is read back with the queued values", async () => {
	await queueJob(database.pool, job);
	expect(await read()).toMatchObject(job);
});

test.each<[JobState, boolean]>([
	["unattested", true],
	["queued", false],
	["sent", false],
	["done", true],
	["refused", true],
])(
	"a job that is %s is queued again (%s), only on request, and with its failures reset",
	async (state, moves) => {
		await database.pool.query("update jobs set state = $1, failures = 2, nonce = 7, reason = 'price'", [
			state,
		]);
		await queueJob(database.pool, job);
		expect(await read()).toMatchObject({ state, failures: 2, nonce: 7 });
		await queueJob(database.pool, { ...job, again: true });
		const again = { state: "queued", nonce: null, reason: undefined, failures: 0 };
		expect(await read()).toMatchObject(moves ? again : { state, nonce: 7, failures: 2 });
	},
);

test("an attested list that one lane holds is not taken by another, including every job in it", async () => {
	const id = "019a0000-0000-7000-8000-000000000001";
	await database.pool.query(
		"update jobs set state = 'queued', kind = 'release', priority = 0, attestation_id = $1",
		[id],
	);
	await database.pool.query("insert into attestations values ($1, 2, 'Release', 1, '[]', '[]', '[]')", [id]);
	await inTransaction(database.pool, async (taking) => {
		await taking.query("select from attestations for update");
		expect(await takeNext()).toBeUndefined();
	});
	const held = await takeNext();
	expect(held?.jobs).toHaveLength(1);
	// Another job of the list becomes ready only now, and the list still belongs to the first lane.
	await database.pool.query(
		`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, payload, state, priority, attestation_id)
		select '019a0000-0000-7000-8000-000000000009', kind, chain_id, 'other', order_terms, payload, 'queued', 0,
			attestation_id from jobs`,
	);
	expect(await takeNext({ of: other })).toBeUndefined();
	if (held) await endLease(database.pool, lane, held);
	expect((await takeNext({ of: other }))?.jobs).toHaveLength(2);
});

test("opens of one wallet are taken together; those of another escrow or with an authorization are not among them", async () => {
	await database.owner.query("truncate jobs");
	const op: SignedOp = { delegate: zeroAddress, gas: 1n, signatureKind: "typed", signature: "0x00" };
	const authorization = { chainId: 2, address: zeroAddress, nonce: 0, yParity: 0, r: zeroHash, s: zeroHash };
	const escrow = numberToHex(9, { size: 32 });
	const queued: [Partial<Order>, SignedOp][] = [
		[{}, op],
		[{}, op],
		[{ escrow }, op],
		[{}, { ...op, authorization }],
		[{ escrow }, op],
		[{}, op],
	];
	for (const [i, [terms, signed]] of queued.entries()) {
		const swapId: SwapUuid = `019a0000-0000-7000-8000-00000000040${i}`;
		await queueJob(database.pool, {
			...job,
			swapId,
			kind: "open",
			order: { ...order, ...terms },
			payload: { op: signed },
		});
	}
	const taken: string[][] = [];
	for (let leased = await takeNext(); leased; leased = await takeNext())
		taken.push(leased.jobs.map(({ swapId }) => swapId.slice(-1)));
	expect(taken).toEqual([["0", "1", "5"], ["2", "4"], ["3"]]);
});

test("a postponed job is not taken before its block, unless no block comes for half a minute", async () => {
	await database.owner.query("truncate jobs");
	await queueJob(database.pool, job);
	await putBack(await takeNext(), { notBeforeBlock: 2, alone: true, failures: 0 });
	expect(await takeNext()).toBeUndefined();
	await database.pool.query("update jobs set updated_at = now() - interval '31 seconds'");
	expect((await takeNext())?.jobs).toMatchObject([{ swapId: job.swapId, alone: true }]);
});

test("refunds that Solana refuses block no other job, because jobs with the fewest refusals go first", async () => {
	await database.owner.query("truncate jobs");
	const refund = { ...job, kind: "refund", payload: { attested: false } } as const;
	const queue = (i: number, change: Partial<NewJob>) =>
		queueJob(database.pool, {
			...refund,
			...change,
			swapId: `019a0000-0000-7000-8000-00000000010${i}`,
		} as NewJob);
	for (let i = 0; i < 4; i++) await queue(i, {});
	const stuck = await takeSolanaJobs({ change: { notBeforeBlock: 1, failures: 1 } });
	expect(stuck).toHaveLength(3);
	await queue(4, { kind: "void", payload: {} });
	await queue(5, { kind: "fill", payload: job.payload } as Partial<NewJob>);
	expect((await takeSolanaJobs()).map(({ kind, failures }) => [kind, failures])).toEqual([
		["refund", 0],
		["void", 0],
		["fill", 0],
	]);
	// The failed jobs have their turn once all others are done.
	await database.pool.query("update jobs set state = 'done' where failures = 0");
	expect((await takeSolanaJobs()).map(({ swapId }) => swapId)).toEqual(stuck.map(({ swapId }) => swapId));
});

test("on Solana, too, releases go before all other jobs, even a release that was refused", async () => {
	await database.owner.query("truncate jobs");
	const queue = (i: number, change: Partial<NewJob>) =>
		queueJob(database.pool, {
			...job,
			...change,
			swapId: `019a0000-0000-7000-8000-00000000020${i}`,
		} as NewJob);
	await queue(0, { kind: "release", payload: {} });
	await takeSolanaJobs({ change: { notBeforeBlock: 1, failures: 1 } });
	await queue(1, { kind: "void", payload: {} });
	await queue(2, { kind: "refund", payload: { attested: false } });
	await queue(3, { kind: "release", payload: {} });
	expect((await takeSolanaJobs()).map(({ kind, failures }) => [kind, failures])).toEqual([
		["release", 0],
		["release", 1],
		["refund", 0],
	]);
});

test("a job that Solana refused waits for its slot without a time limit, and a merely postponed job does not", async () => {
	await database.owner.query("truncate jobs");
	await queueJob(database.pool, job);
	await takeSolanaJobs({ change: { notBeforeBlock: 2 } });
	await database.pool.query("update jobs set updated_at = now() - interval '31 seconds'");
	expect(await takeSolanaJobs()).toHaveLength(1);
	await database.pool.query("update jobs set failures = 1");
	expect(await takeSolanaJobs()).toEqual([]);
	// On a chain that may make no blocks at all, the job does not wait.
	await putBack(await takeNext(), {});
	expect(await takeSolanaJobs({ headNumber: 2 })).toHaveLength(1);
});

test("a leased job is not taken by another lane until the lease expires", async () => {
	await database.owner.query("truncate jobs");
	await queueJob(database.pool, job);
	const first = await takeNext();
	expect(first?.jobs).toHaveLength(1);
	expect(await takeNext()).toBeUndefined();
	expect(await takeNext({ of: other })).toBeUndefined();
	await expire();
	const second = await takeNext({ of: other });
	expect(second?.jobs).toHaveLength(1);
	// The first lane comes too late, and neither sends the job nor gives it back.
	expect(await send(first, lane)).toBe("lost");
	await endLease(database.pool, lane, first as LeasedJobs);
	expect(await takeNext()).toBeUndefined();
	expect(await send(second, other)).toBe("journalled");
	expect(await read()).toMatchObject({ state: "sent", relayer: other.relayer, nonce: 7 });
});

test("an expired lease journals nothing, even if no other lane has taken the job", async () => {
	await database.owner.query("truncate jobs, lane_transactions");
	await queueJob(database.pool, job);
	const leased = await takeNext();
	await expire();
	expect(await send(leased, lane)).toBe("lost");
	expect(await journal()).toEqual([]);
	expect(await send(await takeNext(), lane)).toBe("journalled");
});

test("a job that is withdrawn while leased is removed immediately, and its signed transaction is not journalled", async () => {
	await database.owner.query("truncate jobs, lane_transactions");
	const swapId: SwapUuid = "019a0000-0000-7000-8000-000000000301";
	const swapIds: SwapUuid[] = [swapId, "019a0000-0000-7000-8000-000000000302"];
	for (const id of swapIds) await queueJob(database.pool, { ...job, swapId: id });
	const leased = await takeNext();
	expect(leased?.jobs).toHaveLength(2);
	await withdrawJobs(database.pool, [{ swapId, kind: "fill" }]);
	// It is not journalled either if the swap queues the same again, because that is another job.
	await queueJob(database.pool, { ...job, swapId });
	expect(await send(leased, lane)).toBe("changed");
	expect(await journal()).toEqual([]);
	// Both can be taken again immediately.
	expect((await takeNext({ of: other }))?.jobs.map(({ swapId }) => swapId).toSorted()).toEqual(swapIds);
});

test("a sent job cannot be withdrawn", async () => {
	await database.owner.query("truncate jobs, lane_transactions");
	await queueJob(database.pool, job);
	expect(await send(await takeNext(), lane)).toBe("journalled");
	await withdrawJobs(database.pool, [job]);
	expect(await read()).toMatchObject({ state: "sent" });
});

test("two runs of one lane never journal with the same nonce", async () => {
	await database.owner.query("truncate jobs, lane_transactions");
	for (const i of [1, 2]) {
		await queueJob(database.pool, { ...job, swapId: `019a0000-0000-7000-8000-00000000040${i}` });
	}
	await database.owner.query("update jobs set alone = true");
	const [first, second] = [await takeNext(), await takeNext()];
	expect(first?.nonce).toBe(second?.nonce);
	expect(first?.lease).not.toBe(second?.lease);
	const outcomes = await Promise.all([send(first, lane), send(second, lane)]);
	expect(outcomes.toSorted()).toEqual(["changed", "journalled"]);
	expect(await journal()).toHaveLength(1);
	expect(await send(await takeNext(), lane)).toBe("journalled");
	const nonces = await journal();
	expect(new Set(nonces).size).toBe(2);
});

function takeNext({ of = lane }: { of?: typeof lane | typeof other } = {}): Promise<LeasedJobs | undefined> {
	const options = { headNumber: 1, leaseMs: 60_000, limit: 20, releasesOnly: false };
	return takeBundle(database.pool, of, options);
}

/** Makes every lease expire. */
async function expire(): Promise<void> {
	await database.pool.query("update jobs set leased_until = now() - interval '1 second'");
}

let hashes = 0;
async function send(leased: LeasedJobs | undefined, of: typeof lane | typeof other): Promise<string> {
	if (!leased) throw new Error("nothing was taken");
	const { lease, nonce, jobs } = leased;
	const hash = numberToHex(++hashes, { size: 32 });
	const transaction = {
		nonce,
		attempt: 0,
		hash,
		raw: "0x01",
		kind: "fill",
		jobs: jobs.map(({ swapId, kind, orderId }) => ({ swapId, kind, orderId })),
		maxFeePerGas: 1n,
		state: "signed",
		sentAtBlock: 1,
	} as const;
	const outcomes = jobs.map((job) => ({ job, hash, change: {} }));
	const { outcome } = await journalLease(database.pool, of, {
		lease,
		nonce,
		outcomes,
		transactions: [{ ...transaction, jobs: [...transaction.jobs] }],
	});
	return outcome;
}

async function journal(): Promise<number[]> {
	const { rows } = await database.pool.query<{ nonce: number }>("select nonce from lane_transactions");
	return rows.map(({ nonce }) => nonce);
}

/** Ends a lease with this change for all its jobs. */
async function putBack(leased: LeasedJobs | undefined, change: JobChange): Promise<Job[]> {
	if (!leased) return [];
	const { lease, nonce, jobs } = leased;
	const outcomes = jobs.map((job) => ({ job, change }));
	await journalLease(database.pool, lane, { lease, nonce, outcomes, transactions: [] });
	return jobs;
}

async function takeSolanaJobs({
	headNumber = 1,
	change = {},
}: {
	headNumber?: number;
	change?: JobChange;
} = {}): Promise<Job[]> {
	const feePayer = "11111111111111111111111111111112" as SolanaAddress;
	const options = { headNumber, leaseMs: 60_000, feePayer, isOpensOnly: false, limit: 3 };
	return putBack(await takeSingleJobs(database.pool, lane, options), change);
}

async function read() {
	const { rows } = await database.pool.query<JobRow & { relayer: Buffer | null; nonce: number | null }>(
		"select * from jobs",
	);
	const [row] = rows;
	return row && { ...jobFromRow(row), relayer: row.relayer && bytesToHex(row.relayer), nonce: row.nonce };
}
