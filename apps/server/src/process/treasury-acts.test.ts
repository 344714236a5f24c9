import { geoVaultAbi } from "@geoswap/protocol";
import { concat, encodeFunctionData, padHex, slice, zeroAddress } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type ActingScene, createActingScene, randomId } from "../../test/treasury/acting-scene.ts";
import { readBalances } from "../chain/evm/read/read-balances.ts";
import type { MoveState } from "../money/move/treasury-moves.ts";

const amount = 1_000_000_000n;
let scene: ActingScene;

beforeAll(async () => {
	scene = await createActingScene();
	await scene.makeFinal();
	await scene.follow();
});
afterAll(() => scene?.stop());
beforeEach(async () => {
	scene.aheadMs = 0;
	scene.iris.service = "up";
	scene.iris.mood = "honest";
	scene.iris.moodOf.clear();
	await scene.owner.query("truncate treasury_moves, treasury_pauses");
	await scene.owner.query("update inventory set reserved = 0");
	await scene.makeFinal();
	await scene.follow();
});

/** One round of what a worker does, with the next blocks final. A row's pause between two looks is skipped. */
async function round(): Promise<void> {
	await scene.owner.query("update treasury_moves set look_at = null");
	await scene.look();
	await scene.makeFinal();
	await scene.follow();
}

async function until(id: string, state: MoveState): Promise<void> {
	for (let i = 0; (await scene.move(id)).state !== state; i++) {
		if (i === 30) throw new Error(`the move stays ${(await scene.move(id)).state}`);
		await round();
	}
}

async function held(): Promise<[bigint, bigint]> {
	const of = async ({ deployment }: ActingScene["origin"], chain: ActingScene["origin"]) => {
		const [balance = 0n] = await readBalances(chain, {
			tokens: [deployment.settlementToken],
			holders: [deployment.contracts.vault],
			blockNumber: Number(await chain.client.getBlockNumber({ cacheTime: 0 })),
		});
		return balance;
	};
	return [await of(scene.origin, scene.origin), await of(scene.destination, scene.destination)];
}

async function reserved(): Promise<bigint> {
	const { rows } = await scene.owner.query<{ sum: string }>(
		"select coalesce(sum(reserved), 0)::text as sum from inventory",
	);
	return BigInt(rows[0]?.sum ?? 0);
}

test("a bridge is burned, attested, minted and final, its amount is reserved until it left, and both vaults hold the result", async () => {
	const before = await held();
	const id = await scene.queue();
	expect(await reserved()).toBe(amount);
	await scene.look();
	expect((await scene.move(id)).state).toBe("sent");
	expect(await reserved()).toBe(amount);
	await until(id, "moved");
	expect(await reserved()).toBe(0n);
	await until(id, "final");
	expect(await held()).toEqual([before[0] - amount, before[1] + amount]);
	expect(await scene.move(id)).toMatchObject({ arrived: { received: amount } });
});

test("a send reaches its recipient, a trade sells at no less than its minimum, and each is final with its block", async () => {
	const { contracts, settlementToken, assets } = scene.origin.deployment;
	const common = { toChainId: scene.origin.chainId, holder: contracts.vault };
	const gas = await scene.queue({
		...common,
		kind: "send",
		token: zeroAddress,
		amount: 10n ** 15n,
		address: scene.treasurer.address,
		moveId: randomId(),
		data: {},
	});
	const sell = (sold: string, amount: bigint, poolFees: number[]) =>
		scene.queue({
			...common,
			kind: "trade",
			token: assets.find(({ symbol }) => symbol === sold)?.address ?? zeroAddress,
			toToken: settlementToken,
			amount,
			minReceived: 1_000_000n,
			moveId: randomId(),
			data: { poolFees },
		});
	const sales = [
		await sell("WETH", 10n ** 15n, [500]),
		await sell("ORB", 10n ** 18n, [3_000, 500]),
		await sell("ETH", 10n ** 15n, [500]),
	];
	await until(gas, "final");
	for (const sale of sales) await until(sale, "final");
	const { rows } = await scene.owner.query<{ received: string }>(
		"select received::text from treasury_moves where id = any($1)",
		[sales],
	);
	for (const { received } of rows) expect(BigInt(received)).toBeGreaterThanOrEqual(1_000_000n);
	expect(await reserved()).toBe(0n);
});

test("a move that the vault would refuse fails without a transaction, with the contract's reason, and gives its amount back", async () => {
	const { settlementToken, assets } = scene.origin.deployment;
	const weth = assets.find(({ symbol }) => symbol === "WETH");
	const id = await scene.queue({
		kind: "trade",
		token: weth?.address ?? zeroAddress,
		toToken: settlementToken,
		amount: 10n ** 15n,
		minReceived: 10n ** 30n,
		data: { poolFees: [500] },
	});
	await scene.look();
	expect(await scene.move(id)).toMatchObject({
		state: "failed",
		problem: expect.stringMatching(/^refused: /),
	});
	expect(await reserved()).toBe(0n);
});

test("a move that the chain has made already is not made again: its row follows the first one", async () => {
	const moveId = randomId();
	const id = await scene.queue({ moveId });
	await until(id, "moved");
	const before = await held();
	// A restored database has the row as it was before its transaction was signed.
	await scene.owner.query(
		"update treasury_moves set state = 'queued', moved_block = null, transaction_hash = null where id = $1",
		[id],
	);
	await scene.owner.query("delete from chain_events where name = 'Bridged'");
	await scene.runLane(scene.origin);
	expect((await scene.move(id)).state).toBe("queued");
	expect((await held())[0]).toBe(before[0]);
});

test("a move whose event has other terms than its row has failed, and counts as not made", async () => {
	const moveId = randomId();
	const { vault } = scene.origin.deployment.contracts;
	const id = await scene.queue({ moveId });
	await scene.chains.origin.testClient.impersonateAccount({ address: scene.treasurer.address });
	await scene.chains.origin.testClient.request({
		method: "eth_sendTransaction",
		params: [
			{
				from: scene.treasurer.address,
				to: vault,
				gas: "0xf4240",
				data: encodeFunctionData({
					abi: geoVaultAbi,
					functionName: "send",
					args: [moveId, zeroAddress, scene.treasurer.address, 5n],
				}),
			},
		],
	} as never);
	await scene.makeFinal();
	await scene.follow();
	await scene.look();
	expect(await scene.move(id)).toMatchObject({
		state: "failed",
		problem: "the vault has made a move with this id and other terms",
	});
});

test("a paused treasury signs no move, and goes on to mint what has left", async () => {
	const left = await scene.queue();
	await until(left, "moved");
	await scene.owner.query("insert into treasury_pauses (paused_by, reason) values ('op', 'test')");
	await expect(scene.queue()).rejects.toThrow("not queued");
	await until(left, "final");
	await scene.owner.query("update treasury_pauses set resumed_at = now()");
	const id = await scene.queue();
	await scene.owner.query("insert into treasury_pauses (paused_by, reason) values ('op', 'test')");
	await scene.look();
	expect((await scene.move(id)).state).toBe("queued");
	scene.aheadMs = 16 * 60_000;
	await scene.look();
	expect(await scene.move(id)).toMatchObject({ state: "cancelled", problem: "no lane signed it in time" });
	expect(await reserved()).toBe(0n);
});

test("while Iris is silent a bridge waits, is stuck after three times its time, and arrives once Iris answers", async () => {
	const id = await scene.queue();
	scene.iris.mood = "silent";
	await until(id, "moved");
	for (let i = 0; i < 3; i++) await round();
	expect((await scene.move(id)).state).toBe("moved");
	scene.aheadMs = 3 * 1_140_000 + 60_000;
	await round();
	expect(await scene.move(id)).toMatchObject({
		state: "stuck",
		problem: expect.stringMatching(/^it is late/),
	});
	scene.iris.mood = "honest";
	await until(id, "final");
});

test("a lying Iris cannot make a mint: a bridge with wrong or forged bytes waits for a person or for the truth", async () => {
	const before = await held();
	const id = await scene.queue();
	await until(id, "moved");
	// The recipient of the mint is in the body, which begins at byte 148.
	const thief = padHex("0xbad", { size: 32 });
	scene.iris.mood = { wrong: (message) => concat([slice(message, 0, 184), thief, slice(message, 216)]) };
	await round();
	expect(await scene.move(id)).toMatchObject({
		state: "stuck",
		problem: expect.stringMatching(/^wrong message: /),
	});
	scene.iris.mood = "forged";
	for (let i = 0; i < 3; i++) await round();
	expect((await held())[1]).toBe(before[1]);
	scene.iris.mood = "honest";
	await until(id, "final");
	expect((await held())[1]).toBe(before[1] + amount);
});

test("a worker killed after any of its steps, with what it had begun lost, makes each move once", async () => {
	const before = await held();
	const parts = ["advance", "lane origin", "lane destination", "follow"] as const;
	let moves = 0;
	for (const killed of parts) {
		for (let skip = 0; skip < 3; skip++) {
			const id = await scene.queue();
			moves++;
			for (let i = 0; (await scene.move(id)).state !== "final"; i++) {
				if (i === 40) throw new Error(`killed in ${killed}, the move stays ${(await scene.move(id)).state}`);
				await scene.owner.query("update treasury_moves set look_at = null");
				const isKilled = (part: (typeof parts)[number]) => part === killed && i % 3 === skip;
				if (!isKilled("advance")) await scene.look({ withLanes: false });
				if (!isKilled("lane origin")) await scene.runLane(scene.origin);
				if (!isKilled("lane destination")) await scene.runLane(scene.destination);
				await scene.makeFinal();
				if (!isKilled("follow")) await scene.follow();
			}
		}
	}
	const after = await held();
	expect(before[0] - after[0]).toBe(BigInt(moves) * amount);
	expect(after[1] - before[1]).toBe(BigInt(moves) * amount);
});

test("a burn that its chain drops in a reorg is sent again", async () => {
	const { testClient } = scene.chains.origin;
	const snapshot = await testClient.snapshot();
	const before = await held();
	const id = await scene.queue();
	await scene.look();
	await testClient.mine({ blocks: 1 });
	await scene.follow();
	await scene.look();
	expect((await scene.move(id)).state).toBe("moved");
	await testClient.revert({ id: snapshot });
	await testClient.mine({ blocks: 3 });
	await scene.follow();
	await scene.owner.query("update treasury_moves set look_at = null");
	await scene.look({ withLanes: false });
	expect((await scene.move(id)).state).toBe("sent");
	await until(id, "final");
	expect((await held())[1]).toBe(before[1] + amount);
});

test("two rows never share one of Circle's messages", async () => {
	const first = await scene.queue();
	await until(first, "final");
	const { rows } = await scene.owner.query<{ message: Buffer; nonce: Buffer }>(
		"select message, nonce from treasury_moves where id = $1",
		[first],
	);
	const second = await scene.queue();
	await until(second, "moved");
	await expect(
		scene.owner.query("update treasury_moves set nonce = $2 where id = $1", [second, rows[0]?.nonce]),
	).rejects.toThrow("treasury_moves_by_nonce");
	scene.iris.mood = { wrong: () => `0x${rows[0]?.message.toString("hex")}` };
	await round();
	expect((await scene.move(second)).problem).toMatch(/is another move's$/);
});
