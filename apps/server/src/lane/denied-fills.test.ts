import { fromWord, type Order, toWord } from "@geoswap/protocol";
import { erc20Abi } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
	assetOf,
	createLaneScene,
	followHead,
	type LaneScene,
	queueFill,
	readJob,
} from "../../test/lane/lane-scene.ts";
import { startLane } from "../../test/lane/start-lane.ts";
import { createDenyList } from "../deny/deny-list.ts";

const amount = 9_950_000n;

let scene: LaneScene;
/** What the deny list answers about each address in lower case. It serves all others. */
const answers = new Map<string, boolean | undefined>();
const refusals: string[] = [];
const denyList = createDenyList(
	{
		isDenied: (address) => (answers.has(address) ? answers.get(address) : false),
		close: async () => {},
	},
	{ refused: (at, party) => refusals.push(`${at} ${party}`), lookedUp: () => {} },
);

beforeAll(async () => {
	scene = await createLaneScene();
	await followHead(scene.pool, scene.origin);
});
afterAll(() => scene.stop());
beforeEach(async () => {
	await scene.owner.query("truncate jobs");
	answers.clear();
	refusals.length = 0;
});

async function runLane(): Promise<void> {
	await followHead(scene.pool, scene.destination);
	await startLane(scene, scene.destination, { policy: { bundleSize: 8 }, denyList })();
}

function delivered({ recipient }: Order): Promise<bigint> {
	return scene.destination.client.readContract({
		address: assetOf(scene.chains.destination, "USDC"),
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [fromWord(recipient)],
	});
}

const keyOf = (word: Order["wallet"]) => fromWord(word).toLowerCase();

test("a fill whose wallet or recipient is denied after the deposit is refused, and others in its bundle are paid", async () => {
	const [ofWallet, toRecipient, other] = [
		await queueFill(scene, { amount, recipient: toWord(`0x${"ab".repeat(20)}`) }),
		await queueFill(scene, { amount, recipient: toWord(`0x${"cd".repeat(20)}`) }),
		await queueFill(scene, { amount }),
	];
	answers.set(keyOf(ofWallet.order.wallet), true);
	answers.set(keyOf(toRecipient.order.recipient), true);
	await runLane();
	await expect.poll(() => delivered(other.order)).toBe(amount);
	for (const { order, swapId } of [ofWallet, toRecipient]) {
		expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "denied" });
		expect(await delivered(order)).toBe(0n);
	}
	expect(refusals.toSorted()).toEqual(["fill recipient", "fill wallet"]);
});

test("a fill waits while the deny list is silent about its recipient, and is paid once the list serves it", async () => {
	const { order, swapId } = await queueFill(scene, { amount });
	answers.set(keyOf(order.recipient), undefined);
	await runLane();
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "queued", failures: 0 });
	expect(await delivered(order)).toBe(0n);
	answers.clear();
	await scene.chains.destination.testClient.mine({ blocks: 1 });
	await runLane();
	await expect.poll(() => delivered(order)).toBe(amount);
});

test("a fill that waits for a silent deny list until it is too late is refused for that", async () => {
	const { order, swapId } = await queueFill(scene, { amount, openSeconds: 1n, fillSeconds: 20n });
	answers.set(keyOf(order.recipient), undefined);
	await runLane();
	const { testClient } = scene.chains.destination;
	await testClient.increaseTime({ seconds: 30 });
	await testClient.mine({ blocks: 1 });
	await runLane();
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "refused", reason: "too_late" });
});

test("the output of a settled swap is delivered again, although its recipient is denied by now", async () => {
	const { order, swapId } = await queueFill(scene, { amount });
	await scene.owner.query("update swaps set status = 'settled' where id = $1", [swapId]);
	answers.set(keyOf(order.recipient), true);
	await runLane();
	await expect.poll(() => delivered(order)).toBe(amount);
	expect(refusals).toEqual([]);
});
