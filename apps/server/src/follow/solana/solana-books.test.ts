import {
	accountRentLamports,
	fromSolanaWord,
	fundOrder,
	type Order,
	orderAddress,
	orderId,
	programAccountSizes,
	recordAddress,
	tokenAccountRentLamports,
	toSolanaWord,
} from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { hexToBytes, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSolanaFollowScene, type SolanaFollowScene } from "../../../test/follow/solana-follow-scene.ts";
import { mintOf, newSolanaWallet } from "../../../test/lane/solana-lane-scene.ts";
import { readLanded } from "../../chain/solana/read/read-landed.ts";
import { toSignature } from "../../chain/solana/read/read-statuses.ts";

let scene: SolanaFollowScene;
beforeAll(async () => {
	scene = await createSolanaFollowScene();
});
afterAll(() => scene?.stop());

test("transfers by third parties to the vault are booked as unattributed, once", async () => {
	await scene.followToEnd();
	const count = await scene.unattributedCount();
	const before = await scene.booked("unattributed");
	const { vault } = scene.chain.deployment.program;
	await scene.admin.mintTo({ owner: vault, token: mintOf(scene.chain, "USDC"), amount: 7n });
	await scene.admin.mintTo({ owner: vault, token: mintOf(scene.chain, "USDT"), amount: 11n });
	await scene.admin.airdrop({ address: vault, lamports: 13n });
	await scene.followToEnd();
	await scene.followToEnd();
	expect(await scene.unattributedCount()).toBe(count + 3);
	await scene.expectBooksToMatch();
	const after = await scene.booked("unattributed");
	const changes = [mintOf(scene.chain, "USDC"), mintOf(scene.chain, "USDT"), fromSolanaWord(zeroHash)].map(
		(address) => (after.get(toSolanaWord(address)) ?? 0n) - (before.get(toSolanaWord(address)) ?? 0n),
	);
	expect(changes).toEqual([-7n, -11n, -13n]);
});

test("an input that is paid twice goes to the vault in full, and the second half is booked as unattributed", async () => {
	await scene.followToEnd();
	await scene.admin.airdrop({ address: scene.wallet.address, lamports: 1_000_000_000n });
	const { address } = scene.chain.deployment.program;
	for (const terms of [{}, { symbol: "SOL", inputAmount: 100_000_000n }]) {
		const order = scene.deposit(terms);
		const before = await scene.booked("unattributed");
		await scene.actions.landed(await scene.actions.open(order, scene.wallet));
		const again = await fundOrder(address, order, {
			wallet: scene.wallet,
			decimals: "symbol" in terms ? 9 : 6,
		});
		await scene.actions.landed(await scene.actions.sendForgotten([again], scene.wallet));
		await scene.actions.landed(await scene.actions.decide("release", order));
		await scene.followToEnd();
		await scene.expectBooksToMatch();
		const after = await scene.booked("unattributed");
		const token = order.inputToken;
		expect((after.get(token) ?? 0n) - (before.get(token) ?? 0n)).toBe(-order.inputAmount);
	}
});

test("a repeated read changes nothing", async () => {
	await scene.followToEnd();
	const all = async () => {
		const tables = ["chain_events", "postings", "entries", "jobs", "lane_transactions", "rents"];
		return Promise.all(tables.map((table) => scene.pool.query(`select * from ${table}`).then((r) => r.rows)));
	};
	const before = await all();
	await scene.forgetLook();
	expect(await scene.follow()).toBe(true);
	expect(await all()).toEqual(before);
});

test("at a final slot the ledger equals the holdings of vault and orders, and accounts for all lamports, until all rent is back", async () => {
	await scene.followToEnd();
	const count = await scene.unattributedCount();
	const lockedBefore = (await scene.booked("locked")).get(zeroHash) ?? 0n;
	const rentBefore = (await scene.booked("rent")).get(zeroHash) ?? 0n;
	const lamportsBefore = (await scene.booked("relayer")).get(zeroHash) ?? 0n;
	const payer = fromSolanaWord(scene.actions.relayer);
	const { value: heldBefore } = await scene.chain.rpc.getBalance(payer, { commitment: "finalized" }).send();
	await scene.admin.airdrop({ address: scene.wallet.address, lamports: 5_000_000_000n });

	const sol = { symbol: "SOL", inputAmount: 1_000_000_000n };
	const stranger = async () => toSolanaWord((await generateKeyPairSigner()).address);
	const closer = await newSolanaWallet(scene, [{ symbol: "USDC", amount: 10_000_000n }]);
	const released = scene.deposit({ symbol: "USDT" });
	const refunded = scene.deposit(sol);
	const stillOpen = scene.deposit();
	const swapped = scene.onOneChain();
	const intoSol = scene.onOneChain({
		topUp: 4_000_000n,
		outputToken: zeroHash,
		minOutput: 900_000n,
		recipient: await stranger(),
	});
	const outOfSol = scene.onOneChain(sol);
	const sameToken = scene.onOneChain({
		outputToken: toSolanaWord(mintOf(scene.chain, "USDC")),
		topUp: 6_000_000n,
	});
	const delivered = scene.payout();
	const intoAccount = scene.payout({ recipient: await stranger(), topUp: 2_000_000n });
	// A recipient that could not exist with its top-up goes without.
	const skipped = scene.payout({ recipient: await stranger(), topUp: 5n });
	const nativeOut = scene.payout({
		symbol: "SOL",
		minOutput: 1_000_000n,
		recipient: await stranger(),
		topUp: 3_000_000n,
	});
	const voided = scene.payout();
	const opens = [released, refunded, stillOpen, swapped, intoSol, outOfSol, sameToken];
	const sent = await Promise.all(opens.map((order) => scene.actions.open(order, scene.wallet)));
	const leaving = scene.deposit({ wallet: toSolanaWord(closer.address) });
	sent.push(await scene.actions.open(leaving, closer));
	await Promise.all(sent.map(scene.actions.landed));
	await scene.follow();
	const decided = [
		await scene.actions.decide("release", released),
		await scene.actions.decide("refund", refunded),
		await scene.actions.decide("refund", leaving),
		await scene.actions.fill(swapped, 9_990_000n),
		await scene.actions.fill(intoSol, 910_000n),
		await scene.actions.fill(outOfSol, 9_980_000n),
		await scene.actions.fill(sameToken, 9_970_000n),
		await scene.actions.fill(delivered, 9_960_000n),
		await scene.actions.fill(intoAccount, 9_950_000n, { createsAccount: true }),
		await scene.actions.fill(skipped, 9_950_000n, { createsAccount: true }),
		await scene.actions.fill(nativeOut, 1_000_000n),
		await scene.actions.decide("void", voided),
	];
	await Promise.all(decided.map(scene.actions.landed));
	const failed = await scene.actions.fill(delivered, 9_960_001n);
	await scene.actions.landed(failed);
	await scene.followToEnd();
	await scene.expectBooksToMatch();
	expect(await scene.unattributedCount()).toBe(count);
	const { rows: toppedUp } = await scene.pool.query(
		"select data from chain_events where name = 'ToppedUp' order by (data->>'amount')::bigint",
	);
	expect(toppedUp.map(({ data }) => data)).toEqual([
		{ amount: "5", paid: false },
		{ amount: "2000000", paid: true },
		{ amount: "3000000", paid: true },
		{ amount: "4000000", paid: true },
		{ amount: "6000000", paid: true },
	]);
	const { rows: delivery } = await scene.pool.query(
		"select data->>'delivered' as delivered from chain_events where name = 'Filled' and order_id = $1",
		[hexToBytes(orderId(nativeOut))],
	);
	expect(delivery).toEqual([{ delivered: "1000000" }]);

	const lockedIn = async () => ((await scene.booked("locked")).get(zeroHash) ?? 0n) - lockedBefore;
	const recordRent = accountRentLamports(programAccountSizes.record);
	const orderRent = accountRentLamports(programAccountSizes.order);
	const natives = 2n;
	const tokens = BigInt(opens.length) + 1n - natives;
	const records = 5n;
	expect(await lockedIn()).toBe(
		natives * orderRent + tokens * (orderRent + tokenAccountRentLamports) + records * recordRent,
	);
	const { rows } = await scene.pool.query<{ sum: bigint }>(
		"select sum(lamports) as sum from rents where returned_at is null",
	);
	expect(rows[0]?.sum).toBe((await lockedIn()) + lockedBefore);
	expect(((await scene.booked("rent")).get(zeroHash) ?? 0n) - rentBefore).toBe(2n * tokenAccountRentLamports);

	// A third party sends an order's account and a record something, and the accounts are closed.
	await scene.passUntilClosable("record");
	const { address } = scene.chain.deployment.program;
	await scene.admin.airdrop({ address: await orderAddress(address, orderId(released)), lamports: 17n });
	await scene.admin.airdrop({ address: await recordAddress(address, orderId(delivered)), lamports: 19n });
	const lostBefore = (await scene.booked("unattributed")).get(zeroHash) ?? 0n;
	const closed = [...opens, leaving].filter((order) => order !== stillOpen);
	const recorded = [delivered, intoAccount, skipped, nativeOut, voided];
	for (const closings of [
		closed.map((order) => ({ order, account: "order" }) as const),
		recorded.map((order) => ({ order, account: "record" }) as const),
	]) {
		await scene.actions.landed(await scene.actions.sweep(closings));
	}
	await scene.followToEnd();
	await scene.expectBooksToMatch();
	expect(await lockedIn()).toBe(orderRent + tokenAccountRentLamports);
	expect((await scene.booked("unattributed")).get(zeroHash) ?? 0n).toBe(lostBefore - 17n - 19n);
	const { rows: returned } = await scene.pool.query("select from rents where returned_at is not null");
	expect(returned).toHaveLength(closed.length + recorded.length);
	// All that the fee payer spent, and got back, is in the books.
	const { value: heldAfter } = await scene.chain.rpc.getBalance(payer, { commitment: "finalized" }).send();
	expect(((await scene.booked("relayer")).get(zeroHash) ?? 0n) - lamportsBefore).toBe(heldAfter - heldBefore);
});

test("a follower that was stopped for a long time misses nothing", async () => {
	await scene.followToEnd();
	const count = await scene.unattributedCount();
	const orders = [scene.deposit(), scene.deposit({ symbol: "USDT" }), scene.onOneChain()];
	for (const order of orders) await scene.actions.landed(await scene.actions.open(order, scene.wallet));
	await scene.actions.landed(await scene.actions.decide("refund", orders[0] as Order));
	await scene.actions.landed(await scene.actions.fill(orders[2] as Order, 9_990_000n));
	await scene.admin.warp({ slots: 2_000 });
	await scene.followToEnd();
	expect(await Promise.all(orders.map((order) => scene.namesOf(order)))).toEqual([
		["Opened", "RentPaid", "Refunded"],
		["Opened", "RentPaid"],
		["Opened", "RentPaid", "Filled", "Released"],
	]);
	await scene.expectBooksToMatch();
	expect(await scene.unattributedCount()).toBe(count);
});

test("a payout that was considered lost is booked when it is found, and is then no longer unattributed", async () => {
	await scene.followToEnd();
	const before = await scene.booked("unattributed");
	const gasBefore = (await scene.booked("gas")).get(zeroHash) ?? 0n;
	const order = scene.payout();
	const transaction = await scene.actions.fill(order, 9_950_000n);
	await scene.actions.landed(transaction);
	await scene.pool.query("update lane_transactions set state = 'final' where hash = $1", [
		hexToBytes(transaction.signature),
	]);
	await scene.followToEnd({ compares: false });
	expect(await scene.namesOf(order)).toEqual([]);
	expect(await scene.booked("unattributed")).not.toEqual(before);
	await scene.wait(order);
	await scene.followToEnd();
	await scene.followToEnd();
	expect(await scene.namesOf(order)).toEqual(["Filled", "RentPaid"]);
	await scene.expectBooksToMatch();
	expect(await scene.booked("unattributed")).toEqual(before);
	const { fee = 0n } = (await readLanded(scene.chain, transaction.signature)) ?? {};
	expect((await scene.booked("gas")).get(zeroHash)).toBe(gasBefore + fee);
});

test.each([
	{ when: "its amount was booked as unattributed before", isBookedBefore: true, slots: 0 },
	{ when: "its amount is booked as unattributed in the same read", isBookedBefore: false, slots: 0 },
	{ when: "slots become final after the vault's balances are read", isBookedBefore: true, slots: 20 },
])(
	"the read that finds a payout late leaves no difference from the vault's balances if $when",
	async ({ isBookedBefore, slots }) => {
		await scene.followToEnd();
		const order = scene.payout();
		const transaction = await scene.actions.fill(order, 9_950_000n);
		await scene.actions.landed(transaction);
		await scene.pool.query("update lane_transactions set state = 'final' where hash = $1", [
			hexToBytes(transaction.signature),
		]);
		await scene.actions.finalized();
		if (isBookedBefore) await scene.followToEnd({ compares: false });
		await scene.wait(order);
		await scene.forgetLook();
		await scene.follow({ before: { call: 1, happens: () => scene.admin.warp({ slots }) } });
		expect(await scene.namesOf(order)).toEqual(["Filled", "RentPaid"]);
		await scene.expectBooksToMatch();
	},
);

test("a transaction that is found late, while another one cannot be read, is booked by the next complete read", async () => {
	await scene.followToEnd();
	const before = await scene.booked("unattributed");
	const [late, other] = [scene.payout(), scene.deposit()];
	const transaction = await scene.actions.fill(late, 9_950_000n);
	await scene.actions.landed(transaction);
	const setState = (state: string) =>
		scene.pool.query("update lane_transactions set state = $2 where hash = $1", [
			hexToBytes(transaction.signature),
			state,
		]);
	await setState("final");
	await scene.followToEnd({ compares: false });
	await setState("broadcast");
	const untold = await scene.actions.open(other, scene.wallet);
	await scene.actions.landed(untold);
	await scene.actions.finalized();
	const signatures = [toSignature(untold.signature)];
	await scene.admin.setFaults({ lieAboutStatus: { methods: ["getTransaction"], signatures } });
	await scene.follow({ compares: false });
	expect(await scene.namesOf(late)).toEqual(["Filled", "RentPaid"]);
	expect(await scene.namesOf(other)).toEqual([]);
	await scene.admin.setFaults({});
	await scene.followToEnd();
	await scene.expectBooksToMatch();
	expect(await scene.booked("unattributed")).toEqual(before);
});

test("under load no transaction of the service is ever booked as a third party's", async () => {
	await scene.followToEnd();
	const count = await scene.unattributedCount();
	let isOver = false;
	const following = (async () => {
		while (!isOver) {
			await scene.forgetLook();
			await scene.follow();
		}
	})();
	const swap = async (i: number) => {
		const order = i % 2 === 0 ? scene.deposit({ inputAmount: BigInt(1_000_000 + i) }) : scene.onOneChain();
		await scene.actions.landed(await scene.actions.open(order, scene.wallet));
		const decided =
			i % 2 === 1
				? await scene.actions.fill(order, 9_990_000n)
				: await scene.actions.decide(i % 4 === 0 ? "refund" : "release", order);
		await scene.actions.landed(decided);
	};
	for (let round = 0; round < 4; round++) {
		await Promise.all(Array.from({ length: 10 }, (_, i) => swap(round * 10 + i)));
	}
	isOver = true;
	await following;
	await scene.followToEnd();
	expect(await scene.unattributedCount()).toBe(count);
	await scene.expectBooksToMatch();
}, 60_000);

test("a transaction that lands and becomes final during a read is found before it counts as expired", async () => {
	await scene.followToEnd();
	const count = await scene.unattributedCount();
	let calls = 0;
	for (let isInterrupted = true; isInterrupted; calls++) {
		const order = scene.deposit();
		let lastValidHeight = Number.POSITIVE_INFINITY;
		isInterrupted = false;
		await scene.forgetLook();
		await scene.follow({
			before: {
				call: calls,
				happens: async () => {
					isInterrupted = true;
					const transaction = await scene.actions.open(order, scene.wallet);
					lastValidHeight = transaction.lastValidHeight;
					await scene.actions.landed(transaction);
					await scene.admin.warp({ slots: 200 });
				},
			},
		});
		const head = await scene.head();
		const isOver = (head?.finalizedHeight ?? 0) > lastValidHeight;
		if (isOver) expect(await scene.namesOf(order)).toEqual(["Opened", "RentPaid"]);
		expect(await scene.unattributedCount()).toBe(count);
	}
	// The calls read what is final, the chain's slots, the holdings and the statuses.
	expect(calls).toBeGreaterThan(6);
	await scene.followToEnd();
	expect(await scene.unattributedCount()).toBe(count);
	await scene.expectBooksToMatch();
}, 60_000);
