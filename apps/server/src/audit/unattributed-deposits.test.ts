import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import { fromSolanaWord, memoProgramAddress, type Order, orderId, packDeadlines } from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { zeroHash } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { type SolanaActions, solanaActions } from "../../test/solana/solana-actions.ts";
import { advanceSolana } from "../follow/solana/advance-solana.ts";
import { createLog } from "../telemetry/log.ts";
import type { Breach, Report } from "./read/report.ts";
import { reconcile } from "./reconcile.ts";

const slowSlotMs = 3_600_000;

let solana: TestSolana;
let on: SolanaActions;
let database: TestDatabase;

beforeEach(async () => {
	[solana, database] = await Promise.all([
		startTestSolana({ slotMs: slowSlotMs }),
		createTestDatabase({ as: "auditor" }),
	]);
	on = await solanaActions(solana);
	await follow();
});
afterEach(async () => {
	await database?.drop();
	await solana?.stop();
});

/** Follows the chain until all that happened is final and booked. */
async function follow(): Promise<void> {
	await on.finalize();
	// A head that was just updated is left alone if there is no news.
	await database.owner.query("update chain_heads set updated_at = now() - interval '1 day'");
	const following = {
		chain: on.chain,
		pool: database.pools.worker,
		relayers: [],
		outflowCaps: {},
		markerSeconds: 1_000_000,
		engine: { poke: async () => {} },
		log: createLog({ level: "silent", process: "test" }),
	};
	while (await advanceSolana(following));
}

async function audit(): Promise<Report> {
	await follow();
	return reconcile({
		pool: database.pool,
		chains: [],
		solana,
		earlierAttesterSets: [],
		nowMs: Date.now(),
	});
}

const isPausing = ({ pauses }: Breach) => pauses !== false;

/** Returns an order whose terms are in no books. */
const newOrder = (): Order =>
	on.fromSolana({
		originChainId: 0n,
		destinationChainId: 1n,
		escrow: zeroHash,
		originVault: zeroHash,
		destinationVault: zeroHash,
		attesterSet: zeroHash,
		wallet: zeroHash,
		inputToken: zeroHash,
		inputAmount: 0n,
		outputToken: zeroHash,
		minOutput: 1n,
		recipient: zeroHash,
		topUp: 0n,
		swapKey: zeroHash,
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
	});

test("a deposit that is not in the books is named, and refunding it to its wallet is no breach", async () => {
	const [paidBack, halfBack, released] = [newOrder(), newOrder(), newOrder()];
	const within = on.toSolana(newOrder());
	for (const order of [paidBack, halfBack, released, within]) await on.land(await on.signDeposit(order));
	const named = async () => (await audit()).unattributedDeposits.map(({ orderId: id }) => id);
	const { unattributedDeposits, breaches } = await audit();
	expect(unattributedDeposits).toContainEqual({
		chainId: solana.deployment.chainId,
		orderId: orderId(paidBack),
		wallet: fromSolanaWord(paidBack.wallet),
		token: fromSolanaWord(paidBack.inputToken),
		amount: String(paidBack.inputAmount),
		signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/),
		slot: expect.any(Number),
	});
	expect(breaches.filter(isPausing)).toEqual([]);

	await on.land(await on.signRefund(paidBack));
	await on.land(await on.signRefund(within));
	const after = await audit();
	expect(after.breaches.filter(isPausing)).toEqual([]);
	expect(await named()).not.toContain(orderId(paidBack));
	expect(await named()).not.toContain(orderId(within));
	expect(await named()).toContain(orderId(halfBack));

	const { escrow } = on.keys;
	const marker = await on.marker(halfBack, { base: escrow, owner: escrow.address });
	const to = fromSolanaWord(halfBack.wallet);
	const transfer = await on.transfer("USDC", 5_000_000n, { from: escrow, to });
	await on.land(await on.sign([...marker, ...transfer]));
	await on.land(await on.signRelease(released));
	const found = (await audit()).breaches.filter(isPausing);
	expect(
		found.filter(({ orderId: id }) => id === orderId(halfBack)).map(({ invariant }) => invariant),
	).toContain("I4");
	expect(
		found.filter(({ orderId: id }) => id === orderId(released)).map(({ invariant }) => invariant),
	).toEqual(["I3"]);
});

test("a deposit that is refunded by hand, whole and once, with the order's id as memo, is no breach", async () => {
	const [first, other] = [newOrder(), newOrder()];
	for (const order of [first, other]) await on.land(await on.signDeposit(order));
	const payBack = async (order: Order, to = fromSolanaWord(order.wallet)) => {
		const { inputAmount } = order;
		const memo = { programAddress: memoProgramAddress, data: Buffer.from(orderId(order)) };
		await on.land(
			await on.sign([...(await on.transfer("USDC", inputAmount, { from: on.keys.escrow, to })), memo]),
		);
	};
	await payBack(first);
	const after = await audit();
	expect(after.breaches.filter(isPausing)).toEqual([]);
	expect(after.unattributedDeposits.map(({ orderId: id }) => id)).toEqual([orderId(other)]);

	await payBack(first);
	expect((await audit()).breaches.filter(isPausing).map(({ message }) => message)).toContainEqual(
		expect.stringMatching(/^10000000 of \w+ left the escrow on Solana for no order/),
	);
});

test("fees of forgotten transactions do not pause the chain, and other spending of a fee payer is found", async () => {
	const forgotten = newOrder();
	await on.land(await on.signDeposit(forgotten));
	const spent = (await audit()).breaches;
	expect(spent.map(({ invariant, pauses }) => [invariant, pauses])).toEqual([["I2", false]]);
	expect(spent[0]?.message).toMatch(
		/^\d+ lamports were spent on Solana by \d+ transactions that are not in the books/,
	);

	const { address: to } = await generateKeyPairSigner();
	await on.land(await on.sign(await on.transfer("SOL", 1_234_567n, { from: on.feePayer, to })));
	expect((await audit()).breaches.map(({ message }) => message)).toContain(
		"1234567 lamports left fee payers on Solana by transactions that are not in the books",
	);
});
