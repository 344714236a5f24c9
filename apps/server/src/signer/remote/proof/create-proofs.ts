import {
	fromSolanaWord,
	fromWord,
	geoEscrowAbi,
	isSolana,
	markerSeed,
	type Order,
	orderId,
	solanaNativeToken,
	tokenAccountOf,
	toWord,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { EvmChain } from "../../../chain/evm/chain-client.ts";
import type { SolanaChain } from "../../../chain/solana/connect-solana.ts";
import { readStatuses } from "../../../chain/solana/read/read-statuses.ts";
import type { Payout } from "../policy/judgement.ts";
import { refuse } from "../policy/refusal.ts";
import type { KnownDeposit, SignerState } from "../state/open-signer-state.ts";
import type { WorthE18 } from "./create-feed-prices.ts";

/** The answer to whether a deposit covers a payout. */
type Proof = { isProven: true } | { isProven: false; why: string };

export type Proofs = (payout: Payout) => Promise<Proof>;

/** The escrow's states of an order whose input it has, or has paid to our vault. */
const paidStates: readonly number[] = [1, 2];
const bps = 10_000n;

/**
 * Creates the check of payouts against deposits. Deposits are read from the signer's own nodes, or are known because
 * this signer co-signed them. A payout that cannot be checked is not proven, and counts against a cap of its own.
 */
export function createProofs({
	chains,
	solana,
	worthE18,
	deposits,
	marginBps,
}: {
	chains: ReadonlyMap<number, EvmChain>;
	solana: SolanaChain | undefined;
	worthE18: WorthE18;
	deposits: Pick<SignerState, "depositsOf">;
	/** How much more than its deposit a payout may be worth. */
	marginBps: number;
}): Proofs {
	return async (payout) => {
		try {
			if (payout.refund) return await proveRefund(payout, payout.refund);
			if (payout.order) return await proveFill(payout, payout.order);
			return unproven("the message does not contain the order");
		} catch (error) {
			if ((error as Error).name === "Refusal") throw error;
			return unproven(`a chain does not answer the signer: ${shortMessage(error)}`);
		}
	};

	async function proveFill(payout: Payout, order: Order): Promise<Proof> {
		const missing = isSolana(order.originChainId) ? await missingOnSolana(order) : await missingOnEvm(order);
		if (missing !== undefined) return unproven(missing);
		// The same token needs no price.
		const isSame =
			order.originChainId === order.destinationChainId && order.inputToken === wordOf(payout.token);
		if (isSame) return within(payout.amount, order.inputAmount);
		const [input, paid] = await Promise.all([
			worthE18({ chainId: order.originChainId, token: order.inputToken, amount: order.inputAmount }),
			worthE18({ chainId: order.destinationChainId, token: wordOf(payout.token), amount: payout.amount }),
		]);
		if (input === undefined || paid === undefined)
			return unproven("no feed prices the input and what is paid");
		return within(paid, input);
	}

	/** Compares values. An order can be opened with any minimum, so that only its input says what may be paid. */
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

	async function missingOnSolana(order: Order): Promise<string | undefined> {
		const id = orderId(order);
		const wallet = fromSolanaWord(order.wallet);
		const mint = fromSolanaWord(order.inputToken);
		const mine = deposits
			.depositsOf(markerSeed(id))
			.filter(
				(one) =>
					one.orderId === id &&
					one.wallet === wallet &&
					one.mint === mint &&
					one.amount === order.inputAmount,
			);
		return missingDeposit(mine);
	}

	async function proveRefund(payout: Payout, refund: NonNullable<Payout["refund"]>): Promise<Proof> {
		const known = deposits.depositsOf(refund.seed);
		const mine: KnownDeposit[] = [];
		for (const one of known) {
			const account =
				one.mint === solanaNativeToken
					? one.wallet
					: await tokenAccountOf({ owner: one.wallet, token: one.mint });
			if (account === refund.destination && one.mint === refund.mint && one.amount === payout.amount)
				mine.push(one);
		}
		if (known.length > 0 && mine.length === 0)
			refuse("not-the-deposit", "the refund does not pay the deposit back to its wallet");
		const missing = await missingDeposit(mine);
		return missing === undefined ? { isProven: true } : unproven(missing);
	}

	/** Returns why none of these deposits is on the chain; undefined if one is. */
	async function missingDeposit(known: readonly KnownDeposit[]): Promise<string | undefined> {
		if (known.length === 0) return "this signer has co-signed no such deposit";
		if (!solana) return "the signer has no node of Solana";
		const signatures = known.flatMap(({ signature }) => (signature === undefined ? [] : [signature as Hex]));
		const statuses = await readStatuses(solana, signatures);
		const hasLanded = statuses.some((status) => status && !status.isFailed);
		return hasLanded ? undefined : "the deposit is not on Solana";
	}
}

function unproven(why: string): Proof {
	return { isProven: false, why };
}

function wordOf(token: Hex): Hex {
	return token.length === 66 ? token : toWord(token);
}

/** Only the first line: the rest of viem's messages contains the endpoint. */
function shortMessage(error: unknown): string {
	const { shortMessage: short, message } = error as { shortMessage?: string; message?: string };
	return (short ?? message ?? String(error)).split("\n")[0] ?? "";
}
