import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { delegatedWallet, queueSignedRemoval } from "../../../test/lane/delegation-removal.ts";
import { createLaneScene, followHead, type LaneScene } from "../../../test/lane/lane-scene.ts";
import { startLane } from "../../../test/lane/start-lane.ts";
import { readEpoch } from "../../chain/evm/wallet/read-wallet.ts";

let scene: LaneScene;
beforeAll(async () => {
	scene = await createLaneScene();
});
beforeEach(() => scene.owner.query("truncate delegation_removals"));
afterAll(() => scene.stop());

test("a lane sends the removal that a wallet has signed once, which revokes the wallet's mandates and ends its delegation", async () => {
	const wallet = await delegatedWallet(scene.chains.origin);
	await queueSignedRemoval(scene.owner, scene.origin, { wallet });
	await runLane();
	expect(await codeOf(wallet)).toBeUndefined();
	expect(await epochOf(wallet)).toBe(1n);
	expect(await states()).toEqual(["sent"]);
	const before = await sentByRelayer();
	await runLane();
	expect(await sentByRelayer()).toBe(before);
});

test("a removal whose nonce has passed causes no transaction", async () => {
	const wallet = await delegatedWallet(scene.chains.origin);
	await queueSignedRemoval(scene.owner, scene.origin, { wallet, nonce: 5 });
	const before = await sentByRelayer();
	await runLane();
	expect(await states()).toEqual(["refused"]);
	expect(await sentByRelayer()).toBe(before);
	expect(await codeOf(wallet)).toBeDefined();
});

test("two lanes that find the same removal send it once", async () => {
	const wallet = await delegatedWallet(scene.chains.origin);
	await queueSignedRemoval(scene.owner, scene.origin, { wallet });
	const counts = () => Promise.all([sentByRelayer(0), sentByRelayer(1)]);
	const before = await counts();
	await Promise.all([runLane(0), runLane(1)]);
	const after = await counts();
	// The revocation and the removal.
	expect(after.reduce((a, b) => a + b)).toBe(before.reduce((a, b) => a + b) + 2);
	expect(await codeOf(wallet)).toBeUndefined();
});

/** A process that was just started, and is poked once. */
async function runLane(lane = 0): Promise<void> {
	await followHead(scene.pool, scene.origin);
	await startLane(scene, scene.origin, { policy: { replaceAfterBlocks: 5 } })(lane);
}

async function states(): Promise<string[]> {
	const { rows } = await scene.pool.query<{ state: string }>("select state from delegation_removals");
	return rows.map(({ state }) => state);
}

function epochOf({ address }: PrivateKeyAccount) {
	return readEpoch(scene.origin, address);
}

function codeOf({ address }: PrivateKeyAccount) {
	return scene.chains.origin.publicClient.getCode({ address });
}

function sentByRelayer(lane = 0): Promise<number> {
	return scene.chains.origin.publicClient.getTransactionCount({
		address: scene.relayers[lane]?.address ?? "0x",
	});
}
