import {
	fromWord,
	geoEscrowAbi,
	isSolana,
	isWithinSolana,
	type Order,
	orderId,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Payout } from "../policy/judgement.ts";
import type { EvmNode } from "../read/evm-node.ts";
import { readOrderAccount, type SolanaNode } from "../read/solana-node.ts";
import { shortMessage } from "./create-closings.ts";
import type { WorthE18 } from "./create-feed-prices.ts";

/** Whether a deposit covers a payout. */
type Proof = { isProven: true } | { isProven: false; why: string };

export type Proofs = (payout: Payout) => Promise<Proof>;

/** The escrow's states of an order whose input it has, or has paid to the service's vault. */
const paidStates: readonly number[] = [1, 2];
const bps = 10_000n;

/**
 * Creates the check of payouts against deposits, which are read from the signer's own nodes. A payout that cannot be
 * checked is not proven, and counts against a separate cap.
 */
export function createProofs({
	chains,
	solana,
	worthE18,
	marginBps,
	nowMs,
}: {
	chains: ReadonlyMap<number, EvmNode>;
	solana: SolanaNode | undefined;
	worthE18: WorthE18;
	/** How much more than its deposit a payout may be worth. */
	marginBps: number;
	nowMs: () => number;
}): Proofs {
	return async (payout) => {
		try {
			return await proveFill(payout);
		} catch (error) {
			return unproven(`a chain does not answer the signer: ${shortMessage(error)}`);
		}
	};

	async function proveFill({ order, ...payout }: Payout): Promise<Proof> {
		const { fillDeadline } = unpackDeadlines(order.deadlines);
		// Both vaults also check the time themselves.
		if (nowMs() >= Number(fillDeadline) * 1_000) return unproven("the order can no longer be filled in time");
		const missing = isSolana(order.originChainId) ? await missingOnSolana(order) : await missingOnEvm(order);
		if (missing !== undefined) return unproven(missing);
		// The same token needs no price.
		const isSame =
			order.originChainId === order.destinationChainId && order.inputToken === wordOf(payout.token);
		if (isSame && !payout.beside) return within(payout.amount, order.inputAmount);
		const [input, ...paid] = await Promise.all([
			worthE18({ chainId: order.originChainId, token: order.inputToken, amount: order.inputAmount }),
			...[payout, ...(payout.beside ? [payout.beside] : [])].map(({ token, amount }) =>
				worthE18({ chainId: order.destinationChainId, token: wordOf(token), amount }),
			),
		]);
		const unpriced = "no feed prices the input and what is paid";
		if (input === undefined) return unproven(unpriced);
		let sum = 0n;
		for (const worth of paid) {
			if (worth === undefined) return unproven(unpriced);
			sum += worth;
		}
		return within(sum, input);
	}

	/** Compares values. An order can be opened with any minimum, so only its input decides how much may be paid. */
	function within(paid: bigint, input: bigint): Proof {
		const isWithin = paid * bps <= input * (bps + BigInt(marginBps));
		return isWithin ? { isProven: true } : unproven("the payout is worth more than the deposit");
	}

	async function missingOnEvm(order: Order): Promise<string | undefined> {
		const chain = chains.get(Number(order.originChainId));
		if (!chain) return `the signer has no node of chain ${order.originChainId}`;
		const state = await chain.client.readContract({
			abi: geoEscrowAbi,
			address: fromWord(order.escrow),
			functionName: "orderState",
			args: [orderId(order)],
		});
		return paidStates.includes(state) ? undefined : `the order is not open on chain ${order.originChainId}`;
	}

	/** Returns why the program does not have the order's input; undefined if it does. */
	async function missingOnSolana(order: Order): Promise<string | undefined> {
		// The fill itself takes the input. If the order is not open, the program refuses the fill.
		if (isWithinSolana(order)) return undefined;
		if (!solana) return "the signer has no node of Solana";
		// The account's address follows from the order's terms.
		const account = await readOrderAccount(solana, orderId(order));
		const isPaid = account?.state === "opened" || account?.state === "released";
		return isPaid ? undefined : "the order is not open at the newest final slot of Solana";
	}
}

function unproven(why: string): Proof {
	return { isProven: false, why };
}

function wordOf(token: Hex): Hex {
	return token.length === 66 ? token : toWord(token);
}
