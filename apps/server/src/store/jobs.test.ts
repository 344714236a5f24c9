import { orderId, packDeadlines, type SolanaAddress } from "@geoswap/protocol";
import { numberToHex, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/test-database.ts";
import { inTransaction } from "./database.ts";
import type { Job, JobState } from "./job.ts";
import {
	type JobRow,
	jobFromRow,
	type NewJob,
	queueJob,
	requeueJobs,
	takeAttestedJobs,
	takeFirstJob,
	takeSingleJobs,
} from "./jobs.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
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
	alone: false,
};

test("a job is read as it was queued", async () => {
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
	"one that is %s is queued again: %s, only where that is asked for, and without its strikes",
	async (state, moves) => {
		await database.pool.query("update jobs set state = $1, strikes = 2, nonce = 7, reason = 'price'", [
			state,
		]);
		await queueJob(database.pool, job);
		expect(await read()).toMatchObject({ state, strikes: 2, nonce: 7 });
		await queueJob(database.pool, { ...job, again: true });
		const again = { state: "queued", nonce: undefined, reason: undefined, strikes: 0 };
		expect(await read()).toMatchObject(moves ? again : { state, nonce: 7, strikes: 2 });
	},
);

test("a list that another lane holds is left to it, every job of it", async () => {
	const id = "019a0000-0000-7000-8000-000000000001";
	await database.pool.query(
		"update jobs set state = 'queued', kind = 'release', priority = 0, attestation_id = $1",
		[id],
	);
	await database.pool.query("insert into attestations values ($1, 2, 'Release', 1, '[]', '[]', '[]')", [id]);
	const place = { chainId: 2, headNumber: 1 };
	await inTransaction(database.pool, async (other) => {
		await other.query("select from attestations for update");
		expect(await takeAttestedJobs(database.pool, { ...place, last: "refund" })).toBeUndefined();
		expect(await takeFirstJob(database.pool, place)).toBeUndefined();
	});
	expect(await takeAttestedJobs(database.pool, { ...place, last: "refund" })).toHaveLength(1);
});

test("a job that was put back is not taken before its block, unless none comes for half a minute", async () => {
	await database.pool.query("truncate jobs");
	await queueJob(database.pool, job);
	await requeueJobs(database.pool, [job], { notBeforeBlock: 2, alone: true, strikes: 0 });
	const place = { chainId: 2, headNumber: 1 };
	expect(await takeFirstJob(database.pool, place)).toBeUndefined();
	await database.pool.query("update jobs set updated_at = now() - interval '31 seconds'");
	expect(await takeFirstJob(database.pool, place)).toMatchObject({ swapId: job.swapId });
});

test("refunds that Solana refuses keep nobody from anything: what was refused least often goes first", async () => {
	await database.pool.query("truncate jobs");
	const refund = { ...job, kind: "refund", payload: { attested: false } } as const;
	const queue = (i: number, change: Partial<NewJob>) =>
		queueJob(database.pool, {
			...refund,
			...change,
			swapId: `019a0000-0000-7000-8000-00000000010${i}`,
		} as NewJob);
	for (let i = 0; i < 4; i++) await queue(i, {});
	const stuck = await takeSolanaJobs();
	expect(stuck).toHaveLength(3);
	await requeueJobs(database.pool, stuck, { notBeforeBlock: 1, alone: false, strikes: 1 });
	await queue(4, { kind: "void", payload: {} });
	await queue(5, { kind: "fill", payload: job.payload } as Partial<NewJob>);
	expect((await takeSolanaJobs()).map(({ kind, strikes }) => [kind, strikes])).toEqual([
		["refund", 0],
		["void", 0],
		["fill", 0],
	]);
	// Once all others are done with, they have their turn.
	await database.pool.query("update jobs set state = 'done' where strikes = 0");
	expect((await takeSolanaJobs()).map(({ swapId }) => swapId)).toEqual(stuck.map(({ swapId }) => swapId));
});

test("on Solana too releases go before all other work, even one that was refused", async () => {
	await database.pool.query("truncate jobs");
	const queue = (i: number, change: Partial<NewJob>) =>
		queueJob(database.pool, {
			...job,
			...change,
			swapId: `019a0000-0000-7000-8000-00000000020${i}`,
		} as NewJob);
	await queue(0, { kind: "release", payload: {} });
	await requeueJobs(database.pool, await takeSolanaJobs(), { notBeforeBlock: 1, alone: false, strikes: 1 });
	await queue(1, { kind: "void", payload: {} });
	await queue(2, { kind: "refund", payload: { attested: false } });
	await queue(3, { kind: "release", payload: {} });
	expect((await takeSolanaJobs()).map(({ kind, strikes }) => [kind, strikes])).toEqual([
		["release", 0],
		["release", 1],
		["refund", 0],
	]);
});

test("a job that Solana refused waits for its slot, however long; one that was put back for less does not", async () => {
	await database.pool.query("truncate jobs");
	await queueJob(database.pool, job);
	await requeueJobs(database.pool, [job], { notBeforeBlock: 2, alone: false, strikes: 0 });
	await database.pool.query("update jobs set updated_at = now() - interval '31 seconds'");
	expect(await takeSolanaJobs()).toHaveLength(1);
	await database.pool.query("update jobs set strikes = 1");
	expect(await takeSolanaJobs()).toEqual([]);
	// Where blocks may be missing altogether it does not.
	expect(await takeFirstJob(database.pool, { chainId: 2, headNumber: 1 })).toBeDefined();
	expect(await takeSolanaJobs(2)).toHaveLength(1);
});

function takeSolanaJobs(headNumber = 1): Promise<Job[]> {
	const feePayer = "11111111111111111111111111111112" as SolanaAddress;
	return takeSingleJobs(database.pool, { chainId: 2, headNumber, feePayer, isOpensOnly: false, limit: 3 });
}

async function read() {
	const { rows } = await database.pool.query<JobRow>("select * from jobs");
	return rows.map(jobFromRow)[0];
}
