import type { SolanaFaults } from "@geoswap/devnet";
import { fromSolanaWord, orderSchema } from "@geoswap/protocol";
import { type Client, waitForSwap } from "@geoswap/sdk";
import { type Base64EncodedWireTransaction, generateKeyPairSigner, type Signature } from "@solana/kit";
import { parseUnits } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectDatabase, type DatabaseConnection } from "../connect-database.ts";
import { signSwap, submitSigned, swapIntent } from "../do-swap.ts";
import type { OwnEnvironment } from "../environment.ts";
import { expectBooksExact } from "../expect-books-exact.ts";
import { expectExact } from "../expect-exact.ts";
import { type EndedAnyPlan, planSolanaSwap } from "../mixed-swaps.ts";
import { ownEnvironment } from "../own-environment.ts";
import { signRivalPayout } from "../sign-rival-payout.ts";
import { type JournalledTransaction, solanaJournal } from "../solana-journal.ts";
import { solanaMarker } from "../solana-marker.ts";
import { newWalletSwapsThrough } from "../swap-through.ts";

const rounds = process.env.GEOSWAP_FULL ? 10 : 1;

/** Time for a deposit, and what follows from it, on a busy machine. */
const reachedWithinMs = 60_000;
const decidedWithinMs = 120_000;

const environmentOf = ownEnvironment();
let environment: OwnEnvironment;
let client: Client;
let database: DatabaseConnection;
const ended: EndedAnyPlan[] = [];

beforeAll(async () => {
	environment = environmentOf();
	[client, database] = await Promise.all([environment.newClient(), connectDatabase(environment.databaseUrl)]);
});
afterAll(() => database.end());

test("of two signed payouts of one order that are sent at once one lands, whichever comes first, and the swap settles by it", async () => {
	const { solana, stack } = environment;
	const { worker } = stack.processes;
	await solana.admin.setFaults({ dropSends: true });
	const swaps = await Promise.all([startSwap(), startSwap()]);
	const own = await Promise.all(swaps.map(({ swap }) => journalledFill(swap.swapId)));
	worker.kill("SIGKILL");
	await worker.exited();
	await solana.admin.setFaults({});

	const rivals = await Promise.all(
		swaps.map(({ order }) => signRivalPayout(solana, { order, amount: order.minOutput })),
	);
	const pairs = own.map((payout, i) => [payout, rivals[i]] as const);
	for (const [i, [payout, rival]] of pairs.entries()) {
		if (!rival) throw new Error("each has a rival");
		expect(rival.signature).not.toBe(payout.signature);
		for (const { wire } of i === 0 ? [payout, rival] : [rival, payout]) await send(wire);
	}
	const outcomes = await Promise.all(
		pairs.map(([payout, rival]) => landed([payout.signature, rival?.signature ?? payout.signature])),
	);
	expect(outcomes).toEqual([
		["paid", "failed"],
		["failed", "paid"],
	]);
	await worker.start();

	for (const [i, { swap, plan, account, signed, order }] of swaps.entries()) {
		const [payout, rival] = pairs[i] ?? [];
		const settled = await waitForSwap(client, swap.swapId);
		expect(settled).toMatchObject({
			status: "settled",
			deliveryTxHash: (i === 0 ? payout : rival)?.signature,
		});
		if (i === 1) expect(settled.funds.amount).toBe(String(order.minOutput));
		expect(fromSolanaWord(order.recipient)).toBe(plan.recipient);
		ended.push({ ...plan, account, signed, swap: settled });
	}
});

const sendIsHeld = { delayAnswersMs: { ms: 30_000, methods: ["sendTransaction"] } };

type Kill = {
	when: string;
	faults: SolanaFaults;
	/** Of the mix: those whose transaction is looked for. */
	plans: number[];
	kind: "open" | "fill";
	isReached: (transaction: JournalledTransaction) => Promise<boolean>;
};

const kills: Kill[] = [
	{
		when: "between sign and send of a payout",
		faults: { ...sendIsHeld, dropSends: true },
		plans: [0, 7],
		kind: "fill",
		isReached: async ({ state }) => state === "signed",
	},
	{
		when: "between sign and send of a deposit",
		faults: { ...sendIsHeld, dropSends: true },
		plans: [1, 4],
		kind: "open",
		isReached: async ({ state }) => state === "signed",
	},
	{
		when: "between send and confirm, of which no answer came yet",
		faults: { ...sendIsHeld, lieAboutStatus: "unknown" },
		plans: [0, 2],
		kind: "fill",
		isReached: isPaid,
	},
	{
		when: "between send and confirm, of which the answer was lost",
		faults: { dropAnswers: { methods: ["sendTransaction"] }, lieAboutStatus: "unknown" },
		plans: [7, 2],
		kind: "fill",
		isReached: isPaid,
	},
	{
		when: "between send and a landing that comes without it",
		faults: { delaySendMs: 3_000 },
		plans: [0, 5],
		kind: "fill",
		isReached: async (transaction) => transaction.state === "broadcast" && !(await isPaid(transaction)),
	},
];

test("a worker that is killed between sign and send, or between send and confirm, pays each swap once", async () => {
	const { solana, stack } = environment;
	const { worker } = stack.processes;
	const swapping: Promise<EndedAnyPlan>[] = [];
	for (const { when, faults, plans, kind, isReached } of Array(rounds).fill(kills).flat()) {
		const before = new Set((await solanaJournal(database, { kind })).map(({ signature }) => signature));
		await solana.admin.setFaults(faults);
		for (const n of plans) {
			swapping.push(newWalletSwapsThrough(environment, client, await planSolanaSwap(environment, n)));
		}
		const isOneReached = async () => {
			const journal = await solanaJournal(database, { kind });
			const reached = journal.filter(({ signature }) => !before.has(signature)).map(isReached);
			return (await Promise.all(reached)).includes(true);
		};
		await expect.poll(isOneReached, { message: when, timeout: reachedWithinMs, interval: 50 }).toBe(true);
		worker.kill("SIGKILL");
		await worker.exited();
		await solana.admin.setFaults({});
		await worker.start();
	}
	const swaps = await Promise.all(swapping);
	expect(swaps.filter(({ swap }) => swap.status !== "settled").map(({ swap }) => swap)).toEqual([]);
	ended.push(...swaps);
});

test("a node that denies a payout until its blockhash is dead has it paid once all the same", async () => {
	const { solana } = environment;
	const { swap, ...started } = await startSwap();
	await solana.admin.setFaults({ lieAboutStatus: "unknown" });
	const { orderId, signature } = await journalledFill(swap.swapId);
	await expect
		.poll(() => solanaMarker(solana, { side: "vault", orderId }), { timeout: reachedWithinMs })
		.toBe("vault");
	await solana.admin.warp({ slots: 200 });
	// The job was given up, and the order is found to be paid.
	await expect
		.poll(async () => (await solanaJournal(database, { kind: "fill", swapId: swap.swapId })).at(-1)?.state, {
			timeout: reachedWithinMs,
		})
		.not.toBe("signed");
	await solana.admin.setFaults({});
	const settled = await waitForSwap(client, swap.swapId);
	expect(settled).toMatchObject({ status: "settled", deliveryTxHash: signature });
	ended.push({ ...started.plan, ...started, swap: settled });
});

test("after all of them each recipient has what it was promised once, and the books agree with the chains to the unit", async () => {
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, ended);
});

/** From an EVM chain to an account on Solana that is not there yet. */
async function startSwap() {
	const { origin, solana, deployment: pins } = environment;
	const amount = parseUnits("100", 6);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const plan = {
		from: { chain: origin, token: "USDC", amount },
		to: { chain: solana, token: "USDC" },
		recipient: (await generateKeyPairSigner()).address,
	};
	const caller = { client, pins, account };
	const signed = await signSwap(caller, swapIntent({ ...plan, account }));
	const order = orderSchema.parse(signed.build.geoOp.order);
	return { plan, account, signed, order, swap: await submitSigned(caller, signed) };
}

async function journalledFill(swapId: string): Promise<JournalledTransaction> {
	for (const deadline = Date.now() + reachedWithinMs; ; ) {
		const [first] = await solanaJournal(database, { kind: "fill", swapId });
		if (first) return first;
		expect(Date.now()).toBeLessThan(deadline);
	}
}

async function send(wire: Base64EncodedWireTransaction): Promise<void> {
	const { rpc } = environment.solana;
	await rpc.sendTransaction(wire, { encoding: "base64", skipPreflight: true, maxRetries: 0n }).send();
}

/** What became of transactions, once all of them are on the chain. */
async function landed(signatures: Signature[]): Promise<string[]> {
	const { rpc } = environment.solana;
	for (const deadline = Date.now() + reachedWithinMs; ; ) {
		const { value } = await rpc.getSignatureStatuses(signatures).send();
		const isSeen = value.every((status) => status && status.confirmationStatus !== "processed");
		if (isSeen) return value.map((status) => (status?.err === null ? "paid" : "failed"));
		expect(Date.now()).toBeLessThan(deadline);
	}
}

async function isPaid({ orderId }: { orderId: string }): Promise<boolean> {
	return (await solanaMarker(environment.solana, { side: "vault", orderId })) === "vault";
}
