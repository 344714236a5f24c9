import { setTimeout as sleep } from "node:timers/promises";
import { fromSwapId, type SubmitResponse } from "@geoswap/protocol";
import { type Client, type EndedSwap, GeoswapError, waitForSwap } from "@geoswap/sdk";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect } from "vitest";
import { isSolanaChain } from "../chain/holding.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { signSolanaSwap, submitSignedSolana } from "./do-solana-swap.ts";
import { signSwap, submitSigned, swapIntent } from "./do-swap.ts";
import { type AnyPlan, type EndedAnyPlan, planMixedSwap } from "./mixed-swaps.ts";

export type Submitted = AnyPlan &
	Pick<EndedAnyPlan, "account" | "signed"> & {
		signed: { build: { geoOp: { orderId: string } } };
		/** Submits the same bytes again. */
		submit: () => Promise<SubmitResponse>;
		swapId: string;
		/** The reported outcome before anything was lost. */
		told?: EndedSwap["status"];
	};

const revertAlways = "0x5f5ffd";

/** Plans a swap to a contract that takes no ether, so the order is refunded without a delivery. */
export async function planRefusal({
	origin,
	destination,
}: Pick<Environment, "origin" | "destination">): Promise<AnyPlan> {
	const recipient = privateKeyToAddress(generatePrivateKey());
	await destination.testClient.setCode({ address: recipient, bytecode: revertAlways });
	return {
		from: { chain: origin, token: "USDC", amount: 100_000_000n },
		to: { chain: destination, token: "ETH" },
		recipient,
	};
}

/** Makes swaps that can be submitted again, each with a new wallet that holds only the input. */
export function createSubmitter(environment: Environment, client: Client) {
	let planned = 0;

	/** Submits one more swap. Without a plan, it is the next of the mix. */
	async function submitNext(given?: AnyPlan): Promise<Submitted> {
		const { deployment: pins } = environment;
		const plan = given ?? (await planMixedSwap(environment, planned++));
		const { chain, token, amount } = plan.from;
		const { from, to, recipient } = plan;
		if (isSolanaChain(chain)) {
			const holding = token === "SOL" ? { lamports: amount } : { [token.toLowerCase()]: amount };
			const caller = { client, pins, account: await environment.solana.newWallet(holding) };
			const intent = swapIntent({ from, to, recipient, account: caller.account });
			const signed = await signSolanaSwap(caller, intent);
			const submit = () => submitSignedSolana(caller, signed);
			return { ...plan, account: caller.account, signed, submit, ...(await submit()) };
		}
		const caller = { client, pins, account: await environment.newWallet({ chain, token, amount }) };
		const signed = await signSwap(caller, swapIntent({ from, to, recipient, account: caller.account }));
		const submit = () => submitSigned(caller, signed);
		return { ...plan, account: caller.account, signed, submit, ...(await submit()) };
	}

	return {
		submitNext,
		submitMany: (count: number): Promise<Submitted[]> =>
			Promise.all(Array.from({ length: count }, () => submitNext())),
	};
}

/** Submits a swap again, because until then a restored service has no row for it, and waits for its end. */
export async function askAgain(
	client: Client,
	swap: Submitted,
	{ withinMs }: { withinMs: number },
): Promise<EndedAnyPlan> {
	for (const deadline = Date.now() + withinMs; ; await sleep(2_000)) {
		try {
			const { swapId } = await swap.submit();
			expect(swapId).toBe(swap.swapId);
			return { ...swap, swap: await waitForSwap(client, swapId) };
		} catch (error) {
			if (!(error instanceof GeoswapError)) throw error;
			// A caller that gets this error may sign another op, so this one must never have been executed.
			if (error.code === "OP_EXPIRED") return { ...swap, swap: neverOpened(swap) };
			if (Date.now() > deadline) throw error;
		}
	}
}

function neverOpened({ swapId, signed }: Submitted): EndedSwap {
	return {
		swapId,
		status: "failed",
		orderId: signed.build.geoOp.orderId,
		funds: { amount: 0n },
	} as unknown as EndedSwap;
}

/** Returns as soon as one of the swaps is opened, before anything can have followed from that. */
export async function someDeposit(
	{ databaseUrl }: Pick<Environment, "databaseUrl">,
	swaps: readonly Submitted[],
): Promise<void> {
	const ids = swaps.map(({ swapId }) => fromSwapId(swapId));
	const database = await connectDatabase(databaseUrl);
	try {
		for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(20)) {
			const [opened] = await database.query(
				`select from chain_events e join swaps s on s.order_id = e.order_id
				where s.id = any($1) and e.name = 'Opened' limit 1`,
				[ids],
			);
			if (opened) return;
		}
	} finally {
		await database.end();
	}
	throw new Error("none of them was opened");
}
