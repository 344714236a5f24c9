import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { startTestChains, type TestChains } from "@geoswap/devnet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { createLog } from "../../telemetry/log.ts";
import { keepFollowing } from "../keep-following.ts";
import { evmFollower } from "./evm-follower.ts";

let chains: TestChains;
let database: TestDatabase;

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

test("of several followers of a chain only one is active, and when it ends another takes over", async () => {
	const blocks = new EventEmitter();
	const start = (name: string) => {
		const stopping = new AbortController();
		const { pool } = database;
		const chain = connectChain(chains.origin);
		const log = createLog({ level: "silent", process: "test" });
		const follower = evmFollower({ chain, pool, engine: { poke: async () => {} }, relayers: [], log });
		const ended = keepFollowing({
			chainId: chain.chainId,
			pool,
			follower: () => {
				const advance = follower();
				return async () => {
					const isNew = await advance();
					if (isNew) blocks.emit("block", name);
					return isNew;
				};
			},
			pause: () => sleep(10),
			isStopped: () => stopping.signal.aborted,
			nowMs: Date.now,
			log,
		});
		return async () => {
			stopping.abort();
			await ended;
		};
	};
	const afterBlock = async () => {
		const next = once(blocks, "block");
		await chains.origin.testClient.mine({ blocks: 1 });
		return (await next)[0];
	};
	const stopFirst = start("first");
	expect(await afterBlock()).toBe("first");
	const stopSecond = start("second");
	expect(await afterBlock()).toBe("first");
	await stopFirst();
	expect(await afterBlock()).toBe("second");
	await stopSecond();
});
