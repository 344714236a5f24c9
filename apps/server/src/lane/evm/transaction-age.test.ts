import { bytesToHex, type Hex, RpcRequestError } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { delegatedWallet, queueSignedRemoval } from "../../../test/lane/delegation-removal.ts";
import { createLaneScene, followHead, type LaneScene, queueFill } from "../../../test/lane/lane-scene.ts";
import { startLane } from "../../../test/lane/start-lane.ts";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";

const replaceAfterBlocks = 5;
/** More blocks than a transaction may wait. */
const missedBlocks = 7;
const amount = 9_950_000n;

let scene: LaneScene;
beforeAll(async () => {
	scene = await createLaneScene();
});
beforeEach(async () => {
	await scene.owner.query("truncate jobs, waits, delegation_removals");
	await scene.pool.query("update lane_transactions set state = 'final'");
	for (const { testClient } of [scene.chains.origin, scene.chains.destination]) {
		await testClient.setAutomine(false);
	}
});
afterEach(async () => {
	for (const { testClient } of [scene.chains.origin, scene.chains.destination]) {
		await testClient.mine({ blocks: 1 });
		await testClient.setAutomine(true);
	}
});
afterAll(() => scene.stop());

test("a fill that is sent while the store's head is old is replaced once the chain has made enough blocks since, and not before", async () => {
	const { pool, destination } = scene;
	await leaveHeadBehind(destination);
	await queueFill(scene, { amount });
	await run(destination);
	for (const blocksAhead of [0, 1, 4]) {
		await followHead(pool, destination, { blocksAhead });
		await run(destination);
		expect(await attempts(destination)).toMatchObject([{ kind: "fill", state: "broadcast" }]);
	}
	await followHead(pool, destination, { blocksAhead: 5 });
	await run(destination);
	expect(await attempts(destination)).toMatchObject([{ kind: "fill" }, { kind: "fill", state: "broadcast" }]);
});

test("a removal that is sent while the store's head is old is not replaced by a plain cancel before its time, and lands", async () => {
	const { pool, origin, chains } = scene;
	const wallet = await delegatedWallet(chains.origin);
	await leaveHeadBehind(origin);
	await queueSignedRemoval(scene.owner, origin, { wallet });
	await run(origin);
	for (const blocksAhead of [0, 4]) {
		await followHead(pool, origin, { blocksAhead });
		await run(origin);
	}
	const sent = { kind: "cancel", attempt: 0, state: "broadcast" };
	expect(await attempts(origin)).toMatchObject([sent, sent]);
	await chains.origin.testClient.mine({ blocks: 1 });
	expect(await chains.origin.publicClient.getCode({ address: wallet.address })).toBeUndefined();
});

test("a removal that nodes refuse while the store's head is old is offered until its time has passed, and then cancelled", async () => {
	const { pool, origin, chains } = scene;
	const wallet = await delegatedWallet(chains.origin);
	await leaveHeadBehind(origin);
	await queueSignedRemoval(scene.owner, origin, { wallet });
	const refusing = answering(origin, "eth_sendRawTransaction", () => {
		const error = { code: -32_000, message: "replacement transaction underpriced" };
		throw new RpcRequestError({ body: {}, error, url: "" });
	});
	await run(refusing);
	for (const blocksAhead of [0, 4]) {
		await followHead(pool, origin, { blocksAhead });
		await run(refusing);
		const signed = { kind: "cancel", attempt: 0, state: "signed" };
		expect(await attempts(origin)).toMatchObject([signed, signed]);
	}
	await followHead(pool, origin, { blocksAhead: 5 });
	await run(refusing);
	// The first of the two, the revocation, makes room.
	const [revocation, cancel, removal] = await attempts(origin);
	expect([revocation?.nonce, removal?.nonce]).toEqual([cancel?.nonce, Number(cancel?.nonce) + 1]);
	expect(cancel?.raw).toMatch(/^0x02/);
	expect(cancel?.raw.length).toBeLessThan(revocation?.raw.length ?? 0);
	expect(removal?.raw).toMatch(/^0x04/);
});

test("if a process ends between sending a transaction and reading its block, the next one records its age and sends the same bytes", async () => {
	const { pool, destination } = scene;
	await leaveHeadBehind(destination);
	await queueFill(scene, { amount });
	const sent: unknown[] = [];
	const noting = answering(destination, "eth_sendRawTransaction", (raw) => void sent.push(raw));
	const ending = answering(noting, "eth_blockNumber", () => {
		throw new Error("connection refused");
	});
	await run(ending);
	const [signed] = await attempts(destination);
	expect(signed).toMatchObject({ state: "signed", sent_at_block: null });
	// The head that the next process finds is old too.
	await run(noting);
	const block = await destination.client.getBlockNumber();
	expect(await attempts(destination)).toMatchObject([
		{ hash: signed?.hash, state: "broadcast", sent_at_block: Number(block) },
	]);
	await followHead(pool, destination);
	await run(noting);
	expect(await attempts(destination)).toHaveLength(1);
	expect(new Set(sent)).toEqual(new Set([signed?.raw]));
	expect(sent).toHaveLength(2);
});

test("a node that reports a block which the chain reaches in years delays a replacement by at most 100 times its wait, and a node that is behind causes no early replacement", async () => {
	const { pool, destination } = scene;
	await queueFill(scene, { amount });
	const head = await followHead(pool, destination);
	await run(answering(destination, "eth_blockNumber", () => "0xffffffff"));
	const [sent] = await attempts(destination);
	expect(sent?.sent_at_block).toBe(head + 100 * replaceAfterBlocks);
	await followHead(pool, destination, { blocksAhead: 101 * replaceAfterBlocks });
	await run(answering(destination, "eth_blockNumber", () => "0x1"));
	const [, replacement] = await attempts(destination);
	expect(replacement).toMatchObject({ state: "broadcast", sent_at_block: head + 101 * replaceAfterBlocks });
});

/** Writes the head, then lets the chain make blocks that no follower reads. */
async function leaveHeadBehind(chain: EvmChain): Promise<void> {
	await followHead(scene.pool, chain);
	const { origin, destination } = scene.chains;
	const { testClient } = chain === scene.origin ? origin : destination;
	await testClient.mine({ blocks: missedBlocks });
}

/** Runs the lane once in a process that was just started. */
function run(chain: EvmChain): Promise<void> {
	return startLane(scene, chain, { policy: { replaceAfterBlocks } })();
}

type Attempt = {
	hash: Hex;
	raw: Hex;
	nonce: number;
	kind: string;
	state: string;
	sent_at_block: number | null;
};

async function attempts({ chainId }: EvmChain): Promise<Attempt[]> {
	const { rows } = await scene.pool.query(
		"select * from lane_transactions where chain_id = $1 and state <> 'final' order by nonce, attempt",
		[chainId],
	);
	return rows.map((row) => ({ ...row, hash: bytesToHex(row.hash), raw: bytesToHex(row.raw) }));
}

/** Returns the chain with a node that answers one method differently, unless `answer` returns undefined. */
function answering(chain: EvmChain, method: string, answer: (first: unknown) => unknown): EvmChain {
	const request = async (call: { method: string; params?: unknown }) => {
		const [first] = Array.isArray(call.params) ? call.params : [];
		const other = call.method === method ? answer(first) : undefined;
		return other ?? chain.client.request(call as never);
	};
	return { ...chain, client: { ...chain.client, request } as typeof chain.client };
}
