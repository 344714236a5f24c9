import type { SolanaAddress } from "@geoswap/protocol";
import { afterAll, beforeEach, expect, test } from "vitest";
import { readJob } from "../../test/lane-scene.ts";
import { markerOf } from "../../test/solana-lane-scene.ts";
import { createSolanaLanes } from "../../test/solana-lanes.ts";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";

const lanes = await createSolanaLanes();
const { pump, slots, clear, forget, queuePayout, states, scene } = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

test("a job whose recipient the chain does not tell of waits, and keeps no other from being done", async () => {
	const bad = await queuePayout();
	const good = await queuePayout();
	await pump({ chain: silentAbout("getMultipleAccounts", bad.recipient) });
	expect(await states([good.order], "fill")).toEqual(["sent"]);
	expect(await readJob(scene.pool, bad.swapId, "fill")).toMatchObject({ state: "queued", strikes: 0 });
});

test("a job whose decision cannot be looked for waits, and keeps no other from being done", async () => {
	const bad = await queuePayout();
	await pump();
	await slots(3);
	await forget();
	const good = await queuePayout();
	const marker = await markerOf(scene, bad.order, "vault");
	await pump({ chain: silentAbout("getSignaturesForAddress", marker) });
	expect(await states([good.order], "fill")).toEqual(["sent"]);
	expect(await readJob(scene.pool, bad.swapId, "fill")).toMatchObject({ state: "queued", strikes: 0 });
});

/** A node that fails whenever it is asked so for this address, first of all. */
function silentAbout(
	method: "getMultipleAccounts" | "getSignaturesForAddress",
	address: SolanaAddress,
): SolanaChain {
	const { rpc } = scene.chain;
	const silent = new Proxy(rpc, {
		get: (_, name) => {
			const ask = Reflect.get(rpc, name) as (...args: unknown[]) => unknown;
			return (...args: unknown[]) =>
				name === method && [args[0]].flat()[0] === address
					? { send: () => Promise.reject(new Error("no answer")) }
					: ask(...args);
		},
	});
	return { ...scene.chain, rpc: silent };
}
