import {
	emptyAccountRentLamports,
	fromSwapId,
	inputAddress,
	orderAddress,
	recordAddress,
	solanaChainId,
	tokenAccountOf,
	tokenAccountRentLamports,
} from "@geoswap/protocol";
import { type Client, getStatus, type Swap, waitForSwap } from "@geoswap/sdk";
import { generateKeyPairSigner, type KeyPairSigner } from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { AuthorityType, getSetAuthorityInstruction } from "@solana-program/token";
import { type Address, type Hex, type PrivateKeyAccount, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, type ExpectStatic, test } from "vitest";
import { signSolanaSwap, submitSignedSolana } from "../caller/do-solana-swap.ts";
import { signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { escrowState } from "../chain/escrow-state.ts";
import { type AnyChain, holding, isSolanaChain } from "../chain/holding.ts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import type { OwnEnvironment } from "../environment/environment.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { solanaJournal } from "../expect/solana-journal.ts";
import { ownEnvironment } from "../own-environment.ts";
import { programState } from "../solana/program-state.ts";
import { sendSolana } from "../solana/send-solana.ts";
import { hasTokenAccount } from "../solana/solana-balance.ts";
import { solanaChanges } from "../solana/solana-changes.ts";
import { closeTokenAccount } from "../trouble/close-token-account.ts";
import { holdBack } from "../trouble/hold-back.ts";
import { assetAddress } from "../wallet/make-order.ts";

const amount = parseUnits("100", 6);
/** Slots until a blockhash expires, plus those until its expiry is final. */
const slotsOfDeath = 200;
/** Time limit of a test's waits, on a busy machine. */
const withinMs = 60_000;
const poll = { timeout: withinMs, interval: 100 };
/** An account costs about a third of a dollar, so two of them exceed this. */
const gasBudgetUsd = 0.6;

const environmentOf = ownEnvironment({
	configure: (config) => ({
		...config,
		limits: { unsettledGasUsdPerDay: gasBudgetUsd },
	}),
});
let environment: OwnEnvironment;
let database: DatabaseConnection;

beforeAll(async () => {
	environment = environmentOf();
	database = await connectDatabase(environment.databaseUrl);
});
afterEach(() => environment.solana.admin.setFaults({}));
afterAll(() => database.end());

test("when a blockhash expires, a swap whose deposit never landed fails, and a payout is signed again and paid once [D-status-17, D-status-19]", async ({
	expect,
}) => {
	const { origin, destination, solana } = environment;
	const { admin, rpc } = solana;
	const client = await environment.newClient();
	await admin.setFaults({ dropSends: true });
	const [from, to] = await Promise.all([
		started(client, { from: solana, to: destination }),
		started(client, { from: origin, to: solana }),
	]);
	const opens = () => solanaJournal(database, { kind: "open", swapId: from.swapId });
	const fills = () => solanaJournal(database, { kind: "fill", swapId: to.swapId });
	await expect.poll(async () => (await opens())[0]?.state, poll).toBe("broadcast");
	await expect.poll(async () => (await fills())[0]?.state, poll).toBe("broadcast");
	await admin.warp({ slots: slotsOfDeath });
	const failed = await waitForSwap(client, from.swapId);
	await expect.poll(async () => (await fills()).length, poll).toBe(2);
	await admin.setFaults({});
	const settled = await waitForSwap(client, to.swapId);

	expect(failed).toMatchObject({
		status: "failed",
		failure: { code: "NOT_OPENED" },
		funds: { holder: "wallet", amount },
	});
	expect(await opens()).toHaveLength(1);
	const [first, second] = await fills();
	expect(settled).toMatchObject({ status: "settled", deliveryTxHash: second?.signature });
	expect(await holding(solana, "USDC", to.recipient)).toBe(settled.funds.amount);
	// The dead transactions are useless to anyone who kept them.
	const dead = [(await opens())[0], first].flatMap((transaction) => transaction ?? []);
	for (const { wire } of dead) {
		await rpc.sendTransaction(wire, { encoding: "base64", skipPreflight: true }).send();
	}
	await admin.warp({ slots: 5 });
	const { value } = await rpc
		.getSignatureStatuses(
			dead.map(({ signature }) => signature),
			{ searchTransactionHistory: true },
		)
		.send();
	expect(value).toEqual([null, null]);
	expect(await holding(solana, "USDC", from.account.address)).toBe(amount);
	expect(await holding(solana, "USDC", to.recipient)).toBe(settled.funds.amount);
});

test("while nothing becomes final on Solana, no order that was or could be paid there is released or refunded, no swap fails, and all continue afterwards [D-status-19, D-status-22]", async ({
	expect,
}) => {
	const { origin, destination, solana } = environment;
	const { admin } = solana;
	const client = await environment.newClient();
	const refuser = await newRefuser();
	await untilAttestersSee(expect);
	await admin.setFaults({ stallFinality: true });
	const [toSolana, fromSolana, onSolana, refused, unpayable] = await Promise.all([
		started(client, { from: origin, to: solana }),
		started(client, { from: solana, to: destination }),
		started(client, { from: solana, to: solana, output: "USDT" }),
		started(client, { from: solana, to: destination, output: "ETH", recipient: refuser }),
		startedUnpayable(client),
	]);
	// A delivered swap is settled, because no minimum of finality was promised for that.
	for (const { swapId } of [toSolana, fromSolana, onSolana]) {
		expect(await waitForSwap(client, swapId)).toMatchObject({ status: "settled" });
	}
	const failure = { code: "RECIPIENT_REFUSED" };
	expect(await waitForSwap(client, refused.swapId)).toMatchObject({ status: "refunded", failure });
	const waitsFor = (swap: Signed, fact: string) =>
		expect.poll(() => lastFact(swap.swapId), { ...poll, message: fact }).toBe(fact);
	await waitsFor(unpayable, "voided");
	await admin.setFaults({ stallFinality: true, dropSends: true });
	const late = await started(await environment.newClient(), { from: solana, to: destination });
	const open = async () => (await solanaJournal(database, { kind: "open", swapId: late.swapId }))[0]?.state;
	await expect.poll(open, poll).toBe("broadcast");
	await admin.warp({ slots: slotsOfDeath });
	await admin.setFaults({ stallFinality: true });

	await waitsFor(toSolana, "delivered");
	await waitsFor(fromSolana, "released");
	await waitsFor(unpayable, "voided");
	await waitsFor(late, "opening");
	// The service must have read slots after the warp before the swaps are checked.
	const warped = Number(await solana.rpc.getSlot({ commitment: "confirmed" }).send());
	await expect.poll(headOf, poll).toBeGreaterThan(warped + 10);
	for (const [swap, stage] of [
		[unpayable, "refunding"],
		[late, "opening"],
	] as const) {
		const status = await getStatus(swap.client, swap.swapId, { waitSeconds: 0 });
		expect(status).toMatchObject({ status: "pending", stage });
	}
	expect(await escrowState(origin, toSolana.orderId)).toBe("Opened");
	expect(await escrowState(origin, unpayable.orderId)).toBe("Opened");
	await admin.setFaults({});
	const [unpayableEnded, lateEnded] = await Promise.all(
		[unpayable, late].map((swap) => waitForSwap(swap.client, swap.swapId)),
	);
	expect(unpayableEnded).toMatchObject({ status: "refunded", failure });
	expect(lateEnded).toMatchObject({ status: "failed", failure: { code: "NOT_OPENED" } });
	await expect.poll(() => escrowState(origin, toSolana.orderId), poll).toBe("Released");
	await expect.poll(() => lastFact(fromSolana.swapId), poll).toBe("released");
	for (const swap of [refused, unpayable, late]) {
		expect(await holding(swap.from, "USDC", swap.account.address)).toBe(amount);
	}
});

describe("unusual uses of accounts on Solana", () => {
	test.concurrent("lamports sent to the addresses of an order before it is opened or filled have no effect, and the order is paid once", async ({
		expect,
	}) => {
		const { origin, destination, solana } = environment;
		const client = await environment.newClient();
		const stranger = await solana.newWallet({ lamports: 1_000_000_000n });
		const give = async (addressOf: typeof orderAddress, { orderId }: Signed) => {
			const address = await addressOf(solana.deployment.program.address, orderId as Hex);
			const amount = emptyAccountRentLamports;
			const gift = getTransferSolInstruction({ source: stranger, destination: address, amount });
			await sendSolana(solana, { feePayer: stranger, instructions: [gift] });
		};
		const to = await signed(client, { from: origin, to: solana });
		await give(recordAddress, to);
		await to.submit();
		const from = await signed(client, { from: solana, to: destination });
		await give(orderAddress, from);
		await give(inputAddress, from);
		await from.submit();

		const settled = await waitForSwap(client, to.swapId);
		expect(settled).toMatchObject({ status: "settled" });
		expect(await waitForSwap(client, from.swapId)).toMatchObject({ status: "settled" });
		expect(await holding(solana, "USDC", to.recipient)).toBe(settled.funds.amount);
		const isPaid = async () => (await programState(solana, from.orderId)).order?.isPaid;
		await expect.poll(isPaid, poll).toBe(true);
	});

	test.concurrent("a wallet that closed its token account is refunded into a new one, until its customer's gas budget is used up", async ({
		expect,
	}) => {
		const { destination, solana } = environment;
		const client = await environment.newClient();
		const recipient = await newRefuser();
		const token = assetAddress(solana, "USDC");
		const stranger = await solana.newWallet({ lamports: 1_000_000_000n });
		const terms = { from: solana, to: destination, output: "ETH", recipient };
		const ended = await Promise.all(
			Array.from({ length: 2 }, async () => {
				const { swapId, account } = await started(client, terms);
				const owner = account as KeyPairSigner;
				await expect.poll(() => holding(solana, "USDC", owner.address), poll).toBe(0n);
				await closeTokenAccount(solana, { owner, token, to: stranger });
				expect(await hasTokenAccount(solana, token, owner.address)).toBe(false);
				expect(await holding(solana, "SOL", owner.address)).toBe(0n);

				const refunded = await waitForSwap(client, swapId);
				expect(refunded).toMatchObject({
					status: "refunded",
					failure: { code: "RECIPIENT_REFUSED" },
					funds: { holder: "wallet", amount },
				});
				expect(await holding(solana, "USDC", owner.address)).toBe(amount);
				const holds = await tokenAccountOf({ owner: owner.address, token });
				expect((await solana.rpc.getBalance(holds).send()).value).toBe(tokenAccountRentLamports);
				return refunded;
			}),
		);
		for (const refunded of ended) await expectCounted(expect, refunded);
		const third = await signed(client, terms);
		const answer = await third.submit().catch((error: unknown) => error);
		expect(answer).toMatchObject({ code: "RATE_LIMITED", status: 429, details: { reason: "gas_budget" } });
		expect(await holding(solana, "USDC", third.account.address)).toBe(amount);
	});
});

test("after all these swaps nothing is reserved or in escrow, and the books match the chains to the unit", async () => {
	await expectBooksExact(environment, { withinMs });
});

/**
 * Waits until all attesters have reported the newest final slot, since they may not have read the slots just passed.
 */
async function untilAttestersSee(expect: ExpectStatic): Promise<void> {
	const slot = Number(await environment.solana.rpc.getSlot({ commitment: "finalized" }).send());
	const seen = async () => {
		const [row] = await database.query<{ least: number | null }>(
			"select min(finalized_number)::float8 as least from heartbeats where chain_id = $1",
			[solanaChainId],
		);
		return row?.least ?? 0;
	};
	await expect.poll(seen, poll).toBeGreaterThanOrEqual(slot);
}

type Signed = Awaited<ReturnType<typeof signed>>;

async function started(...terms: Parameters<typeof signed>): Promise<Signed> {
	const swap = await signed(...terms);
	await swap.submit();
	return swap;
}

/** Creates a wallet that holds 100 USDC and nothing else, and signs a swap of all of it. */
async function signed(
	client: Client,
	{
		from,
		to,
		output = "USDC",
		recipient: named,
	}: { from: AnyChain; to: AnyChain; output?: string; recipient?: string },
) {
	const { solana, deployment: pins } = environment;
	const recipient =
		named ??
		(isSolanaChain(to) ? (await generateKeyPairSigner()).address : privateKeyToAddress(generatePrivateKey()));
	const intentOf = (account: { address: string }) =>
		swapIntent({
			from: { chain: from, token: "USDC", amount },
			to: { chain: to, token: output },
			account,
			recipient,
		});
	if (isSolanaChain(from)) {
		const account = await solana.newWallet({ usdc: amount });
		const caller = { client, pins, account };
		const signedSwap = await signSolanaSwap(caller, intentOf(account));
		return {
			...described({ client, from, account, recipient }, signedSwap),
			submit: () => submitSignedSolana(caller, signedSwap),
		};
	}
	const account = await environment.newWallet({ chain: from, token: "USDC", amount });
	const caller = { client, pins, account };
	const signedSwap = await signSwap(caller, intentOf(account));
	return {
		...described({ client, from, account, recipient }, signedSwap),
		submit: () => submitSigned(caller, signedSwap),
	};
}

function described(
	parties: { client: Client; from: AnyChain; account: KeyPairSigner | PrivateKeyAccount; recipient: string },
	{ quote, build }: { quote: { swapId: string }; build: { geoOp: { orderId: string } } },
) {
	return { ...parties, swapId: quote.swapId, orderId: build.geoOp.orderId as Hex };
}

/** Returns the last fact recorded for the swap. */
async function lastFact(swapId: string): Promise<string | undefined> {
	const [last] = await database.query<{ fact: string }>(
		"select fact from swap_events where swap_id = $1 order by seq desc limit 1",
		[fromSwapId(swapId)],
	);
	return last?.fact;
}

async function headOf(): Promise<number> {
	const [head] = await database.query<{ number: string }>(
		"select number from chain_heads where chain_id = $1",
		[solanaChainId],
	);
	return Number(head?.number);
}

/**
 * Expects the account to be charged for the full cost of the refund: fees, and the rent of the wallet's new account.
 */
async function expectCounted(expect: ExpectStatic, refunded: Swap): Promise<void> {
	const { solana } = environment;
	const hashes = [refunded.originTxHash ?? "", refunded.refundTxHash ?? ""];
	const fees = await Promise.all(hashes.map(async (hash) => (await solanaChanges(solana, hash)).fee));
	const cost = fees.reduce((sum, fee) => sum + fee, tokenAccountRentLamports);
	const counted = async (): Promise<bigint> => {
		const [row] = await database.query<{ wei: string }>(
			"select wei from unsettled_gas where swap_id = $1 and chain_id = $2",
			[fromSwapId(refunded.swapId), solanaChainId],
		);
		return BigInt(row?.wei ?? 0);
	};
	await expect.poll(counted, poll).toBeGreaterThanOrEqual(cost);
}

/** Creates an address on the EVM chain that takes no ether. */
async function newRefuser(): Promise<Address> {
	const address = privateKeyToAddress(generatePrivateKey());
	await environment.destination.testClient.setCode({ address, bytecode: "0x5f5ffd" });
	return address;
}

/**
 * Starts a swap to an address on Solana that can no longer be paid, because its USDC account now belongs to another
 * owner.
 */
async function startedUnpayable(client: Client): Promise<Signed> {
	const { origin, solana, databaseUrl } = environment;
	const stranger = await solana.newWallet({ lamports: 1_000_000_000n });
	const owner = await solana.newWallet({ usdc: 1n });
	const swap = await signed(client, { from: origin, to: solana, recipient: owner.address });
	const { release } = await holdBack(databaseUrl, swap.swapId);
	await swap.submit();
	const owned = await tokenAccountOf({ owner: owner.address, token: assetAddress(solana, "USDC") });
	const givingAway = getSetAuthorityInstruction({
		owned,
		owner,
		authorityType: AuthorityType.AccountOwner,
		newAuthority: stranger.address,
	});
	await sendSolana(solana, { feePayer: stranger, instructions: [givingAway] });
	await release();
	return swap;
}
