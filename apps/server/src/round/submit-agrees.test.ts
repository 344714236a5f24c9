import { randomBytes } from "node:crypto";
import {
	newSwapUuid,
	type Order,
	packDeadlines,
	type SwapUuid,
	solanaChainId,
	solanaNativeToken,
	toSolanaWord,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import fc from "fast-check";
import { bytesToHex, getAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anyOrder } from "../../../../packages/protocol/vectors/read-vectors.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { insertRandomWorld } from "../../test/swap/random-swaps.ts";
import { destinationId, originId, roundOptions, token } from "../../test/swap/swap-scene.ts";
import { submitSwap } from "../api/submit/submit-swap.ts";
import type { SignedOp, SignedSolanaOp } from "../swap/facts/swap-record.ts";
import { createRound, type RoundOptions } from "./run-round.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
	const nowMs = Date.now();
	await insertRandomWorld(database.owner, { nowMs });
	await database.owner.query(
		`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
			booked_number, finalized_height) values ($1, 1000, '', $2, 1, 990, $2, 990, 900)`,
		[solanaChainId, Math.floor(nowMs / 1_000)],
	);
});
afterAll(() => database.drop());

const evmOp: SignedOp = {
	delegate: getAddress(token),
	gas: 1n,
	signatureKind: "personal",
	signature: "0x12",
};
const solanaOp: SignedSolanaOp = {
	kind: "solana",
	feePayer: solanaNativeToken,
	blockhash: solanaNativeToken,
	lastValidBlockHeight: 2_000n,
	compute: { unitLimit: 1, microLamportsPerUnit: 1n },
	signature: "0x12",
};

const routes = fc.constantFrom<[origin: number, destination: number]>(
	[originId, destinationId],
	[destinationId, originId],
	[originId, originId],
	[originId, Number(solanaChainId)],
	[Number(solanaChainId), destinationId],
	[Number(solanaChainId), Number(solanaChainId)],
);

/** Submits a swap as the API does. */
async function submit(
	[origin, destination]: [number, number],
	{ amount, reservationSeconds, openSeconds, isOpened }: Terms & { isOpened: boolean },
): Promise<SwapUuid> {
	const nowMs = Date.now();
	const id = newSwapUuid({ nowMs, random: randomBytes(10) });
	const now = Math.floor(nowMs / 1_000);
	const order: Order = {
		...anyOrder(),
		originChainId: BigInt(origin),
		destinationChainId: BigInt(destination),
		attesterSet: `0x${"5e".repeat(32)}`,
		outputToken: destination === Number(solanaChainId) ? toSolanaWord(solanaNativeToken) : toWord(token),
		inputAmount: amount,
		wallet: bytesToHex(randomBytes(32)),
		topUp: 0n,
		swapKey: toSwapKey(id),
		deadlines: packDeadlines({
			openDeadline: BigInt(now + openSeconds),
			fillDeadline: BigInt(now + openSeconds + 600),
			refundAfter: BigInt(now + openSeconds + 1_200),
		}),
	};
	const delivery = { kind: "inventory", amount: 4n } as const;
	const result = await submitSwap(database.pools.api, {
		swap: {
			id,
			accountId: "00000000-0000-4000-8000-000000000001",
			order,
			output: 4n,
			valueUsdCents: 100n,
			feeMillibps: 12_500,
			delivery,
			op: origin === Number(solanaChainId) ? solanaOp : evmOp,
		},
		pairs: [],
		reserve: () => ({ delivery, chainId: destinationId, token, amount: 4n, volumes: [] }),
		isOpened,
		admit: () => {},
		countedOrders: [],
		limits: { shareOfInventory: 1, unopenedUsdCents: undefined, reservationSeconds },
		nowMs: () => nowMs,
	});
	expect(result.outcome).toBe("created");
	return id;
}
type Terms = { amount: bigint; reservationSeconds: number; openSeconds: number };

function runRound(): Promise<unknown> {
	const { config, ...options } = roundOptions(database.pool, { nowMs: Date.now() });
	const solana = {
		kind: "solana",
		deployment: {},
		chainId: Number(solanaChainId),
		depths: [{ upToUsd: 1_000, blocks: 1 }],
		finalitySeconds: 5,
		unreleasedCapUsd: 1_000,
		unfinalCapUsd: 1_000,
		deadAfterSeconds: 60,
	} as unknown as RoundOptions["config"]["chains"][number];
	return createRound({ ...options, config: { ...config, chains: [...config.chains, solana] } })();
}

async function stateOf(id: SwapUuid) {
	const { rows: jobs } = await database.owner.query(
		`select kind, chain_id, order_id, order_terms, payload, state, priority, alone, failures, reason, turn, not_before_block,
			attestation_id, relayer, nonce from jobs where swap_id = $1`,
		[id],
	);
	const { rows: waits } = await database.owner.query(
		"select order_id, fact, idle_rounds, failed_rounds, ask_chain_id from waits where swap_id = $1",
		[id],
	);
	const { rows: facts } = await database.owner.query(
		"select fact from swap_events where swap_id = $1 order by seq",
		[id],
	);
	return { jobs, waits, facts: facts.map(({ fact }) => fact) };
}

test("a submit writes the same job and fact as the first round would, and a due time that is no later", async () => {
	await fc.assert(
		fc.asyncProperty(
			routes,
			fc.record({
				amount: fc.bigInt(1n, 10n ** 30n),
				reservationSeconds: fc.integer({ min: 5, max: 600 }),
				openSeconds: fc.integer({ min: 5, max: 600 }),
			}),
			async (route, terms) => {
				const id = await submit(route, { ...terms, isOpened: false });
				const submitted = await stateOf(id);
				expect(submitted.facts).toEqual(["submitted", "opening"]);
				const dueIn = async () => {
					const { rows } = await database.owner.query(
						"select extract(epoch from due_at - now())::float8 as seconds from waits where swap_id = $1",
						[id],
					);
					return rows[0].seconds as number;
				};
				const dueAfterSubmit = await dueIn();
				expect(dueAfterSubmit).toBeGreaterThan(0);
				// A round right after it finds nothing to do.
				await database.owner.query("update waits set due_at = now() where swap_id = $1", [id]);
				await runRound();
				expect({ ...(await stateOf(id)), waits: [] }).toEqual({ ...submitted, waits: [] });
				// Without the submit's rows, a round writes the same.
				await database.owner.query("delete from jobs where swap_id = $1", [id]);
				await database.owner.query("delete from swap_events where swap_id = $1 and fact = 'opening'", [id]);
				await database.owner.query(
					"update waits set due_at = now(), fact = 'submitted', idle_rounds = 0 where swap_id = $1",
					[id],
				);
				await runRound();
				expect(await stateOf(id)).toEqual(submitted);
				expect(dueAfterSubmit).toBeLessThan((await dueIn()) + 5);
				await database.owner.query("delete from waits where swap_id = $1", [id]);
			},
		),
		{ numRuns: 12 },
	);
});

test("a swap whose order is open is due immediately, and no op is queued for it", async () => {
	const terms = { amount: 1n, reservationSeconds: 60, openSeconds: 60, isOpened: true };
	const id = await submit([originId, destinationId], terms);
	const { jobs, facts } = await stateOf(id);
	expect({ jobs, facts }).toEqual({ jobs: [], facts: ["submitted"] });
	const { rows } = await database.owner.query(
		"select due_at <= now() as is_due from waits where swap_id = $1",
		[id],
	);
	expect(rows).toEqual([{ is_due: true }]);
});

test("a round reads a new swap within a minute, even if the API sets a later due time", async () => {
	const terms = { amount: 1n, reservationSeconds: 60, openSeconds: 60, isOpened: true };
	const id = await submit([originId, destinationId], terms);
	const client = await database.owner.connect();
	try {
		await client.query("begin");
		const copy = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
		await client.query(
			`insert into swaps select (jsonb_populate_record(s, jsonb_build_object('id', $2::text, 'order_id', '\\x01', 'created_at', now()))).*
			from swaps s where id = $1`,
			[id, copy],
		);
		await client.query("select start_swap($1, 'infinity', false)", [copy]);
		const { rows } = await client.query(
			"select due_at = now() + interval '60 seconds' as is_soon from waits where swap_id = $1",
			[copy],
		);
		expect(rows).toEqual([{ is_soon: true }]);
	} finally {
		await client.query("rollback");
		client.release();
	}
});

test("the API can start a swap only once, and only in the transaction that inserts it", async () => {
	const { api } = database.pools;
	const terms = { amount: 1n, reservationSeconds: 60, openSeconds: 60, isOpened: true };
	const id = await submit([originId, destinationId], terms);
	await expect(api.query("select start_swap($1, now(), false)", [id])).rejects.toThrow("is not new");
	const client = await api.connect();
	try {
		await client.query("begin");
		// The change that the API may make to a swap does not make it a new one.
		await client.query("update swaps set account_id = account_id where id = $1", [id]);
		await expect(client.query("select start_swap($1, now(), false)", [id])).rejects.toThrow("duplicate key");
	} finally {
		await client.query("rollback");
		client.release();
	}
	for (const sql of [
		"insert into waits (swap_id, order_id) values (gen_random_uuid(), '')",
		"update waits set due_at = 'infinity'",
		"insert into jobs (swap_id, kind) values (gen_random_uuid(), 'open')",
		"update jobs set state = 'queued'",
	]) {
		await expect(api.query(sql), sql).rejects.toThrow("permission denied");
	}
	expect((await stateOf(id)).jobs).toEqual([]);
});
