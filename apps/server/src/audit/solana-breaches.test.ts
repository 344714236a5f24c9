import { fromSolanaWord, inputAddress, orderId, tokenAccountOf } from "@geoswap/protocol";
import type { KeyPairSigner } from "@solana/kit";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createSolanaAuditScene, type SolanaAuditScene } from "../../test/audit/create-solana-audit-scene.ts";
import {
	addTokens,
	changeToken,
	succeed,
	type Tampering,
	tamperedNode,
} from "../../test/audit/tampered-node.ts";
import type { Breach } from "./read/report.ts";

vi.setConfig({ testTimeout: 60_000 });

const payout = 9_500_000n;

let scene: SolanaAuditScene;
/** Returns the findings that are new. */
let find: () => Promise<Breach[]>;
beforeAll(async () => {
	scene = await createSolanaAuditScene();
});
afterAll(() => scene?.stop());
beforeEach(async () => {
	find = await scene.startFinding();
});

const linesOf = (breaches: readonly Breach[]) =>
	breaches.map(({ invariant, message }) => `${invariant} ${message}`);

/** Returns what an audit finds if the node reports something other than what happened. */
async function findWith(tampering: Tampering): Promise<string[]> {
	const before = new Set(linesOf((await scene.audit()).breaches));
	const { breaches } = await scene.check({ solana: tamperedNode(scene.solana, tampering) });
	return linesOf(breaches).filter((line) => !before.has(line));
}

test("books that differ from the chain are found", async () => {
	const { database, solana, on, check } = scene;
	const { chainId } = solana.deployment;
	const known = new Set(linesOf((await check()).breaches));
	/** Books a transfer from one account to another that never happened. */
	const misbook = (from: string, to: string, symbol: string, amount: bigint) =>
		database.owner.query(
			`with posted as (
				insert into postings (key, chain_id, block_number, name)
				select $1, $2, booked_number, 'wrong' from chain_heads where chain_id = $2 returning id
			)
			insert into entries select id, account, $2, $3, amount
			from posted, (values ($4, $6::numeric), ($5, -$6::numeric)) as e (account, amount)`,
			[`wrong:${from}:${to}`, chainId, hexToBytes(on.word(symbol)), to, from, amount],
		);
	const unbook = (from: string, to: string) =>
		database.owner.query(
			`with wrong as (delete from entries where posting_id = (select id from postings where key = $1))
			delete from entries where false`,
			[`wrong:${from}:${to}`],
		);
	const found = async (from: string, to: string, symbol = "SOL") => {
		await misbook(from, to, symbol, 3n);
		const { breaches } = await check();
		await unbook(from, to);
		const fresh = breaches.filter((breach) => !known.has(linesOf([breach])[0] ?? ""));
		// Breaches are compared by token, because a shortage of one token is not a shortage of another.
		for (const breach of fresh) expect(breach.token).toBe(fromSolanaWord(on.word(symbol)));
		return linesOf(fresh);
	};
	expect((await found("wallet", "inventory", "USDC"))[0]).toBe(
		"I2 the vault on Solana holds 3 USDC less than in the books",
	);
	expect(await found("wallet", "escrow", "USDT")).toEqual([
		expect.stringMatching(/^I2 \d+ USDT is booked as escrow on Solana, but open orders have \d+/),
	]);
	expect(await found("unattributed", "recipient", "USDC")).toEqual([
		expect.stringMatching(/^I2 \S+ USDC is booked as no order's on Solana, but \S+ is/),
	]);
	for (const account of ["gas", "locked", "rent"]) {
		expect(await found("relayer", account)).toEqual([
			expect.stringMatching(
				new RegExp(`^I2 \\d+ lamports are booked as ${account} on Solana, but it is \\d+`),
			),
		]);
	}
	expect(await find()).toEqual([]);
});

test("money that left the vault for no order is found", async () => {
	const { on } = scene;
	const { vault } = scene.solana.deployment.program;
	const giver = on.wallets[5] as KeyPairSigner;
	const gift = await on.sign([await on.transfer("USDC", 1n, { from: giver, to: vault })], {
		payer: on.stranger,
	});
	await on.land(gift);
	const held = await tokenAccountOf({ owner: vault, token: fromSolanaWord(on.word("USDC")) });
	const found = await findWith({
		transactions: new Map([[gift.signature, (meta) => addTokens(meta, { owner: vault, amount: -6n })]]),
		accounts: new Map([[held, (account) => changeToken(account, ({ amount }) => ({ amount: amount - 6n }))]]),
	});
	expect(found).toEqual([
		expect.stringMatching(/^I2 5 of \S+ left the vault on Solana for no order/),
		"I2 the vault on Solana holds 6 USDC less than in the books",
	]);
});

test("a payout that is too small, goes to another wallet or is made twice is found", async () => {
	const { actions, toSolana } = scene;
	const [small, misled, twice] = [await toSolana(), await toSolana(), await toSolana()];
	for (const order of [small, misled, twice]) await actions.open(order);
	const paid = [await scene.fill(small), await scene.fill(misled), await scene.fill(twice)];
	const again = await scene.fill(twice, payout + 1n);
	const recipient = fromSolanaWord(small.recipient);
	const { vault } = scene.solana.deployment.program;
	const found = await findWith({
		transactions: new Map([
			[paid[0]?.signature ?? "0x", (meta) => addTokens(meta, { owner: recipient, amount: -1_000_000n })],
			[
				paid[1]?.signature ?? "0x",
				(meta) => {
					addTokens(meta, { owner: recipient, amount: -payout });
					addTokens(meta, { owner: vault, amount: -1n });
				},
			],
			[again.signature, succeed],
		]),
	});
	expect(found).toEqual(
		expect.arrayContaining([
			expect.stringMatching(/^I3 the vault has -1000000 of \S+ too many or too few in slot/),
			expect.stringMatching(/^I3 the vault has -9500001 of \S+ too many or too few in slot/),
			"I3 delivered 8500000, less than 9000000",
			"I3 delivered 0, less than 9000000",
			"I3 delivered 2 times",
		]),
	);
});

test("an input that is short, taken twice, paid in part, to another wallet or twice is found", async () => {
	const { on, actions, solana, insertSwap, deposit, fromSolana } = scene;
	const { address } = solana.deployment.program;
	const [short, double, elsewhere] = [await fromSolana(), await fromSolana(), await fromSolana()];
	for (const order of [short, double, elsewhere]) {
		await insertSwap(order, "pending");
		await deposit(order);
	}
	const again = await deposit(double);
	for (const order of [double, elsewhere]) await actions.voidOrder(order);
	await scene.follow();
	const refund = await scene.send("refund", elsewhere, await on.signRefund(elsewhere));
	await scene.send("refund", double, await on.signRefund(double));
	const released = await scene.send("release", double, await on.signRelease(double));
	const owner = fromSolanaWord(elsewhere.wallet);
	const found = await findWith({
		transactions: new Map([
			[again.signature, succeed],
			[released.signature, succeed],
			[refund.signature, (meta) => addTokens(meta, { owner, amount: -4_000_000n })],
		]),
		accounts: new Map([
			[
				await inputAddress(address, orderId(short)),
				(account) => changeToken(account, ({ amount }) => ({ amount: amount - 1n })),
			],
		]),
	});
	expect(found).toEqual(
		expect.arrayContaining([
			"I1 the account of an open order on Solana holds 9999999 of 10000000",
			"I4 its input was taken 2 times",
			expect.stringMatching(/^I4 the wallet's \S+ changed by 0 and not by -10000000 in slot/),
			expect.stringMatching(/^I4 the wallet's \S+ changed by 6000000 and not by 10000000 in slot/),
			expect.stringMatching(/^I4 only 0 of 10000000 was paid in slot/),
			"I4 its input left the escrow more than once",
		]),
	);
});

test("a false reported outcome is found", async () => {
	const { insertSwap, fromSolana, toSolana } = scene;
	const opened = await fromSolana();
	await scene.deposit(opened);
	await insertSwap(opened, "failed");
	const undelivered = await toSolana();
	await insertSwap(undelivered, "settled", 1n);
	const unpaid = await fromSolana();
	await insertSwap(unpaid, "refunded");
	const told = linesOf(await find()).map((line) => line.replace(/swap \S+ /, ""));
	expect(told.sort()).toEqual([
		"I8 is failed, but its order was opened",
		"I8 is settled, but nothing was delivered",
		"I9 is refunded, but its wallet was not paid",
		"I9 was not refunded in full",
	]);
});

test("an input on another chain that was released before its payout, or refunded while it could be paid, is found", async () => {
	const { actions, toSolana, passTime } = scene;
	const [released, refunded, delivered] = [await toSolana(), await toSolana(), await toSolana()];
	// Once it is too late for a payout, any order may be refunded, and that is no breach.
	const late = scene.on.toSolana(await actions.makeOrder({ stepSeconds: 600n }));
	for (const order of [released, refunded, delivered, late]) await actions.open(order);
	await actions.decide("Release", released);
	await actions.decide("Refund", refunded);
	await scene.fill(delivered);
	await actions.decide("Refund", delivered);
	await passTime(2_000);
	await actions.decide("Refund", late);
	const found = (await find()).filter(({ invariant }) => invariant === "I5");
	expect(found.map(({ message, orderId: id }) => [id, message]).sort()).toEqual(
		[
			[orderId(released), "released although no delivery is final"],
			[orderId(refunded), "refunded although it was not void and could still be filled"],
			[orderId(delivered), "refunded although it was delivered"],
		].sort(),
	);
});

test("an input on Solana that was released before its delivery, and payouts for unknown orders, are found", async () => {
	const { on, insertSwap, fromSolana, toSolana } = scene;
	const released = await fromSolana();
	await scene.deposit(released);
	await insertSwap(released, "pending");
	await scene.send("release", released, await on.signRelease(released));
	const [filled, voided] = [await toSolana(), await toSolana()];
	await on.land(await on.signFill(filled, payout));
	await on.land(await on.signVoid(voided));
	const found = linesOf(await find());
	expect(found).toContain("I5 released although no delivery is final");
	for (const what of ["filled", "voided"]) {
		expect(found).toContainEqual(
			expect.stringMatching(new RegExp(`^I3 an order that nobody knows was ${what} in slot`)),
		);
	}
	expect(found).toContainEqual(
		expect.stringMatching(/^I2 9500000 of \S+ left the vault on Solana for no order/),
	);
});

test("an account of the vault that another key owns, may take from or may close is found", async () => {
	const { on } = scene;
	const { vault } = scene.solana.deployment.program;
	const { address: thief } = on.stranger;
	const accountOf = (symbol: string) =>
		tokenAccountOf({ owner: vault, token: fromSolanaWord(on.word(symbol)) });
	const [owned, taken] = [await accountOf("USDC"), await accountOf("USDT")];
	const some = { __option: "Some", value: thief } as const;
	const found = await findWith({
		accounts: new Map([
			[owned, (account) => changeToken(account, () => ({ owner: thief, delegate: some }))],
			[taken, (account) => changeToken(account, () => ({ closeAuthority: some }))],
			[
				vault,
				(account) => {
					account.owner = thief;
				},
			],
		]),
	});
	expect(found.sort()).toEqual(
		[
			`I2 the vault's account ${owned} on Solana belongs to ${thief}`,
			`I2 ${thief} may take from the vault's account ${owned} on Solana`,
			`I2 ${thief} may close the vault's account ${taken} on Solana`,
			`I2 the vault on Solana, ${vault}, belongs to the program ${thief}`,
		].sort(),
	);
});

test("a chain that is not in the books is found", async () => {
	const { database, solana, check } = scene;
	const { chainId } = solana.deployment;
	await database.owner.query("delete from chain_heads where chain_id = $1", [chainId]);
	expect((await check()).breaches.map(({ message }) => message)).toContain(
		`chain ${chainId} is not in the books`,
	);
});
