import { toSolanaWord } from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { hexToBytes } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createSolanaFollowScene, type SolanaFollowScene } from "../../../test/follow/solana-follow-scene.ts";
import { laggingSolana } from "../../../test/solana/lagging-solana.ts";
import { createLog } from "../../telemetry/log.ts";

let scene: SolanaFollowScene;
beforeAll(async () => {
	scene = await createSolanaFollowScene();
});
afterAll(() => scene?.stop());
afterEach(() => scene.admin.setFaults({}));

/** Nodes that answer about a transaction before they have reached its slot, or after they have pruned it. */
const behind = (slot: number) => laggingSolana(scene.chain, { asOf: slot - 1 });
const forgetful = (slot: number) => laggingSolana(scene.chain, { first: slot + 1 });

test.each([
	["is behind", behind],
	["has forgotten its block", forgetful],
] as const)("a landed deposit is not undone by a node that %s", async (_, through) => {
	await scene.followToEnd();
	const order = scene.deposit();
	const transaction = await scene.actions.open(order, scene.wallet);
	await scene.admin.setFaults({ stallFinality: true });
	const slot = await scene.actions.landed(transaction);
	await scene.follow();
	const before = await scene.head();
	await scene.admin.setFaults({});
	await scene.actions.finalized();
	await scene.forgetLook();
	await scene.follow({ through: through(slot) });
	expect(await scene.namesOf(order)).toEqual(["Opened", "RentPaid"]);
	expect(await scene.transactionOf(transaction)).toMatchObject({ state: "mined", block_number: slot });
	// Slots that such a node does not have do not become final.
	expect(await scene.head()).toMatchObject({
		finalizedNumber: before?.finalizedNumber,
		bookedNumber: before?.bookedNumber,
	});
	await scene.followToEnd();
	expect(await scene.transactionOf(transaction)).toMatchObject({ state: "final" });
	await scene.expectBooksToMatch();
});

test("a payout that a lagging node does not have yet is not booked as a loss", async () => {
	await scene.followToEnd();
	const count = await scene.unattributedCount();
	const order = scene.payout();
	const slot = await scene.actions.landed(await scene.actions.fill(order, 9_950_000n));
	await scene.actions.finalized();
	await scene.forgetLook();
	await scene.follow({ through: behind(slot) });
	expect(await scene.unattributedCount()).toBe(count);
	await scene.followToEnd();
	expect(await scene.namesOf(order)).toEqual(["Filled", "RentPaid"]);
	expect(await scene.unattributedCount()).toBe(count);
	await scene.expectBooksToMatch();
});

test("a lagging node does not make a final transaction count as gone", async () => {
	const order = scene.deposit();
	const slot = await scene.actions.landed(await scene.actions.open(order, scene.wallet));
	await scene.followToEnd();
	await scene.forgetLook();
	const before = await scene.head();
	await scene.follow({ through: behind(slot) });
	expect((await scene.head())?.finalizedNumber).toBe(before?.finalizedNumber);
});

test("a deposit that was given up and landed later is logged as an error, and is booked", async () => {
	await scene.followToEnd();
	const alarms: object[] = [];
	const log = createLog({ level: "silent", process: "test" });
	log.error = ((about: object) => {
		alarms.push(about);
	}) as typeof log.error;
	const order = scene.deposit();
	const transaction = await scene.actions.open(order, scene.wallet);
	await scene.pool.query("update lane_transactions set state = 'final' where hash = $1", [
		hexToBytes(transaction.signature),
	]);
	await scene.actions.landed(transaction);
	await scene.follow({ log });
	expect(alarms).toMatchObject([{ hashes: [transaction.signature] }]);
	await scene.followToEnd();
	expect(await scene.namesOf(order)).toEqual(["Opened", "RentPaid"]);
	await scene.expectBooksToMatch();
});

test("a lane is poked for a transaction that a removed fee payer left behind", async () => {
	await scene.followToEnd();
	scene.poked.length = 0;
	await scene.admin.setFaults({ dropSends: true });
	const { signature } = await scene.actions.open(scene.deposit(), scene.wallet);
	const stranger = toSolanaWord((await generateKeyPairSigner()).address);
	await scene.pool.query("update lane_transactions set relayer = $2 where hash = $1", [
		hexToBytes(signature),
		hexToBytes(stranger),
	]);
	await scene.forgetLook();
	await scene.follow();
	expect(scene.poked.map(({ key }) => key)).toEqual([`${scene.chain.chainId}:${scene.actions.relayer}`]);
});
