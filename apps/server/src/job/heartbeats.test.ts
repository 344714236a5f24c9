import { solanaChainId } from "@geoswap/protocol";
import { type Address, getAddress, toHex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { attestersAlive, storeHeartbeats } from "./heartbeats.ts";

const nowMs = 1_800_000_000_000;
const now = nowMs / 1_000;
const evmChainId = 31337;
const [first, second] = [1, 2].map((n) => getAddress(toHex(n, { size: 20 }))) as [Address, Address];
const wanted = {
	attesters: [first, second],
	chainIds: [evmChainId, solanaChainId],
	heartbeatSeconds: 600,
	sightSeconds: 60,
	nowMs,
};

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

/** An EVM chain with a block a second, and Solana with five slots a second. */
beforeEach(async () => {
	await database.owner.query("truncate heartbeats, chain_heads");
	for (const [chainId, number, finalized] of [
		[evmChainId, 1_010, 1_000],
		[solanaChainId, 50_050, 50_000],
	]) {
		await database.pool.query(
			`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
				booked_number)
			values ($1, $2, '\\x00', $3, 1, $4, $5, $4)`,
			[chainId, number, now, finalized, now - 10],
		);
	}
	await beat(first, evmChainId, 1_000);
	await beat(second, evmChainId, 1_000);
});

const beat = (attester: Address, chainId: number, finalizedNumber: number, signedAtUnixSeconds = now - 5) =>
	storeHeartbeats(database.pool, [{ attester, chainId, finalizedNumber, signedAtUnixSeconds }]);
const alive = async () => {
	const { rows } = await database.pool.query(attestersAlive(wanted));
	return rows[0].alive;
};

test("an attester counts for an order to Solana only once it reports Solana too", async () => {
	expect(await alive()).toBe(0);
	await beat(first, solanaChainId, 50_000);
	expect(await alive()).toBe(1);
	await beat(second, solanaChainId, 50_020);
	expect(await alive()).toBe(2);
});

test("an attester's lag is measured in each chain's own block time", async () => {
	// Two hundred slots are forty seconds.
	await beat(first, solanaChainId, 49_800);
	expect(await alive()).toBe(1);
	await beat(first, solanaChainId, 49_600, now - 4);
	expect(await alive()).toBe(0);
	await beat(second, solanaChainId, 50_000, now - 601);
	expect(await alive()).toBe(0);
});
