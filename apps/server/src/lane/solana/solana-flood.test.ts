import { type Order, orderId, recordAddress } from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import { bytesToHex, hexToBytes, zeroHash } from "viem";
import { afterAll, expect, test, vi } from "vitest";
import { followReally } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes } from "../../../test/lane/solana-lanes.ts";
import { floodAddresses } from "../../../test/solana/flood-addresses.ts";
import { limitedTransport } from "../../../test/solana/limited-transport.ts";
import { checkSolanaOutcomes } from "../../attester/check-outcomes.ts";
import type { ToldDeposit } from "../../chain/deposit-sight.ts";
import { connectSolana } from "../../chain/solana/connect-solana.ts";
import { readSolanaDeposit } from "../../chain/solana/read/read-solana-deposit.ts";
import { toSignature } from "../../chain/solana/read/read-statuses.ts";
import { readUnreadBlocks } from "../../swap/due/unread-blocks.ts";

const flood = process.env.GEOSWAP_FULL ? 5_000 : 100;
vi.setConfig({ testTimeout: process.env.GEOSWAP_FULL ? 600_000 : 60_000 });

const lanes = await createSolanaLanes({ follower: "real" });
const { scene, solana, slots, start, states, queueOpen, queuePayout, queueAttested, queueVoid } = lanes;
afterAll(() => lanes.stop());

test("deposits, payouts, releases and refunds continue during a flood, and no address is ever listed for them", async () => {
	const { transport, calls } = limitedTransport(solana, { maxBytes: 65_536 });
	const chain = connectSolana({ ...solana, transport });
	const follow = () => followReally({ ...scene, chain });
	const run = start({ chain });
	await follow();
	const [released, refunded] = [await queueOpen(), await queueOpen()];
	await run();
	await slots(3);
	await follow();
	await queueAttested("release", released.order);
	await queueAttested("refund", refunded.order);
	const [deposit, payout, voided] = [await queueOpen(), await queuePayout(), await queueVoid()];
	const { feePayers, program } = chain.deployment;
	const record = await recordAddress(program.address, orderId(payout.order));
	const addresses = [...feePayers, program.vault, record];
	const floodAll = () => floodAddresses(solana, { addresses, count: flood / 2 });
	await floodAll();
	await run();
	await slots(3);
	await floodAll();
	await follow();
	await slots(40);
	await follow();
	for (const [kind, { order }] of [
		["open", deposit],
		["fill", payout],
		["void", voided],
		["release", released],
		["refund", refunded],
	] as const) {
		expect(await states([order], kind)).toEqual(["done"]);
	}

	// An attester and a second provider read named transactions.
	const filled = await seen(payout.order, "Filled");
	const deliveries = new Map([[filled.orderId, filled.transactionHash]]);
	const outcomes = { kind: "Release", orders: [payout.order], deliveries } as const;
	expect(await checkSolanaOutcomes(chain, outcomes)).toEqual([undefined]);
	const sight = await readSolanaDeposit(chain, await seen(deposit.order, "Opened"));
	expect(sight).toMatchObject({ verdict: "agrees" });
	expect(calls.get("getSignaturesForAddress")).toBeUndefined();
});

test("a transaction of the service that the node refuses to return delays no other, and stops new swaps once it is final", async () => {
	await lanes.clear();
	const tooLarge: Signature[] = [];
	const { transport } = limitedTransport(solana, { tooLarge });
	const chain = connectSolana({ ...solana, transport });
	const follow = () => followReally({ ...scene, chain });
	await follow();
	const [refused, other] = [(await queuePayout()).order, (await queuePayout()).order];
	await start({ chain })();
	await slots(3);
	const { rows } = await scene.pool.query<{ hash: Buffer }>(
		"select hash from lane_transactions where jobs->0->>'orderId' = $1",
		[orderId(refused)],
	);
	tooLarge.push(...rows.map(({ hash }) => toSignature(bytesToHex(hash))));
	await follow();
	expect(await states([refused, other], "fill")).toEqual(["sent", "done"]);
	const reasons = async () => {
		const unread = await readUnreadBlocks(scene.pool, { chainId: chain.chainId, limit: 10 });
		return unread.map(({ reason }) => reason);
	};
	expect(await reasons()).toEqual([]);
	await slots(40);
	const { order: third } = await queuePayout();
	await follow();
	await start({ chain })();
	await slots(3);
	await follow();
	expect(await states([refused, third], "fill")).toEqual(["sent", "done"]);
	expect(await reasons()).toEqual([expect.stringContaining(`transaction ${tooLarge[0]} could not be read`)]);
	tooLarge.length = 0;
	await follow();
	expect(await states([refused, other], "fill")).toEqual(["done", "done"]);
	expect(await reasons()).toEqual([]);
});

/** Returns the place at which the follower has found an event of the order. */
async function seen(order: Order, name: string): Promise<ToldDeposit> {
	const { rows } = await scene.pool.query<{ transaction_hash: Buffer; block_number: number }>(
		"select transaction_hash, block_number from chain_events where order_id = $1 and name = $2",
		[hexToBytes(orderId(order)), name],
	);
	const [row] = rows;
	if (!row) throw new Error(`the follower has not seen ${name}`);
	return {
		orderId: orderId(order),
		order,
		blockNumber: row.block_number,
		blockHash: zeroHash,
		transactionHash: bytesToHex(row.transaction_hash),
	};
}
