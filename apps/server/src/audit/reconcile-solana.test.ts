import { startTestChains, startTestSolana, type TestChains, type TestSolana } from "@geoswap/devnet";
import {
	fromSolanaWord,
	fromSwapKey,
	markerAddress,
	type Order,
	orderId,
	orderToJson,
	type SolanaAddress,
	tokenAccountOf,
	toSolanaWord,
} from "@geoswap/protocol";
import { createDefaultRpcTransport, generateKeyPairSigner, type KeyPairSigner } from "@solana/kit";
import { getAssignInstruction, getCreateAccountInstruction } from "@solana-program/system";
import {
	AuthorityType,
	getApproveInstruction,
	getInitializeAccount3Instruction,
	getSetAuthorityInstruction,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { noteSigned } from "../../test/order/note-signed.ts";
import { orderActions } from "../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { type SolanaActions, solanaActions } from "../../test/solana/solana-actions.ts";
import { insertWait } from "../../test/swap/insert-wait.ts";
import { connectChain } from "../chain/evm/chain-client.ts";
import { toSignature } from "../chain/solana/read/read-statuses.ts";
import { signClose } from "../chain/solana/send/sign-close.ts";
import type { SignedTransaction } from "../chain/solana/send/sign-instructions.ts";
import { advance } from "../follow/evm/advance.ts";
import { advanceSolana } from "../follow/solana/advance-solana.ts";
import type { JobKind } from "../swap/facts/job.ts";
import { createLog } from "../telemetry/log.ts";
import { createAuditMemory } from "./audit-memory.ts";
import { connectAuditedSolana } from "./read/audited-solana.ts";
import { readSolanaTransactions } from "./read/read-solana-transactions.ts";
import { type Breach, formatReport, type Report } from "./read/report.ts";
import type { SolanaHistory } from "./read/solana-history.ts";
import { type ReconcileOptions, reconcile } from "./reconcile.ts";

// Each test settles several orders on three chains, and follows them to their ends.
vi.setConfig({ testTimeout: 60_000 });

const slowSlotMs = 3_600_000;
const payout = 9_500_000n;

let chains: TestChains;
let solana: TestSolana;
let actions: ReturnType<typeof orderActions>;
let on: SolanaActions;
let database: TestDatabase;
/** Breaches that were found before, and stay: the chains forget nothing. */
let known: Set<string>;
let nonce = 0;

beforeAll(async () => {
	[chains, solana, database] = await Promise.all([
		startTestChains(),
		startTestSolana({ slotMs: slowSlotMs }),
		createTestDatabase({ as: "auditor" }),
	]);
	actions = orderActions(chains);
	on = await solanaActions(solana);
	await follow();
});
afterAll(async () => {
	await database?.drop();
	await Promise.all([chains?.stop(), solana?.stop()]);
});
beforeEach(async () => {
	known = new Set((await audit()).breaches.map(keyOf));
});

/** Follows the chains until all that happened is final and booked. */
async function follow(): Promise<void> {
	await noteSigned(database.owner, actions.fills);
	await Promise.all([actions.finalize(), on.finalize()]);
	const common = {
		pool: database.pools.worker,
		engine: { poke: async () => {} },
		relayers: [],
		log: createLog({ level: "silent", process: "test" }),
	};
	for (const chain of [chains.origin, chains.destination]) {
		while (await advance({ ...common, chain: connectChain(chain) }));
	}
	// A head that was just updated is left alone if there is no news.
	await database.owner.query("update chain_heads set updated_at = now() - interval '1 day'");
	const followed = { ...common, chain: on.chain, outflowCaps: {}, markerSeconds: 1_000_000 };
	while (await advanceSolana(followed));
}

function check(as = solana, options: Partial<ReconcileOptions> = {}): Promise<Report> {
	return reconcile({
		pool: database.pool,
		chains: [chains.origin, chains.destination],
		solana: as,
		earlierAttesterSets: [],
		nowMs: Date.now(),
		...options,
	});
}

async function audit(): Promise<Report> {
	await follow();
	return check();
}

const keyOf = ({ message, orderId: id }: Breach) => `${message} ${id}`;

/** Returns the findings that were not there before. */
async function findings(): Promise<string[]> {
	const { breaches } = await audit();
	return breaches
		.filter((breach) => !known.has(keyOf(breach)))
		.map(({ invariant, message }) => `${invariant} ${message}`);
}

async function insertSwap(order: Order, status: string, deliveredAmount?: bigint): Promise<void> {
	await database.owner.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, status, delivered_amount, ended_at,
			moves)
		values ($1, $2, $3, 0, 0, '{}', $4, $5, case when $4 <> 'pending' then now() end, case $4
			when 'settled' then '{opening,deposited,delivering,settled}'::text[]
			when 'refunded' then '{opening,deposited,refunding,refunded}'
			when 'failed' then '{opening,failed}' else '{opening}' end)`,
		[
			fromSwapKey(order.swapKey),
			hexToBytes(orderId(order)),
			orderToJson(order),
			status,
			deliveredAmount ?? null,
		],
	);
	await insertWait(database.owner, { swapId: fromSwapKey(order.swapKey), orderId: orderId(order) });
}

/** Records a transaction, then sends it, as a lane does. */
async function send(kind: JobKind | "close", order: Order | undefined, signed: SignedTransaction) {
	const { chainId, feePayers } = solana.deployment;
	const job = order && { swapId: fromSwapKey(order.swapKey), kind, orderId: orderId(order) };
	if (job && order) {
		await database.owner.query(
			`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, state, priority)
			values ($1, $2, $3, $4, $5, 'sent', 0) on conflict do nothing`,
			[job.swapId, kind, chainId, hexToBytes(job.orderId), orderToJson(order)],
		);
	}
	await database.owner.query(
		`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas,
			last_valid_height, state, sent_at_block)
		values ($1, $2, $3, 0, $4, $5, $6, $7, 0, 1000000, 'broadcast', 0)`,
		[
			chainId,
			hexToBytes(toSolanaWord(feePayers[0] as SolanaAddress)),
			++nonce,
			hexToBytes(signed.signature),
			hexToBytes(signed.raw),
			kind,
			JSON.stringify(job ? [job] : []),
		],
	);
	await on.land(signed);
}

const toSolana = async (terms: Parameters<SolanaActions["toSolana"]>[1] = {}) =>
	on.toSolana(await actions.makeOrder(), terms);
const fromSolana = async (terms: Parameters<SolanaActions["fromSolana"]>[1] = {}) =>
	on.fromSolana(await actions.makeOrder(), terms);
const deposit = async (order: Order) => send("open", order, await on.signDeposit(order));
const pay = async (order: Order, amount = payout) => send("fill", order, await on.signPayout(order, amount));

async function closeMarker(order: Order, base: "vault" | "escrow", owner: "vault" | "escrow") {
	const address = await markerAddress({ base: solana.deployment[base], orderId: orderId(order) });
	const { value } = await on.chain.rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
	const { keys, feePayer } = on;
	const parts = { keys, feePayer, blockhash: value.blockhash, computePrice: 1_000n };
	await send("close", undefined, await signClose({ ...parts, markers: [{ address, owner }] }));
}

test("the books of correctly handled swaps reconcile with the chains, to the lamport", async () => {
	const { address: newcomer } = await generateKeyPairSigner();
	const delivered = await toSolana({ recipient: newcomer });
	const refunded = await toSolana();
	for (const order of [delivered, refunded]) await actions.open(order);
	await send("fill", delivered, await on.signPayout(delivered, payout, { createsAccount: true }));
	// The second one fails at the marker, and costs its fee.
	await send("fill", delivered, await on.signPayout(delivered, payout));
	await send("void", refunded, await on.signVoid(refunded));

	const released = await fromSolana();
	const returned = await fromSolana({ symbol: "USDT" });
	const open = await fromSolana({ symbol: "USDT", inputAmount: 7_000_000n });
	const within = on.toSolana(await fromSolana(), { symbol: "SOL", minOutput: 1_000_000n });
	const withinReturned = on.toSolana(await fromSolana(), { symbol: "SOL", minOutput: 1_000_000n });
	const failed = await fromSolana();
	for (const order of [released, returned, open, within, withinReturned]) await deposit(order);
	await actions.fill(released, payout);
	await actions.voidOrder(returned);
	await follow();
	await actions.decide("Release", delivered);
	await actions.decide("Refund", refunded);
	await send("release", released, await on.signRelease(released));
	await send("refund", returned, await on.signRefund(returned));
	await pay(within, 2_000_000n);
	await send("refund", withinReturned, await on.signRefund(withinReturned));
	// A payout that was signed for it all the same fails at the marker of the refund.
	await pay(withinReturned, 2_000_000n);
	await closeMarker(refunded, "vault", "escrow");

	for (const order of [delivered, released]) await insertSwap(order, "settled", payout);
	await insertSwap(within, "settled", 2_000_000n);
	for (const order of [refunded, returned, withinReturned]) await insertSwap(order, "refunded");
	await insertSwap(open, "pending");
	await insertSwap(failed, "failed");

	const report = await audit();
	expect(report.breaches).toEqual([]);
	expect(report).toMatchObject({ ok: true, orders: 7, swaps: 8 });
	const { tokens, lamports, chainId } = report.chains[2] ?? {};
	expect(chainId).toBe(solana.deployment.chainId);
	expect(tokens?.find(({ symbol }) => symbol === "USDT")).toMatchObject({
		escrowExpected: "7000000",
		escrowActual: "7000000",
		donated: "0",
		unbooked: "0",
	});
	// Five orders have a marker, and the newcomer has an account.
	expect(lamports).toMatchObject({ inMarkers: String(5 * 2_039_280), rent: "2039280" });
	expect(formatReport(report)).toMatch(
		/at slot \d+\n {2}USDC: escrow 0, .*\n.*\n.*\n {2}lamports: fees \d+, /,
	);
});

test("an order within Solana that an earlier version voided and then refunded is no breach; without the refund it is", async () => {
	const { vault, escrow } = on.keys;
	const [refunded, unpaid] = [on.toSolana(await fromSolana()), on.toSolana(await fromSolana())];
	for (const order of [refunded, unpaid]) {
		await deposit(order);
		await insertSwap(order, "refunded");
		const marker = await on.marker(order, { base: vault, owner: escrow.address });
		await send("void", order, await on.sign(marker));
	}
	const { wallet, inputAmount } = refunded;
	const paidBack = await on.transfer("USDC", inputAmount, { from: escrow, to: fromSolanaWord(wallet) });
	const marker = await on.marker(refunded, { base: escrow, owner: escrow.address });
	await send("refund", refunded, await on.sign([...paidBack, ...marker]));
	expect(await findings()).toEqual([
		`I9 swap ${fromSwapKey(unpaid.swapKey)} is refunded, but its wallet was not paid`,
	]);
	await send("refund", unpaid, await on.signRefund(unpaid, { isVoided: true }));
	expect(await findings()).toEqual([]);
});

test("an audit with a memory no longer reads swaps that ended long ago, and finds the same", async () => {
	await follow();
	const memory = createAuditMemory();
	const nowMs = Date.now();
	const at = (laterMs: number) => check(solana, { memory, isKnown: () => true, nowMs: nowMs + laterMs });
	const first = await at(0);
	await at(700_000);
	// Swaps that ended are no longer read by now.
	const later = await at(1_400_000);
	expect(later.swaps).toBeLessThan(first.swaps);
	expect(later.breaches).toEqual(first.breaches);
	expect(later.chains).toEqual(first.chains);
});

test("a history of many pages is read completely", async () => {
	const chain = await connectAuditedSolana(solana);
	const [whole, inPages] = [
		await readSolanaTransactions(chain),
		await readSolanaTransactions(chain, { pageSize: 2 }),
	];
	expect(whole.transactions.length).toBeGreaterThan(10);
	expect(inPages).toEqual(whole);
});

test("only the new part of a known history is listed and read, with the same result", async () => {
	const asked: { method: string; listed: number }[] = [];
	const real = createDefaultRpcTransport({ url: solana.rpcUrl });
	const transport: typeof real = async (request) => {
		const answer = await real(request);
		const { method } = request.payload as { method: string };
		const { result } = answer as { result: unknown };
		asked.push({ method, listed: Array.isArray(result) ? result.length : 0 });
		return answer as never;
	};
	const chain = await connectAuditedSolana({ ...solana, transport });
	const first = await readSolanaTransactions(chain, { pageSize: 2 });
	expect(first.transactions.length).toBeGreaterThan(10);
	// All transactions are kept in memory, each with what it changed, and no more.
	const changes = first.transactions.flatMap(({ lamports }) => [...lamports.values()]);
	expect(changes.filter((change) => change === 0n)).toEqual([]);
	const gift = await on.transfer("USDC", 1n, {
		from: on.wallets[5] as KeyPairSigner,
		to: solana.deployment.vault,
	});
	await on.land(await on.sign(gift, { payer: on.stranger }));
	asked.length = 0;
	// A transaction that is not final may be dropped, so it is not read before.
	expect(await readSolanaTransactions(chain, { after: first })).toEqual(first);
	expect(asked.filter(({ listed }) => listed > 0)).toEqual([]);
	await on.finalize();
	asked.length = 0;
	const second = await readSolanaTransactions(chain, { after: first, pageSize: 2 });
	expect(second.strangers).toBe(first.strangers + 1);
	expect(second.transactions).toEqual(first.transactions);
	expect(asked.reduce((sum, { listed }) => sum + listed, 0)).toBe(1);
	expect(asked.filter(({ method }) => method === "getTransaction")).toHaveLength(1);
	expect(second).toEqual(await readSolanaTransactions(chain));
});

test("gifts by strangers cause no breach, before and after they are booked", async () => {
	const to = solana.deployment;
	const gifts = [
		...(await on.transfer("USDC", 11n, { from: on.wallets[5] as KeyPairSigner, to: to.vault })),
		...(await on.transfer("USDT", 12n, { from: on.wallets[5] as KeyPairSigner, to: to.escrow })),
		...(await on.transfer("SOL", 1_000_000n, { from: on.stranger, to: to.escrow })),
	];
	await on.land(await on.sign(gifts, { payer: on.stranger }));
	expect((await check()).breaches).toEqual([]);
	// It is final and not booked: the books are judged by what was there when they were written.
	await on.finalize();
	const before = await check();
	expect(before.breaches).toEqual([]);
	const after = await audit();
	expect(after.breaches).toEqual([]);
	const stock = ({ chains: reports }: Report) =>
		BigInt(reports[2]?.tokens.find(({ symbol }) => symbol === "USDC")?.stockActual ?? 0);
	expect(stock(after) - stock(before)).toBe(11n);
	const extra = after.chains.flatMap(({ tokens }) =>
		tokens.map(({ donated, unbooked }) => [donated, unbooked]),
	);
	expect(new Set(extra.flat())).toEqual(new Set(["0"]));
});

test("lamports that are paid to a token account count as an output, not as rent", async () => {
	const account = await generateKeyPairSigner();
	const made = [
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
	];
	await on.land(await on.sign(made, { payer: on.stranger }));
	const order = await toSolana({ symbol: "SOL", recipient: account.address, minOutput: 1_000_000n });
	await actions.open(order);
	await pay(order, 2_000_000n);
	await insertSwap(order, "settled", 2_000_000n);
	await follow();
	await actions.decide("Release", order);
	expect(await findings()).toEqual([]);
});

test("an input that cannot be refunded is owed while the wallet is at fault, and late once it is not", async () => {
	const wallet = on.wallets[2] as KeyPairSigner;
	const made = await actions.makeOrder({ stepSeconds: 600n, agoSeconds: 1_860n });
	const order = on.fromSolana(made, { wallet });
	await insertSwap(order, "pending");
	await send("open", order, await on.signDeposit(order, wallet));
	const owned = await tokenAccountOf({ owner: wallet.address, token: fromSolanaWord(order.inputToken) });
	const friend = await generateKeyPairSigner();
	const give = async (owner: KeyPairSigner, newAuthority: SolanaAddress) => {
		const authorityType = AuthorityType.AccountOwner;
		const given = getSetAuthorityInstruction({ owned, owner, authorityType, newAuthority });
		await on.land(await on.sign([given], { payer: on.stranger }));
		await follow();
	};
	const memory = createAuditMemory();
	const look = async (hours: number) => {
		const nowMs = Date.now() + hours * 3_600_000 + 100_000;
		const report = await check(solana, { memory, nowMs });
		const late = report.breaches.filter(({ orderId: id }) => id === orderId(order));
		return { owed: report.owed, late: late.map(({ invariant }) => invariant), report };
	};
	await give(wallet, friend.address);
	const first = await look(1);
	expect(first.late).toEqual([]);
	expect(first.owed).toEqual([
		{
			chainId: solana.deployment.chainId,
			orderId: orderId(order),
			swapId: fromSwapKey(order.swapKey),
			wallet: wallet.address,
			token: fromSolanaWord(order.inputToken),
			amount: String(order.inputAmount),
			why: "account-given-away",
		},
	]);
	expect(formatReport(first.report)).toContain(`OWED ${order.inputAmount} of `);
	// The wallet has its account back, and the service has an hour to refund it. A missing refund is then its own fault.
	await give(friend, wallet.address);
	expect(await look(1.5)).toMatchObject({ owed: [{ orderId: orderId(order) }], late: [] });
	expect(await look(3)).toMatchObject({ owed: [], late: ["I14"] });
	await actions.voidOrder(order);
	await follow();
	await send("refund", order, await on.signRefund(order));
	await database.owner.query(
		`update swaps set status = 'refunded', moves = '{opening,deposited,refunding,refunded}', ended_at = now()
		where order_id = $1`,
		[hexToBytes(orderId(order))],
	);
	expect(await findings()).toEqual([]);
});

test("a transaction of an unknown version is skipped and counted, and its amounts pause nothing", async () => {
	const giver = on.wallets[5] as KeyPairSigner;
	const gift = await on.sign(await on.transfer("USDC", 1n, { from: giver, to: solana.deployment.vault }), {
		payer: on.stranger,
	});
	await on.land(gift);
	await follow();
	const real = createDefaultRpcTransport({ url: solana.rpcUrl });
	/** Answers like a node that is asked for a lower version than a transaction has. */
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
		return { ...solana, transport };
	};
	const [before, one, later] = [await check(), await check(ofVersion(1)), await check(ofVersion(9))];
	expect(one).toEqual(before);
	expect(later.unchecked).toEqual([]);
	const strangers = (report: Report) => report.chains[2]?.strangers;
	expect(strangers(one)?.undecodable).toBe(0);
	// The gift names the vault's account, and that alone.
	expect(strangers(later)).toEqual({ transactions: strangers(one)?.transactions, undecodable: 1 });
	const isNew = ({ message }: Breach) => !before.breaches.some((breach) => breach.message === message);
	expect(later.breaches.filter(isNew)).toMatchObject([{ invariant: "I2", pauses: false }]);
});

test("many transactions of strangers are read in parts, and only their gifts are kept", async () => {
	const { vault } = solana.deployment;
	const giver = on.wallets[5] as KeyPairSigner;
	const before = await readSolanaTransactions(await connectAuditedSolana(solana));
	for (let i = 0; i < 12; i++) {
		const names =
			i % 2 === 0
				? on.transfer("USDC", 1n, { from: giver, to: vault })
				: on.transfer("SOL", 1n, { from: on.stranger, to: solana.deployment.escrow });
		await on.land(await on.sign(await names, { payer: on.stranger }));
	}
	await follow();
	const chain = await connectAuditedSolana(solana);
	const whole = await readSolanaTransactions(chain);
	expect(whole.transactions).toEqual(before.transactions);
	expect(whole.strangers).toBe(before.strangers + 12);
	expect([...whole.gifts.values()].flat().length).toBeLessThanOrEqual(whole.strangers);

	let history: SolanaHistory | undefined;
	let parts = 0;
	do {
		history = await readSolanaTransactions(chain, { after: history, pageSize: 2, mostReads: 3 });
		parts++;
	} while (history.unread.size > 0);
	expect(parts).toBeGreaterThan(3);
	expect(history).toEqual(whole);
	expect((await check()).unchecked).toEqual([]);
});

test("a history is read to the end even if the node keeps failing, since finished parts are kept", async () => {
	const real = createDefaultRpcTransport({ url: solana.rpcUrl });
	const failing = (method: string, isFailure: (asked: number) => boolean) => {
		let asked = 0;
		const transport: typeof real = async (request) => {
			const isIt = (request.payload as { method: string }).method === method;
			if (isIt && isFailure(++asked)) throw new Error("too many requests");
			return real(request);
		};
		return { ...solana, transport };
	};
	const chain = await connectAuditedSolana(failing("getTransaction", (asked) => asked % 5 === 0));
	let history: SolanaHistory | undefined;
	let failures = 0;
	do {
		history = await readSolanaTransactions(chain, { after: history, pageSize: 2 });
		if (history.failure) failures++;
	} while (history.failure && failures < 100);
	expect(failures).toBeGreaterThan(1);
	expect(history).toEqual(await readSolanaTransactions(await connectAuditedSolana(solana)));

	// An audit says that the chain is unchecked, and its memory keeps what was read.
	const memory = createAuditMemory();
	const as = failing("getSignaturesForAddress", (asked) => asked > 1);
	const { unchecked } = await check(as, { memory });
	const why = `the transactions that name ${solana.deployment.feePayers[0]} could not all be read: too many requests`;
	expect(unchecked).toEqual([
		{ chainId: solana.deployment.chainId, why: expect.stringContaining(why) as string },
	]);
	expect(memory.solana?.newest.size).toBe(1);
});

test("books that differ from the chain are found", async () => {
	const { chainId } = solana.deployment;
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
		// Audits are compared by the token: what is short of one token is not what is short of another.
		for (const breach of breaches.filter((one) => !known.has(keyOf(one)))) {
			expect(breach.token).toBe(fromSolanaWord(on.word(symbol)));
		}
		return breaches
			.filter((breach) => !known.has(keyOf(breach)))
			.map(({ invariant, message }) => `${invariant} ${message}`);
	};
	expect((await found("wallet", "stock", "USDC"))[0]).toBe(
		"I2 the vault on Solana holds 3 USDC less than the books say",
	);
	expect((await found("wallet", "escrow", "USDT"))[0]).toMatch(
		/^I2 the escrow on Solana holds 3 USDT less than the books say/,
	);
	expect(await found("unattributed", "recipient", "USDC")).toEqual([
		expect.stringMatching(/^I2 \S+ USDC is booked as no order's on Solana, but \S+ is/),
	]);
	expect(await found("relayer", "gas")).toEqual([
		expect.stringMatching(/^I2 \d+ lamports are booked as gas on Solana, but it is \d+/),
	]);
	expect(await found("relayer", "marker")).toEqual([
		expect.stringMatching(/^I2 \d+ lamports are booked as marker on Solana, but it is \d+/),
	]);
	expect(await found("relayer", "rent")).toEqual([
		expect.stringMatching(/^I2 \d+ lamports are booked as rent on Solana, but it is \d+/),
	]);
	expect(await findings()).toEqual([]);
});

test("money that left escrow or vault for no order is found", async () => {
	const { vault, escrow } = on.keys;
	const thief = on.stranger;
	const { address: to } = on.wallets[4] as KeyPairSigner;
	const loot = [
		...(await on.transfer("USDC", 5n, { from: vault, to })),
		...(await on.transfer("USDT", 6n, { from: escrow, to })),
	];
	await on.land(await on.sign(loot, { payer: thief }));
	expect(await findings()).toEqual([
		expect.stringMatching(/^I2 5 of \S+ left the vault on Solana for no order/),
		expect.stringMatching(/^I1 6 of \S+ left the escrow on Solana for no order/),
	]);
});

test("an input that was taken twice is found, before and after one of them was refunded", async () => {
	const twice = await fromSolana({ symbol: "USDT" });
	await insertSwap(twice, "pending");
	await deposit(twice);
	await deposit(twice);
	expect(await findings()).toEqual(["I4 its input was taken 2 times"]);
	await send("refund", twice, await on.signRefund(twice));
	expect(await findings()).toEqual([
		"I1 the escrow on Solana holds 10000000 USDT too many",
		"I4 its input was taken 2 times",
	]);
});

test("a reported outcome that is not true is found", async () => {
	const opened = await fromSolana();
	await deposit(opened);
	await insertSwap(opened, "failed");
	const undelivered = await toSolana();
	await insertSwap(undelivered, "settled", 1n);
	const unpaid = await fromSolana();
	await insertSwap(unpaid, "refunded");
	const told = (await findings()).map((line) => line.replace(/swap \S+ /, ""));
	expect(told.sort()).toEqual([
		"I8 is failed, but its order was opened",
		"I8 is settled, but nothing was delivered",
		"I9 is refunded, but its wallet was not paid",
		"I9 was not refunded in full",
	]);
	await database.owner.query("delete from swaps where order_id = any($1)", [
		[undelivered, unpaid].map((order) => hexToBytes(orderId(order))),
	]);
});

test("a payout to another recipient, in another token, too small or made twice is found", async () => {
	const wallets = on.wallets as [KeyPairSigner, KeyPairSigner];
	const misled = await toSolana();
	const mistaken = await toSolana();
	const small = await toSolana();
	const twice = await toSolana();
	for (const order of [misled, mistaken, small, twice]) await actions.open(order);
	const { vault } = on.keys;
	await send(
		"fill",
		misled,
		await on.sign([
			...(await on.transfer("USDC", payout, { from: vault, to: wallets[1].address })),
			...(await on.marker(misled)),
		]),
	);
	await send(
		"fill",
		mistaken,
		await on.sign([
			...(await on.transfer("USDT", payout, { from: vault, to: wallets[0].address })),
			...(await on.marker(mistaken)),
		]),
	);
	await send(
		"fill",
		small,
		await on.sign([
			...(await on.transfer("USDC", 8_999_999n, { from: vault, to: wallets[0].address })),
			...(await on.marker(small)),
		]),
	);
	await pay(twice);
	await follow();
	await closeMarker(twice, "vault", "vault");
	await pay(twice, payout + 1n);
	const found = await findings();
	expect(found).toEqual(
		expect.arrayContaining([
			expect.stringMatching(/^I3 the vault has -9500000 of \S+ too many or too few in slot/),
			"I3 delivered 0, less than 9000000",
			"I3 delivered 8999999, less than 9000000",
			"I3 delivered 2 times",
		]),
	);
	// Two moved tokens that are not the order's payout, and both delivered nothing.
	expect(found.filter((line) => line.startsWith("I3 the vault has"))).toHaveLength(2);
	expect(found.filter((line) => line === "I3 delivered 0, less than 9000000")).toHaveLength(2);
});

test("an input that was refunded in part, to another wallet, or both refunded and released is found", async () => {
	const part = await fromSolana();
	const elsewhere = await fromSolana();
	const both = await fromSolana();
	for (const order of [part, elsewhere, both]) {
		await deposit(order);
		await insertSwap(order, "pending");
	}
	const { escrow } = on.keys;
	const marker = (order: Order) => on.marker(order, { base: escrow, owner: escrow.address });
	const to = fromSolanaWord(part.wallet);
	const { address: other } = on.wallets[4] as KeyPairSigner;
	await send(
		"refund",
		part,
		await on.sign([
			...(await on.transfer("USDC", 4_000_000n, { from: escrow, to })),
			...(await marker(part)),
		]),
	);
	await send(
		"refund",
		elsewhere,
		await on.sign([
			...(await on.transfer("USDC", 10_000_000n, { from: escrow, to: other })),
			...(await marker(elsewhere)),
		]),
	);
	await send("refund", both, await on.signRefund(both));
	await follow();
	await closeMarker(both, "escrow", "escrow");
	// Paid with what the escrow holds for others.
	await send("release", both, await on.signRelease(both));
	const found = await findings();
	expect(found).toEqual(
		expect.arrayContaining([
			expect.stringMatching(/^I4 the escrow has 6000000 of \S+ too many or too few in slot/),
			expect.stringMatching(/^I4 the wallet's \S+ changed by 4000000 and not by 10000000 in slot/),
			expect.stringMatching(/^I4 the wallet's \S+ changed by 0 and not by 10000000 in slot/),
			"I4 its input left the escrow more than once",
		]),
	);
});

test("an input on another chain that was released before its payout, or refunded before its void, is found", async () => {
	const released = await toSolana();
	const refunded = await toSolana();
	const paidBack = await toSolana();
	for (const order of [released, refunded, paidBack]) await actions.open(order);
	await actions.decide("Release", released);
	await actions.decide("Refund", refunded);
	await pay(paidBack);
	await actions.decide("Refund", paidBack);
	// After `refundAfter` anyone may refund it, and nothing is wrong.
	const late = on.toSolana(await actions.makeOrder({ stepSeconds: 600n }));
	await actions.open(late);
	await chains.origin.testClient.increaseTime({ seconds: 2_000 });
	await actions.decide("Refund", late);
	const { breaches } = await audit();
	const found = breaches.filter((breach) => breach.invariant === "I5" && !known.has(keyOf(breach)));
	expect(found.map(({ message, orderId: id }) => [id, message]).sort()).toEqual(
		[
			[orderId(released), "released although no delivery is final"],
			[orderId(refunded), "refunded although no void is final on Solana"],
			[orderId(paidBack), "refunded although it was delivered"],
			[orderId(paidBack), "refunded although no void is final on Solana"],
		].sort(),
	);
});

test("an input on Solana that was released before its delivery, and a marker for an unknown order, are found", async () => {
	const released = await fromSolana();
	await deposit(released);
	await insertSwap(released, "pending");
	await send("release", released, await on.signRelease(released));
	const nobodys = await toSolana();
	await on.land(await on.signVoid(nobodys));
	const found = await findings();
	expect(found).toContain("I5 released although no delivery is final");
	expect(found).toContainEqual(expect.stringMatching(/^I3 an order that nobody knows was voided in slot/));
});

test("an account of ours that another key owns, may take from or may close is found", async () => {
	const { vault, escrow } = on.keys;
	const { address: thief } = on.stranger;
	const accountOf = (owner: KeyPairSigner, symbol: string) =>
		tokenAccountOf({ owner: owner.address, token: fromSolanaWord(on.word(symbol)) });
	const [owned, taken, closed] = await Promise.all([
		accountOf(vault, "USDC"),
		accountOf(escrow, "USDT"),
		accountOf(vault, "USDT"),
	]);
	const { AccountOwner, CloseAccount } = AuthorityType;
	await on.land(
		await on.sign([
			getSetAuthorityInstruction({
				owned,
				owner: vault,
				authorityType: AccountOwner,
				newAuthority: thief,
			}),
			getApproveInstruction({ source: taken, delegate: thief, owner: escrow, amount: 1n }),
			getSetAuthorityInstruction({
				owned: closed,
				owner: vault,
				authorityType: CloseAccount,
				newAuthority: thief,
			}),
			// The program that owns an account can take its lamports.
			getAssignInstruction({ account: escrow, programAddress: thief }),
		]),
	);
	expect(await findings()).toEqual(
		expect.arrayContaining([
			`I1 ${thief} may take from the escrow's account ${taken} on Solana`,
			`I1 the escrow on Solana, ${escrow.address}, belongs to the program ${thief}`,
			`I2 ${thief} may close the vault's account ${closed} on Solana`,
			`I2 the vault's account ${owned} on Solana belongs to ${thief}`,
		]),
	);
});

test("a chain that is not in the books is found", async () => {
	const { chainId } = solana.deployment;
	await database.owner.query("delete from chain_heads where chain_id = $1", [chainId]);
	const { breaches } = await check();
	expect(breaches.map(({ message }) => message)).toContain(`chain ${chainId} is not in the books`);
});
