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
	toSolanaWord,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { EvmChain } from "../../../chain/evm/chain-client.ts";
import type { SolanaChain } from "../../../chain/solana/connect-solana.ts";
import { markerShare } from "../../../chain/solana/marker/marker-share.ts";
import { readLanded } from "../../../chain/solana/read/read-landed.ts";
import { readStatuses } from "../../../chain/solana/read/read-statuses.ts";
import type { Payout } from "../policy/judgement.ts";
import { refuse } from "../policy/refusal.ts";
import type { KnownDeposit, SignerState } from "../state/open-signer-state.ts";
import { type ReadClosing, shortMessage } from "./create-closings.ts";
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
	readClosing,
	marginBps,
	blockhashSeconds,
	markerSeconds,
	nowMs,
}: {
	chains: ReadonlyMap<number, EvmChain>;
	solana: SolanaChain | undefined;
	worthE18: WorthE18;
	deposits: Pick<SignerState, "depositsOf">;
	readClosing: ReadClosing;
	/** How much more than its deposit a payout may be worth. */
	marginBps: number;
	/** How long a payout on Solana can land after it was signed. */
	blockhashSeconds: number;
	/** The age from which a marker may be closed. */
	markerSeconds: number;
	nowMs: () => number;
}): Proofs {
	return async (payout) => {
		try {
			if (payout.refund) return await proveRefund(payout, { ...payout.refund, order: payout.order });
			if (payout.order) return await proveFill(payout, payout.order);
			return unproven("the message does not contain the order");
		} catch (error) {
			if ((error as Error).name === "Refusal") throw error;
			return unproven(`a chain does not answer the signer: ${shortMessage(error)}`);
		}
	};

	async function proveFill(payout: Payout, order: Order): Promise<Proof> {
		if (isLate(order)) return unproven("the order can no longer be filled in time");
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

	/**
	 * Returns whether a payout could land when the order must not be filled any more, and its input may soon be given back.
	 * A vault on an EVM chain compares the time itself.
	 */
	function isLate({ deadlines, destinationChainId }: Order): boolean {
		const landsUntil = nowMs() / 1_000 + (isSolana(destinationChainId) ? blockhashSeconds : 0);
		return landsUntil >= Number(unpackDeadlines(deadlines).fillDeadline);
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

	async function proveRefund(
		payout: Payout,
		{ order, ...refund }: NonNullable<Payout["refund"]> & { order: Order | undefined },
	): Promise<Proof> {
		if (order) expectOwnKeys(order);
		const known = deposits.depositsOf(refund.seed);
		const mine: KnownDeposit[] = [];
		for (const one of known) {
			const account =
				one.mint === solanaNativeToken
					? one.wallet
					: await tokenAccountOf({ owner: one.wallet, token: one.mint });
			// A seed is a part of an id: the ids of two orders can begin alike.
			const isOfOrder = !order || one.orderId === orderId(order);
			const isPaidBack = account === refund.destination && one.mint === refund.mint;
			if (isOfOrder && isPaidBack && one.amount === payout.amount) mine.push(one);
		}
		if (known.length > 0 && mine.length === 0)
			refuse("not-the-deposit", "the refund does not pay the deposit back to its wallet");
		const missing = (await missingDeposit(mine)) ?? (await whyDeliverable(order, refund));
		return missing === undefined ? { isProven: true } : unproven(missing);
	}

	/**
	 * Refuses a refund of an order that names other keys than the deployment's. After a change of keys the order's marker of
	 * before, which may show that it is decided, does not exclude the one that the refund would make.
	 */
	function expectOwnKeys({ escrow, destinationChainId, destinationVault }: Order): void {
		if (!solana) return;
		const { deployment } = solana;
		if (escrow !== toSolanaWord(deployment.escrow)) refuse("not-ours", "the order names another escrow");
		if (isSolana(destinationChainId) && destinationVault !== toSolanaWord(deployment.vault))
			refuse("not-ours", "the order names another vault");
	}

	/** Returns why an order whose input is given back may still be delivered; undefined if it never will be. */
	async function whyDeliverable(
		order: Order | undefined,
		{ seed, base }: NonNullable<Payout["refund"]>,
	): Promise<string | undefined> {
		if (!order) return "the message does not contain the order";
		const id = orderId(order);
		if (markerSeed(id) !== seed) refuse("not-the-deposit", "the refund is for another order");
		// Within Solana a payout and a refund make the same marker, the vault's. Only an earlier version voided such an order and
		// then refunded it with the escrow's marker, which does not exclude a refund or a payout with the vault's.
		if (isSolana(order.destinationChainId))
			return base === "vault" ? undefined : "the refund does not exclude another one within Solana";
		if (base === "vault") refuse("not-the-deposit", "the refund makes the marker of an order within Solana");
		const closing = await readClosing({
			orderId: id,
			chainId: Number(order.destinationChainId),
			vault: fromWord(order.destinationVault),
			fillDeadline: Number(unpackDeadlines(order.deadlines).fillDeadline),
		});
		return closing.isClosed ? undefined : closing.why;
	}

	/**
	 * Returns why none of these deposits proves anything; undefined if one does. An old one does not: the marker of its order
	 * may be closed, and a signer that lost its state co-signs a deposit again that landed long ago.
	 */
	async function missingDeposit(known: readonly KnownDeposit[]): Promise<string | undefined> {
		if (known.length === 0) return "this signer has co-signed no such deposit";
		if (!solana) return "the signer has no node of Solana";
		const signatures = known.flatMap(({ signature }) => (signature === undefined ? [] : [signature as Hex]));
		const statuses = await readStatuses(solana, signatures);
		const landed = signatures.filter((_, i) => statuses[i]?.isFailed === false);
		if (landed.length === 0) return "the deposit is not on Solana";
		const landedAfter = nowMs() / 1_000 - markerSeconds * markerShare;
		for (const signature of landed) {
			const timestamp = (await readLanded(solana, signature))?.timestamp;
			if (timestamp !== undefined && timestamp >= landedAfter) return undefined;
		}
		return "the deposit is so old that the marker of its order may be closed";
	}
}

function unproven(why: string): Proof {
	return { isProven: false, why };
}

function wordOf(token: Hex): Hex {
	return token.length === 66 ? token : toWord(token);
}
