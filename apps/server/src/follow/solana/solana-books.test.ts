import { fromSolanaWord, type Order, tokenAccountRentLamports, toSolanaWord } from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { hexToBytes, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSolanaFollowScene, type SolanaFollowScene } from "../../../test/follow/solana-follow-scene.ts";
import { markerOf, mintOf, newSolanaWallet } from "../../../test/lane/solana-lane-scene.ts";
import { toSignature } from "../../chain/solana/read/read-statuses.ts";

let scene: SolanaFollowScene;
beforeAll(async () => {
	scene = await createSolanaFollowScene();
});
afterAll(() => scene?.stop());

test("transfers by strangers to escrow or vault are booked as unattributed, once", async () => {
	await scene.followToEnd();
	const count = await scene.unattributedCount();
	const before = await scene.booked("unattributed");
	const { escrow, vault } = scene.chain.deployment;
	await scene.admin.mintTo({ owner: escrow, token: mintOf(scene.chain, "USDC"), amount: 7n });
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

test("a repeated read changes nothing", async () => {
	await scene.followToEnd();
	const all = async () => {
		const tables = [
			"chain_events",
			"postings",
			"entries",
			"jobs",
			"lane_transactions",
			"markers",
			"outflows",
		];
		return Promise.all(tables.map((table) => scene.pool.query(`select * from ${table}`).then((r) => r.rows)));
	};
	const before = await all();
	await scene.forgetLook();
	expect(await scene.follow()).toBe(true);
	expect(await all()).toEqual(before);
});

test("at a final slot the ledger equals the holdings of escrow and vault and accounts for all lamports", async () => {
	await scene.followToEnd();
	const count = await scene.unattributedCount();
	const markersBefore = (await scene.booked("marker")).get(zeroHash) ?? 0n;
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
		outputToken: zeroHash,
		minOutput: 900_000n,
		recipient: await stranger(),
	});
	const outOfSol = scene.onOneChain(sol);
	const sameToken = scene.onOneChain({ outputToken: toSolanaWord(mintOf(scene.chain, "USDC")) });
	const delivered = scene.payout();
	const intoAccount = scene.payout({ recipient: await stranger() });
	const nativeOut = scene.payout({ symbol: "SOL", minOutput: 1_000_000n, recipient: await stranger() });
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
		await scene.actions.fill(nativeOut, 1_000_000n),
		await scene.actions.decide("void", voided),
	];
	await Promise.all(decided.map(scene.actions.landed));
	const failed = await scene.actions.fill(delivered, 9_960_001n);
	await scene.actions.landed(failed);
	await scene.followToEnd();
	await scene.expectBooksToMatch();
	expect(await scene.unattributedCount()).toBe(count);

	const markers = (await scene.booked("marker")).get(zeroHash) ?? 0n;
	expect(markers - markersBefore).toBe(BigInt(decided.length) * tokenAccountRentLamports);
	const { rows } = await scene.pool.query<{ sum: bigint }>(
		"select sum(lamports) as sum from markers where closed_at is null",
	);
	expect(rows[0]?.sum).toBe(markers);
	expect(((await scene.booked("rent")).get(zeroHash) ?? 0n) - rentBefore).toBe(tokenAccountRentLamports);

	// Someone sends a marker something, and the swap's markers are closed.
	const [first, second] = await Promise.all([
		markerOf(scene, delivered, "vault"),
		markerOf(scene, refunded, "escrow"),
	]);
	await scene.admin.airdrop({ address: first, lamports: 17n });
	await scene.admin.setFaults({});
	const lostBefore = (await scene.booked("unattributed")).get(zeroHash) ?? 0n;
	await scene.actions.landed(
		await scene.actions.close([
			{ address: first, owner: "vault" },
			{ address: second, owner: "escrow" },
		]),
	);
	await scene.followToEnd();
	await scene.expectBooksToMatch();
	expect(markers - ((await scene.booked("marker")).get(zeroHash) ?? 0n)).toBe(2n * tokenAccountRentLamports);
	expect((await scene.booked("unattributed")).get(zeroHash) ?? 0n).toBe(lostBefore - 17n);
	const { rows: closed } = await scene.pool.query("select from markers where closed_at is not null");
	expect(closed).toHaveLength(2);
	// All that the fee payer spent, and got back, is in the books.
	const { value: heldAfter } = await scene.chain.rpc.getBalance(payer, { commitment: "finalized" }).send();
	expect(((await scene.booked("relayer")).get(zeroHash) ?? 0n) - lamportsBefore).toBe(heldAfter - heldBefore);
});

test("a follower that was away for long misses nothing", async () => {
	await scene.followToEnd();
	const count = await scene.unattributedCount();
	const orders = [scene.deposit(), scene.deposit({ symbol: "USDT" }), scene.onOneChain()];
	for (const order of orders) await scene.actions.landed(await scene.actions.open(order, scene.wallet));
	await scene.actions.landed(await scene.actions.decide("refund", orders[0] as Order));
	await scene.actions.landed(await scene.actions.fill(orders[2] as Order, 9_990_000n));
	await scene.admin.warp({ slots: 2_000 });
	await scene.followToEnd();
	expect(await Promise.all(orders.map((order) => scene.namesOf(order)))).toEqual([
		["Opened", "Refunded", "MarkerMade"],
		["Opened"],
		["Opened", "Filled", "Released", "MarkerMade"],
	]);
	await scene.expectBooksToMatch();
	expect(await scene.unattributedCount()).toBe(count);
});

test("a transaction that was believed lost is booked when it is found, and is then no longer unattributed", async () => {
	await scene.followToEnd();
	const before = await scene.booked("unattributed");
	const order = scene.deposit();
	const transaction = await scene.actions.open(order, scene.wallet);
	await scene.actions.landed(transaction);
	await scene.pool.query(
		"update lane_transactions set state = 'final', created_at = now() - interval '2 hours' where hash = $1",
		[hexToBytes(transaction.signature)],
	);
	await scene.followToEnd();
	expect(await scene.booked("unattributed")).not.toEqual(before);
	await scene.pool.query("update lane_transactions set state = 'broadcast' where hash = $1", [
		hexToBytes(transaction.signature),
	]);
	await scene.followToEnd();
	expect(await scene.namesOf(order)).toEqual(["Opened"]);
	await scene.expectBooksToMatch();
	expect(await scene.booked("unattributed")).toEqual(before);
});

test("a transaction that is found late, while another one cannot be read, is booked by the next complete read", async () => {
	await scene.followToEnd();
	const before = await scene.booked("unattributed");
	const [late, other] = [scene.deposit(), scene.deposit()];
	const transaction = await scene.actions.open(late, scene.wallet);
	await scene.actions.landed(transaction);
	const setState = (state: string) =>
		scene.pool.query(
			"update lane_transactions set state = $2, created_at = now() - interval '2 hours' where hash = $1",
			[hexToBytes(transaction.signature), state],
		);
	await setState("final");
	await scene.followToEnd();
	await setState("broadcast");
	const untold = await scene.actions.open(other, scene.wallet);
	await scene.actions.landed(untold);
	await scene.actions.finalized();
	const signatures = [toSignature(untold.signature)];
	await scene.admin.setFaults({ lieAboutStatus: { methods: ["getTransaction"], signatures } });
	await scene.follow();
	expect(await scene.namesOf(late)).toEqual(["Opened"]);
	expect(await scene.namesOf(other)).toEqual([]);
	await scene.admin.setFaults({});
	await scene.followToEnd();
	await scene.expectBooksToMatch();
	expect(await scene.booked("unattributed")).toEqual(before);
});

test("under load no transaction of ours is ever booked as a stranger's", async () => {
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

test("a transaction that lands and becomes final during a read is seen before it counts as expired", async () => {
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
		if (isOver) expect(await scene.namesOf(order)).toEqual(["Opened"]);
		expect(await scene.unattributedCount()).toBe(count);
	}
	// The calls read what is final, the chain's slots, the holdings and the statuses.
	expect(calls).toBeGreaterThan(6);
	await scene.followToEnd();
	expect(await scene.unattributedCount()).toBe(count);
	await scene.expectBooksToMatch();
}, 60_000);
