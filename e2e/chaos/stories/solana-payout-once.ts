import { deriveSolanaDevnetKeys, type SolanaFaults } from "@geoswap/devnet";
import { fromSolanaWord, fromSwapId, orderSchema } from "@geoswap/protocol";
import { type Client, waitForSwap } from "@geoswap/sdk";
import {
	type Base64EncodedWireTransaction,
	createKeyPairSignerFromBytes,
	generateKeyPairSigner,
	type KeyPairSigner,
	type Signature,
} from "@solana/kit";
import { parseUnits } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { signSwap, submitSigned, swapIntent } from "../../caller/do-swap.ts";
import { countStatuses, type EndedAnyPlan, planSolanaSwap } from "../../caller/mixed-swaps.ts";
import { newWalletSwapsThrough } from "../../caller/swap-through.ts";
import { connectDatabase, type DatabaseConnection } from "../../environment/connect-database.ts";
import type { OwnEnvironment } from "../../environment/environment.ts";
import { expectBooksExact } from "../../expect/expect-books-exact.ts";
import { expectExact } from "../../expect/expect-exact.ts";
import { type JournalledTransaction, solanaJournal } from "../../expect/solana-journal.ts";
import { isFilled, programState } from "../../solana/program-state.ts";
import { signRivalPayout } from "../../trouble/sign-rival-payout.ts";

const isFull = Boolean(process.env.GEOSWAP_FULL);

/** Time for a deposit and its consequences, on a busy machine. */
const reachedWithinMs = 60_000;
const decidedWithinMs = 120_000;

let environment: OwnEnvironment;
let client: Client;
let database: DatabaseConnection;

const untold = ["sendTransaction", "getSignatureStatuses"];

type Kill = {
	when: string;
	faults: SolanaFaults;
	/** Indexes in the mix of a swap to Solana, whose payout is awaited, and of one from it. */
	plans: number[];
	isReached: (payout: JournalledTransaction) => Promise<boolean>;
};

const kills: Kill[] = [
	{
		when: "between sign and send",
		faults: { dropSends: true, delayAnswersMs: { ms: 30_000, methods: ["sendTransaction"] } },
		plans: [0, 1],
		isReached: async ({ state }) => state === "signed",
	},
	{
		when: "after the send, before an answer",
		faults: { delayAnswersMs: { ms: 30_000, methods: untold } },
		plans: [2, 3],
		isReached: isPaid,
	},
	{
		when: "after the send, with answers lost",
		faults: { dropAnswers: { methods: untold } },
		plans: [7, 4],
		isReached: isPaid,
	},
	{
		when: "after the send, before it lands",
		faults: { delaySendMs: 3_000 },
		plans: [0, 6],
		isReached: async (payout) => payout.state === "broadcast" && !(await isPaid(payout)),
	},
];

// Outside a full run only the first and the worst run, since the simulator kills at every step.
const landingKills = kills.filter(({ when }) => /between sign and send|answers lost/.test(when));
const toShow = isFull ? Array.from({ length: 10 }, () => kills).flat() : landingKills;

/** Starts a swap from an EVM chain to a token account on Solana that does not exist yet. */
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

async function ownFeePayer(): Promise<KeyPairSigner> {
	const [, second = new Uint8Array()] = deriveSolanaDevnetKeys().feePayers;
	return createKeyPairSignerFromBytes(second);
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

/** Returns the outcome of each transaction, once all of them are on the chain. */
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
	return isFilled(await programState(environment.solana, orderId));
}

/** A payout on Solana is sent, killed or denied at every step. Adds its swaps to those that ended on the stack. */
export function solanaPayoutOnce(environmentOf: () => OwnEnvironment, ended: EndedAnyPlan[]): void {
	beforeAll(async () => {
		environment = environmentOf();
		[client, database] = await Promise.all([
			environment.newClient(),
			connectDatabase(environment.databaseUrl),
		]);
	});

	afterEach(() => environment.solana.admin.setFaults({}));

	afterAll(() => database.end());

	test("if two signed payouts of one order are sent concurrently, only one lands, and the swap settles with it", async () => {
		const { solana, stack } = environment;
		const { worker } = stack.processes;
		await solana.admin.setFaults({ dropSends: true });
		const swaps = await Promise.all([startSwap(), startSwap()]);
		const own = await Promise.all(swaps.map(({ swap }) => journalledFill(swap.swapId)));
		worker.kill("SIGKILL");
		await worker.exited();
		await solana.admin.setFaults({});

		// The first rival comes after the service's own payout, the second before it. The winner's fee is paid by a fee payer
		// of the service, as usual. A rival that fails is not in the books, nor is its fee.
		const bids = [
			{ feePayer: await solana.newWallet({ lamports: 1_000_000_000n }), computePrice: 0n },
			{ feePayer: await ownFeePayer(), computePrice: 1_000_000n },
		] as const;
		const rivals = await Promise.all(
			swaps.map(({ order }, i) =>
				signRivalPayout(solana, { order, amount: order.minOutput, ...(bids[i] ?? bids[0]) }),
			),
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
			if (i === 1) expect(settled.funds.amount).toBe(order.minOutput);
			expect(fromSolanaWord(order.recipient)).toBe(plan.recipient);
			ended.push({ ...plan, account, signed, swap: settled });
		}
	});

	test.for(toShow)(
		"a worker that is killed $when pays each swap once",
		async ({ faults, plans, isReached }) => {
			const { solana, stack } = environment;
			const { worker } = stack.processes;
			const known = (await solanaJournal(database, { kind: "fill" })).map(({ signature }) => signature);
			await solana.admin.setFaults(faults);
			const planned = await Promise.all(plans.map((n) => planSolanaSwap(environment, n)));
			const swapping = planned.map((plan) => newWalletSwapsThrough(environment, client, plan));
			const isOneReached = async () => {
				const payouts = (await solanaJournal(database, { kind: "fill" })).filter(
					({ signature }) => !known.includes(signature),
				);
				return (await Promise.all(payouts.map(isReached))).includes(true);
			};
			await expect.poll(isOneReached, { timeout: reachedWithinMs, interval: 50 }).toBe(true);
			worker.kill("SIGKILL");
			await worker.exited();
			await solana.admin.setFaults({});
			await worker.start();
			const swaps = await Promise.all(swapping);
			ended.push(...swaps);
			// A swap that had no time to deposit keeps its tokens, which is checked below.
			expect(swaps[0]).toMatchObject({ swap: { status: "settled" } });
			expect(countStatuses(swaps).refunded).toBe(0);
		},
	);

	test("a payout that the node reports as missing until its blockhash has expired is not paid again", async () => {
		const { solana } = environment;
		await solana.admin.setFaults({ dropSends: true });
		const { swap, ...started } = await startSwap();
		const { orderId, signature } = await journalledFill(swap.swapId);
		await solana.admin.setFaults({ lieAboutStatus: { signatures: [signature] } });
		await expect.poll(() => isPaid({ orderId }), { timeout: reachedWithinMs }).toBe(true);
		await solana.admin.warp({ slots: 200 });
		// The service considers the payout lost.
		const job = () =>
			database.query("select state from jobs where swap_id = $1 and kind = 'fill'", [
				fromSwapId(swap.swapId),
			]);
		await expect.poll(job, { timeout: reachedWithinMs, interval: 50 }).toEqual([{ state: "queued" }]);
		await solana.admin.setFaults({});
		const settled = await waitForSwap(client, swap.swapId);
		expect(settled).toMatchObject({ status: "settled", deliveryTxHash: signature });
		ended.push({ ...started.plan, ...started, swap: settled });
	});

	test("after all these swaps each recipient was paid once as promised, and the books match the chains to the unit", async () => {
		await expectBooksExact(environment, { withinMs: decidedWithinMs });
		await expectExact(environment, ended);
	});
}
