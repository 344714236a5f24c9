import {
	closeOrder,
	closeRecord,
	decideOrders,
	expireOrder,
	fromSolanaWord,
	fromSwapKey,
	fundOrder,
	type Order,
	openOrder,
	orderAddress,
	orderId,
	payInput,
	payOrder,
	prepareOrder,
	type SolanaAddress,
	solanaChainId,
	solanaNativeToken,
	tokenAccountOf,
	toSolanaWord,
	withdrawFromVault,
} from "@geoswap/protocol";
import {
	createDefaultRpcTransport,
	createKeyPairSignerFromBytes,
	generateKeyPairSigner,
	type Instruction,
	type KeyPairSigner,
} from "@solana/kit";
import { getCreateAccountInstruction, getTransferSolInstruction } from "@solana-program/system";
import {
	AuthorityType,
	getInitializeAccount3Instruction,
	getSetAuthorityInstruction,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createSolanaAuditScene, type SolanaAuditScene } from "../../test/audit/create-solana-audit-scene.ts";
import { readLanded } from "../chain/solana/read/read-landed.ts";
import { toSignature } from "../chain/solana/read/read-statuses.ts";
import { declareFlow, readFlows } from "../money/move/declared-flows.ts";
import { createAuditMemory } from "./audit-memory.ts";
import { formatReport, type Report } from "./read/report.ts";

// Each test follows several orders on three chains to their ends.
vi.setConfig({ testTimeout: 60_000 });

const payout = 9_500_000n;
const orderRent = 4_600_560n;
const recordRent = 1_336_320n;

let scene: SolanaAuditScene;
beforeAll(async () => {
	scene = await createSolanaAuditScene();
});
afterAll(() => scene?.stop());

const program = () => scene.solana.deployment.program;

/** Lands a stranger's transaction. */
async function landStrangers(...instructions: Instruction[]): Promise<void> {
	const { on } = scene;
	const signature = await on.land(await on.sign(instructions, { payer: on.stranger }));
	expect(await readLanded(on.chain, signature)).toMatchObject({ isFailed: false });
}

async function endSwap(
	order: Order,
	status: "settled" | "refunded",
	deliveredAmount?: bigint,
): Promise<void> {
	await scene.database.owner.query(
		`update swaps set status = $2, delivered_amount = $3, ended_at = now(), moves = case $2
			when 'settled' then '{opening,deposited,delivering,settled}'::text[]
			else '{opening,deposited,refunding,refunded}' end
		where order_id = $1`,
		[hexToBytes(orderId(order)), status, deliveredAmount ?? null],
	);
}

test("the books of correctly handled swaps reconcile with the chains, to the lamport", async () => {
	const { on, actions, send, deposit, fill, insertSwap, toSolana, fromSolana } = scene;
	const { address: newcomer } = await generateKeyPairSigner();
	const delivered = await toSolana({ recipient: newcomer, topUp: 2_000_000n });
	const refunded = await toSolana();
	for (const order of [delivered, refunded]) await actions.open(order);
	await send("fill", delivered, await on.signFill(delivered, payout, { createsAccount: true }));
	// The second one fails at the record, and costs its fee.
	await fill(delivered, payout + 1n);
	await send("void", refunded, await on.signVoid(refunded));

	const released = await fromSolana();
	const returned = await fromSolana({ symbol: "USDT" });
	const native = await fromSolana({ symbol: "SOL", inputAmount: 50_000_000n, wallet: on.stranger });
	const open = await fromSolana({ symbol: "USDT", inputAmount: 7_000_000n });
	const sol = { symbol: "SOL", minOutput: 1_000_000n };
	const within = on.toSolana(await fromSolana(), { ...sol, topUp: 3_000_000n });
	const withinReturned = on.toSolana(await fromSolana(), sol);
	const failed = await fromSolana();
	for (const order of [released, returned, open, within, withinReturned]) await deposit(order);
	await send("open", native, await on.signDeposit(native, on.stranger));
	// The program opens an order once, so nothing is taken twice.
	await deposit(released);
	for (const order of [released, native]) await actions.fill(order, payout);
	await actions.voidOrder(returned);
	await scene.follow();
	await actions.decide("Release", delivered);
	await actions.decide("Refund", refunded);
	for (const order of [released, native]) await send("release", order, await on.signRelease(order));
	await send("refund", returned, await on.signRefund(returned));
	await fill(within, 2_000_000n);
	await send("refund", withinReturned, await on.signRefund(withinReturned, { by: "operator" }));
	// A payout that was signed for it nevertheless fails.
	await fill(withinReturned, 2_000_000n);

	for (const order of [delivered, released, native]) await insertSwap(order, "settled", payout);
	await insertSwap(within, "settled", 2_000_000n);
	for (const order of [refunded, returned, withinReturned]) await insertSwap(order, "refunded");
	await insertSwap(open, "pending");
	await insertSwap(failed, "failed");

	const report = await scene.audit();
	expect(report.breaches).toEqual([]);
	expect(report).toMatchObject({ ok: true, orders: 8, swaps: 9 });
	const { tokens, lamports, chainId } = report.chains[2] ?? {};
	expect(chainId).toBe(scene.solana.deployment.chainId);
	expect(tokens?.find(({ symbol }) => symbol === "USDT")).toMatchObject({
		escrowExpected: "7000000",
		donated: "0",
		unbooked: "0",
	});
	// The locked rent is that of two records, five orders with a token and one with SOL. `rent` is what the new
	// recipient's account cost.
	const locked = 2n * recordRent + 5n * orderRent + 2_561_280n;
	expect(lamports).toMatchObject({ locked: String(locked), rent: "2039280" });
	expect(formatReport(report)).toMatch(
		/at slot \d+\n {2}USDC: escrow 0, .*\n.*\n.*\n {2}lamports: fees \d+, /,
	);
});

test("an audit with a memory no longer reads swaps that ended long ago, and has the same findings", async () => {
	await scene.follow();
	const memory = createAuditMemory();
	const nowMs = Date.now();
	const at = (laterMs: number) => scene.check({ memory, isKnown: () => true, nowMs: nowMs + laterMs });
	const first = await at(0);
	await at(700_000);
	// Swaps that ended are no longer read by now.
	const later = await at(1_400_000);
	expect(later.swaps).toBeLessThan(first.swaps);
	expect(later.breaches).toEqual(first.breaches);
	expect(later.chains).toEqual(first.chains);
});

test("a node that fails leaves the chain unchecked, and the data read so far is kept", async () => {
	const real = createDefaultRpcTransport({ url: scene.solana.rpcUrl });
	let asked = 0;
	const transport: typeof real = async (request) => {
		const isListing = (request.payload as { method: string }).method === "getSignaturesForAddress";
		if (isListing && ++asked > 1) throw new Error("too many requests");
		return real(request);
	};
	const memory = createAuditMemory();
	const { unchecked } = await scene.check({ solana: { ...scene.solana, transport }, memory });
	const { chainId, feePayers } = scene.solana.deployment;
	const why = `the transactions that name ${feePayers[0]} could not all be read: too many requests`;
	expect(unchecked).toEqual([{ chainId, why: expect.stringContaining(why) as string }]);
	expect(memory.solana?.newest.size).toBe(1);
});

test("a transaction of an unknown version is skipped and counted, and its amounts cause no pause", async () => {
	const { on, check, solana } = scene;
	const from = on.wallets[5] as KeyPairSigner;
	const transfer = await on.transfer("USDC", 1n, { from, to: program().vault });
	const gift = await on.sign([transfer], { payer: on.stranger });
	await on.land(gift);
	await scene.follow();
	const real = createDefaultRpcTransport({ url: solana.rpcUrl });
	/** Returns a transport to a node that supports transactions up to this version only. */
	const ofVersion = (version: number) => {
		const transport: typeof real = async (request) => {
			const { method, params, id } = request.payload as {
				method: string;
				params: [string, { maxSupportedTransactionVersion?: number }];
				id: string;
			};
			const isIt = method === "getTransaction" && params[0] === toSignature(gift.signature);
			if (!isIt || (params[1].maxSupportedTransactionVersion ?? 0) >= version) return real(request);
			const message = `Transaction version (${version}) is not supported by the requesting client.`;
			return { jsonrpc: "2.0", id, error: { code: -32_015, message } } as never;
		};
		return { solana: { ...solana, transport } };
	};
	const [before, one, later] = [await check(), await check(ofVersion(1)), await check(ofVersion(9))];
	expect(before.breaches).toEqual([]);
	expect(one).toEqual(before);
	expect(later.unchecked).toEqual([]);
	const strangers = (report: Report) => report.chains[2]?.strangers;
	expect(strangers(one)?.undecodable).toBe(0);
	// The gift names only the vault's account.
	expect(strangers(later)).toEqual({ transactions: strangers(one)?.transactions, undecodable: 1 });
	expect(later.breaches).toMatchObject([{ invariant: "I2", pauses: false }]);
});

test("gifts by third parties and declared withdrawals cause no breach, before and after they are booked, and an undeclared one does", async () => {
	const { on, follow, check, audit } = scene;
	const { vault } = program();
	const giver = on.wallets[5] as KeyPairSigner;
	await follow();
	const first = await check();
	await landStrangers(
		await on.transfer("USDC", 11n, { from: giver, to: vault }),
		await on.transfer("SOL", 1_000_000n, { from: on.stranger, to: vault }),
	);
	const owned = { program: program().address, vault, owner: on.vaultOwner };
	const token = fromSolanaWord(on.word("USDT"));
	const [from, to] = await Promise.all(
		[vault, giver.address].map((owner) => tokenAccountOf({ owner, token })),
	);
	await landStrangers(
		withdrawFromVault(owned, { amount: 12n, from: from as SolanaAddress, to: to as SolanaAddress }),
	);
	expect((await check()).breaches).toEqual([]);
	await declare();
	// The transaction is final and not booked. The books are compared with the state at the time when they were written.
	await on.finalize();
	expect((await check()).breaches).toEqual([]);
	const after = await audit();
	expect(after.breaches).toEqual([]);
	const held = ({ chains: reports }: Report) =>
		reports[2]?.tokens.map(({ inventoryActual }) => BigInt(inventoryActual)) ?? [];
	const before = held(first);
	expect(held(after).map((amount, i) => amount - (before[i] ?? 0n))).toEqual([11n, -12n, 1_000_000n]);
	const extra = after.chains.flatMap(({ tokens }) =>
		tokens.map(({ donated, unbooked }) => [donated, unbooked]),
	);
	expect(new Set(extra.flat())).toEqual(new Set(["0"]));
	const [declared] = await readFlows(scene.database.owner, { limit: 1 });
	expect(declared).toMatchObject({ state: "final", received: 12n });

	// The declaration is used up.
	await landStrangers(
		withdrawFromVault(owned, { amount: 12n, from: from as SolanaAddress, to: to as SolanaAddress }),
	);
	await on.finalize();
	expect((await audit()).breaches).toMatchObject([{ invariant: "T1", amount: "12" }]);
	await declare();
	expect((await audit()).breaches).toEqual([]);

	function declare() {
		return declareFlow(scene.database.owner, {
			kind: "withdrawal",
			chainId: solanaChainId,
			token: on.word("USDT"),
			amount: 12n,
			holder: toSolanaWord(vault),
			to: toSolanaWord(giver.address),
			by: "ada",
			reason: "a test",
		});
	}
});

test("lamports that are paid to a token account count as an output, not as rent", async () => {
	const { on, actions } = scene;
	const account = await generateKeyPairSigner();
	await landStrangers(
		getCreateAccountInstruction({
			payer: on.stranger,
			newAccount: account,
			lamports: 2_039_280n,
			space: 165,
			programAddress: TOKEN_PROGRAM_ADDRESS,
		}),
		getInitializeAccount3Instruction({
			account: account.address,
			mint: fromSolanaWord(on.word("USDC")),
			owner: on.stranger.address,
		}),
	);
	const order = await scene.toSolana({ symbol: "SOL", recipient: account.address, minOutput: 1_000_000n });
	await actions.open(order);
	await scene.fill(order, 2_000_000n);
	await scene.insertSwap(order, "settled", 2_000_000n);
	await scene.follow();
	await actions.decide("Release", order);
	expect((await scene.audit()).breaches).toEqual([]);
});

test("third parties who add to the inputs of orders, decide them, pay them and give more cause no breach", async () => {
	const { on, actions, deposit, insertSwap, fromSolana } = scene;
	const { address, vault, attesterSet: set } = program();
	const giver = on.wallets[5] as KeyPairSigner;
	const token = await fromSolana();
	const native = await fromSolana({ symbol: "SOL", inputAmount: 50_000_000n, wallet: on.stranger });
	for (const order of [token, native]) await insertSwap(order, "pending");
	await deposit(token);
	await scene.send("open", native, await on.signDeposit(native, on.stranger));
	const account = await orderAddress(address, orderId(native));
	const more = await fundOrder(address, token, { wallet: giver, decimals: 6, amount: 3n });
	const give = (amount: bigint) =>
		getTransferSolInstruction({ source: on.stranger, destination: account, amount });
	await landStrangers(more, give(5_000n));
	for (const order of [token, native]) await actions.fill(order, payout);
	await scene.follow();
	for (const order of [token, native]) {
		const signatures = await on.attest("Release", order);
		await landStrangers(
			await decideOrders(address, "Release", { orderIds: [orderId(order)], set, signatures }),
			await payOrder(address, order, { to: "vault" }),
			await on.transfer("USDC", 1n, { from: giver, to: vault }),
		);
		await endSwap(order, "settled", payout);
	}
	expect((await scene.audit()).breaches).toEqual([]);
	// SOL that arrives after the payment is paid by another call.
	await landStrangers(give(6_000n), await payOrder(address, native, { to: "vault" }));
	expect((await scene.audit()).breaches).toEqual([]);
});

test("an order that its wallet opens and refunds itself, or prepares and never opens, is no breach", async () => {
	const { on, actions, insertSwap } = scene;
	const { address } = program();
	// The program refuses a wallet as the payer.
	const payer = await createKeyPairSignerFromBytes(scene.solana.keys.strangers[1] as Uint8Array);
	const short = { stepSeconds: 600n };
	const orders = [0, 1].map(async () =>
		on.fromSolana(await actions.makeOrder(short), {
			symbol: "SOL",
			inputAmount: 50_000_000n,
			wallet: on.stranger,
		}),
	);
	const [opened, prepared] = (await Promise.all(orders)) as [Order, Order];
	await insertSwap(opened, "pending");
	await insertSwap(prepared, "failed");
	await landStrangers(
		await prepareOrder(address, opened, payer),
		await fundOrder(address, opened, { wallet: on.stranger, decimals: 9 }),
		await openOrder(address, opened),
	);
	await landStrangers(await prepareOrder(address, prepared, payer));
	await scene.passTime(1_900);
	for (const order of [opened, prepared]) {
		await landStrangers(
			await expireOrder(address, orderId(order)),
			await payOrder(address, order, { to: "wallet" }),
			await closeOrder(address, orderId(order), payer.address),
		);
	}
	await endSwap(opened, "refunded");
	expect((await scene.audit()).breaches).toEqual([]);
});

test("an input that cannot be refunded counts as owed while the wallet is the cause, and as late once it is not", async () => {
	const { on, actions, check, follow } = scene;
	const wallet = on.wallets[2] as KeyPairSigner;
	const order = on.fromSolana(await actions.makeOrder({ stepSeconds: 600n }), { wallet });
	await scene.insertSwap(order, "pending");
	await scene.send("open", order, await on.signDeposit(order, wallet));
	const token = fromSolanaWord(order.inputToken);
	const owned = await tokenAccountOf({ owner: wallet.address, token });
	const friend = await generateKeyPairSigner();
	const give = async (owner: KeyPairSigner, newAuthority: SolanaAddress) => {
		const authorityType = AuthorityType.AccountOwner;
		await landStrangers(getSetAuthorityInstruction({ owned, owner, authorityType, newAuthority }));
		await follow();
	};
	await scene.passTime(1_900);
	const memory = createAuditMemory();
	const look = async (hours: number) => {
		const report = await check({ memory, nowMs: Date.now() + hours * 3_600_000 + 2_000_000 });
		const late = report.breaches.filter(({ orderId: id }) => id === orderId(order));
		return { owed: report.owed, late: late.map(({ invariant }) => invariant), report };
	};
	await give(wallet, friend.address);
	const first = await look(1);
	expect(first.late).toEqual([]);
	expect(first.owed).toEqual([
		{
			chainId: scene.solana.deployment.chainId,
			orderId: orderId(order),
			swapId: fromSwapKey(order.swapKey),
			wallet: wallet.address,
			token,
			amount: String(order.inputAmount),
			why: "account-given-away",
		},
	]);
	expect(formatReport(first.report)).toContain(`OWED ${order.inputAmount} of `);
	// The wallet has its account back. The service has an hour to refund it. Later, a missing refund is its fault.
	await give(friend, wallet.address);
	expect(await look(1.5)).toMatchObject({ owed: [{ orderId: orderId(order) }], late: [] });
	expect(await look(3)).toMatchObject({ owed: [], late: ["I14"] });
	await actions.voidOrder(order);
	await follow();
	await scene.send("refund", order, await on.signRefund(order));
	await endSwap(order, "refunded");
	expect((await scene.audit()).breaches).toEqual([]);
});

test("fees of forgotten transactions cause no pause, and other spending of a fee payer is found", async () => {
	const { on, audit, startFinding, fromSolana } = scene;
	const find = await startFinding();
	const forgotten = await fromSolana();
	await on.land(await on.signDeposit(forgotten));
	const spent = await find();
	expect(spent.map(({ invariant, pauses }) => [invariant, pauses])).toEqual([["I2", false]]);
	expect(spent[0]?.message).toMatch(
		/^\d+ lamports were spent on Solana by \d+ transactions that are not in the books/,
	);
	// Once it is submitted again, its transaction is found and booked.
	await scene.insertSwap(forgotten, "pending");
	expect((await audit()).breaches).toEqual([]);

	const { address: to } = await generateKeyPairSigner();
	await on.land(await on.sign([await on.transfer("SOL", 1_234_567n, { from: on.feePayer, to })]));
	expect((await find()).map(({ message }) => message)).toContain(
		"1234567 lamports left fee payers on Solana by transactions that are not in the books",
	);
});

test("SOL that arrives at a paid order belongs to the vault, whether the service or a third party sweeps it", async () => {
	const { on, actions, send, startFinding, solana } = scene;
	const { address, vault } = program();
	const owner = vault;
	const [wallet] = on.wallets as [KeyPairSigner];
	await solana.admin.airdrop({ address: wallet.address, lamports: 1_000_000_000n });
	const orders: Order[] = [];
	for (let i = 0; i < 2; i++) {
		const order = await scene.fromSolana({ symbol: "SOL", inputAmount: 50_000_000n });
		await scene.insertSwap(order, "settled", payout);
		await scene.deposit(order);
		await actions.fill(order, payout);
		await scene.follow();
		await send("release", order, await on.signRelease(order));
		orders.push(order);
	}
	const find = await startFinding();
	await scene.passTime(100_000);
	const [ours, theirs] = orders as [Order, Order];
	const endingOf = async (order: Order) => {
		const account = await orderAddress(address, orderId(order));
		await solana.admin.airdrop({ address: account, lamports: 1_000_000n });
		return Promise.all([
			payInput(address, { orderId: orderId(order), token: solanaNativeToken, owner }),
			closeOrder(address, orderId(order), on.feePayer.address),
		]);
	};
	const { signature } = await send("close", undefined, await on.sign(await endingOf(ours)));
	expect(await readLanded(on.chain, signature)).toMatchObject({ isFailed: false });
	expect(await find()).toEqual([]);
	await landStrangers(...(await endingOf(theirs)));
	await scene.database.owner.query(
		"update rents set closable_at = now() - interval '1 hour' where order_id = $1",
		[hexToBytes(orderId(theirs))],
	);
	expect(await find()).toEqual([]);
});

test("returned rent is in the books, regardless of who closes the accounts", async () => {
	const { on, actions, send, startFinding, database } = scene;
	const { address, vault } = program();
	const ids: Order[] = [];
	for (let i = 0; i < 2; i++) {
		const paid = await scene.fromSolana();
		await scene.insertSwap(paid, "settled", payout);
		await scene.deposit(paid);
		await actions.fill(paid, payout);
		const filled = await scene.toSolana();
		await scene.insertSwap(filled, "settled", payout);
		await actions.open(filled);
		await scene.fill(filled, payout);
		await scene.follow();
		await send("release", paid, await on.signRelease(paid));
		await actions.decide("Release", filled);
		ids.push(paid, filled);
	}
	const find = await startFinding();
	const locked = async () => BigInt((await scene.check()).chains[2]?.lamports?.locked ?? 0);
	const before = await locked();
	await scene.passTime(100_000);
	const closing = (paid: Order, filled: Order) =>
		Promise.all([
			closeOrder(address, orderId(paid), on.feePayer.address),
			closeRecord(address, orderId(filled), vault),
		]);
	const [paid, filled, paidToo, filledToo] = ids as [Order, Order, Order, Order];
	await send("close", undefined, await on.sign(await closing(paid, filled)));
	expect(await find()).toEqual([]);
	expect(before - (await locked())).toBe(orderRent + recordRent);
	// A stranger's transaction is not known at first, so the returned rent counts as a gift until it is found.
	await landStrangers(...(await closing(paidToo, filledToo)));
	expect(await find()).toEqual([]);
	await database.owner.query(
		"update rents set closable_at = now() - interval '1 hour' where order_id = any($1)",
		[[paidToo, filledToo].map((order) => hexToBytes(orderId(order)))],
	);
	expect(await find()).toEqual([]);
	expect(before - (await locked())).toBe(2n * (orderRent + recordRent));
});
