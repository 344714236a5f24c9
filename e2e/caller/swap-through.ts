import { setTimeout as sleep } from "node:timers/promises";
import type { SubmitResponse } from "@geoswap/protocol";
import { type Client, type EndedSwap, GeoswapError, waitForSwap } from "@geoswap/sdk";
import { isSolanaChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { type SolanaCaller, signSolanaSwap, submitSignedSolana } from "./do-solana-swap.ts";
import { type SignedSwap, type SwapCaller, signSwap, submitSigned, swapIntent } from "./do-swap.ts";
import type { AnyPlan, EndedAnyPlan } from "./mixed-swaps.ts";

const pauseMs = 500;
/** More than the sum of the outages here, even on a busy machine. A request still refused then has another reason. */
const patienceMs = 180_000;

/** A swap from any chain. */
export type TimedSwap = EndedAnyPlan & Pick<Done<unknown>, "decidedMs">;

type Done<Signed> = {
	signed: Signed;
	swap: EndedSwap;
	/** Time from the submit to the final answer for the swap. */
	decidedMs: number;
};

/** Does a whole swap through any outage, as a persistent agent does. */
export async function swapThrough<Plan extends AnyPlan>(
	caller: SwapCaller,
	plan: Plan,
): Promise<Plan & { account: SwapCaller["account"] } & Done<SignedSwap>> {
	const { client, account } = caller;
	const { from, to, recipient } = plan;
	const intent = swapIntent({ from, to, recipient, account });
	const done = await throughOutages(client, {
		sign: () => signSwap(caller, intent),
		submit: (signed) => submitSigned(caller, signed),
	});
	return { ...plan, account, ...done };
}

/** Does the same from Solana. */
async function solanaSwapThrough(caller: SolanaCaller, plan: AnyPlan): Promise<TimedSwap> {
	const { client, account } = caller;
	const { from, to, recipient } = plan;
	const intent = swapIntent({ from, to, recipient, account });
	const done = await throughOutages(client, {
		sign: () => signSolanaSwap(caller, intent),
		submit: (signed) => submitSignedSolana(caller, signed),
	});
	return { ...plan, account, ...done };
}

/** Does the same from a chain of any kind, with a new wallet that holds the input and nothing else. */
export async function newWalletSwapsThrough(
	environment: Environment,
	client: Client,
	plan: AnyPlan,
): Promise<TimedSwap> {
	const { deployment: pins, solana } = environment;
	const { chain, token, amount } = plan.from;
	if (!isSolanaChain(chain)) {
		const account = await environment.newWallet({ chain, token, amount });
		return swapThrough({ client, pins, account }, plan);
	}
	const holding = token === "SOL" ? { lamports: amount } : { [token.toLowerCase()]: amount };
	const account = await solana.newWallet(holding);
	return solanaSwapThrough({ client, pins, account }, plan);
}

/** Signs and submits until the swap is done. Repeats only if nothing can have been executed. */
async function throughOutages<Signed>(
	client: Client,
	{ sign, submit }: { sign: () => Promise<Signed>; submit: (signed: Signed) => Promise<SubmitResponse> },
): Promise<Done<Signed>> {
	for (const deadline = performance.now() + patienceMs; ; await sleep(pauseMs)) {
		let signed: Signed;
		try {
			signed = await sign();
		} catch (error) {
			// Nothing is submitted yet, so the caller can begin again if there is no answer.
			if (!isAskedAgain(error) && !isToRequote(error)) throw error;
			if (performance.now() > deadline) throw error;
			continue;
		}
		const submittedAt = performance.now();
		try {
			const { swapId } = await untilAnswered(() => submit(signed), deadline);
			const swap = await waitForSwap(client, swapId);
			return { signed, swap, decidedMs: performance.now() - submittedAt };
		} catch (error) {
			// The service reports that nothing was executed. Without that report, a new quote could be a second swap.
			if (!isToRequote(error) || performance.now() > deadline) throw error;
		}
	}
}

/**
 * Sends the same again after the client's own retries, because outages may follow each other, and only an answer
 * decides.
 */
export async function untilAnswered<Answer>(send: () => Promise<Answer>, deadline: number): Promise<Answer> {
	for (;;) {
		try {
			return await send();
		} catch (error) {
			if (!isAskedAgain(error) || performance.now() > deadline) throw error;
		}
	}
}

function isAskedAgain(error: unknown): boolean {
	if (!(error instanceof GeoswapError)) return false;
	// An API that has just started has no prices yet.
	const isPaused = error.code === "NO_ROUTE" && error.details?.reason === "paused";
	return isPaused || error.next === "retry";
}

function isToRequote(error: unknown): boolean {
	return error instanceof GeoswapError && error.next === "requote";
}
