import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { toSolanaWord } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { solanaOrderActions } from "../../../test/follow/solana-order-actions.ts";
import {
	createSolanaScene,
	depositOrder,
	devnetWallet,
	type SolanaScene,
} from "../../../test/lane/solana-lane-scene.ts";
import { createLog } from "../../telemetry/log.ts";
import { keepFollowing } from "../keep-following.ts";
import { solanaFollower } from "./solana-follower.ts";

let scene: SolanaScene;
beforeAll(async () => {
	scene = await createSolanaScene({ slotMs: 40, finalitySlots: 8 });
});
afterAll(() => scene?.stop());

test("of several followers of Solana only one is active, and when it ends another takes over", async () => {
	const looks = new EventEmitter();
	const start = (name: string) => {
		const stopping = new AbortController();
		const { chain, pool } = scene;
		const engine = { poke: async () => {} };
		const log = createLog({ level: "silent", process: "test" });
		const follower = solanaFollower({ chain, pool, engine, relayers: [], log });
		const ended = keepFollowing({
			chainId: chain.chainId,
			pool,
			follower: () => {
				const advance = follower();
				return async () => {
					const hasMore = await advance();
					looks.emit("slot", name);
					return hasMore;
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
	const next = async () => (await once(looks, "slot"))[0];
	const stopFirst = start("first");
	expect(await next()).toBe("first");
	const stopSecond = start("second");
	expect(await next()).toBe("first");
	await stopFirst();
	const actions = solanaOrderActions(scene);
	const wallet = await devnetWallet(scene);
	const order = depositOrder(scene, { wallet: toSolanaWord(wallet.address) });
	await actions.open(order, wallet);
	const isOpened = async () => (await scene.pool.query("select from chain_events")).rowCount !== 0;
	while (!(await isOpened())) expect(await next()).toBe("second");
	await stopSecond();
});
