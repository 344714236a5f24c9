import { type Address, type Hex, hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import type { Config } from "../config/config.ts";
import type { Meter, Sample } from "../telemetry/meter.ts";
import { watchClock } from "./watch-clock.ts";
import { watchRelayers } from "./watch-relayers.ts";
import { watchSigningKeys } from "./watch-signing-keys.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

const relayer: Hex = "0x00000000000000000000000000000000000000b1";

/** Returns the samples of the readings that a watcher adds. */
async function readingsOf(watch: (meter: Meter) => void): Promise<Sample[]> {
	const reads: (() => Sample[] | Promise<Sample[]>)[] = [];
	const unexpected = () => {
		throw new Error("unexpected");
	};
	watch({ counter: unexpected, histogram: unexpected, reading: ({ read }) => reads.push(read) });
	return (await Promise.all(reads.map(async (read) => read()))).flat();
}

test("a relayer's spend is that of its transactions of the last day, and 0 if it has none", async () => {
	const insert = `insert into lane_transactions
		(chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state, sent_at_block, gas_cost, created_at)
		values ($1, $2, $3, 0, $4, '\\x00', 'fill', '[]', 1, 'final', 1, $5, now() - $6::interval)`;
	for (const [nonce, cost, age] of [
		[1, "1000000000000000000", "1 hour"],
		[2, "500000000000000000", "23 hours"],
		[3, "7000000000000000000", "25 hours"],
		[4, null, "1 minute"],
	] as const) {
		await database.pool.query(insert, [1, hexToBytes(relayer), nonce, Buffer.from([nonce]), cost, age]);
	}
	const chain = { config: { nativeDecimals: 18 }, relayers: [relayer], readBalances: async () => [] };
	const samples = await readingsOf((meter) =>
		watchRelayers({
			meter,
			chains: [
				{ ...chain, chainId: 1, isVaultPaused: async () => true },
				{ ...chain, chainId: 2 },
			],
			db: database.pool,
			nowMs: Date.now,
		}),
	);
	expect(samples.map(({ gauge, labels, value }) => [gauge, labels?.chain, value])).toEqual([
		["geoswap_relayer_spent_native", "1", 1.5],
		["geoswap_relayer_spent_native", "2", 0],
		["geoswap_vault_paused", "1", 1],
	]);
});

test("a clock that is half a minute ahead is detected", async () => {
	const [ahead] = await readingsOf((meter) =>
		watchClock({ meter, db: database.pool, nowMs: () => Date.now() + 30_000 }),
	);
	expect(ahead?.value).toBeGreaterThan(29);
	expect(ahead?.value).toBeLessThan(31);
});

test("a key's age counts from when a worker was first configured with it, and survives a restart of the worker", async () => {
	const treasurer: Address = "0x00000000000000000000000000000000000000A6";
	const [attester, added] = [
		"0x00000000000000000000000000000000000000A7",
		"0x00000000000000000000000000000000000000A8",
	];
	const configOf = (attesters: string[]) =>
		({
			chains: [{ kind: "evm", chainId: 1, deployment: { attesterSet: { attesters } } }],
		}) as unknown as Config;
	const agesOf = async (attesters: string[]) => {
		const chains = [1, 2].map((chainId) => ({ chainId, relayers: [relayer], treasurer }));
		const samples = await readingsOf((meter) =>
			watchSigningKeys({ meter, config: configOf(attesters), chains, db: database.pool }),
		);
		return samples.map(({ labels, value }) => [labels?.use, Math.round(value / 86_400)]);
	};
	expect(await agesOf([attester])).toEqual([
		["relayer", 0],
		["treasurer", 0],
		["attester", 0],
	]);
	await database.owner.query("update signing_keys set first_seen_at = now() - interval '400 days'");
	expect(await agesOf([attester, added])).toEqual([
		["relayer", 400],
		["treasurer", 400],
		["attester", 400],
		["attester", 0],
	]);
});
