import {
	addressOfWord,
	formatAddress,
	fromSolanaWord,
	isSolana,
	type Milliseconds,
	type Order,
	solanaNativeToken,
	toChainId,
	unpackDeadlines,
} from "@geoswap/protocol";
import { AccountState, getTokenDecoder, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { Hex } from "viem";
import { type AuditedSolana, holdingOf } from "../read/audited-solana.ts";
import type { OrderHistory } from "../read/order-history.ts";
import type { AuditedSwap } from "../read/read-books.ts";
import type { Loss, Owed, Report } from "../read/report.ts";
import { type ExposedChain, isDepositLost } from "./check-exposure.ts";

/** The maximum number of accounts that a node returns per call. */
const accountsAtOnce = 100;

/** A wallet counts as blocking its refund until an hour after the last audit that found this. */
const letGoMs = 3_600_000;

/**
 * Finds due refunds that only the wallet, or the issuer of its token, blocks. On an EVM chain that is a credit that is
 * not claimed, on Solana a token account that the wallet gave away or that is frozen.
 */
export async function findOwed(
	solana: AuditedSolana | undefined,
	{
		swaps,
		histories,
		heldUpAtMs,
		nowMs,
	}: {
		swaps: readonly AuditedSwap[];
		histories: ReadonlyMap<Hex, OrderHistory>;
		/** The last time at which each order's refund was found blocked. Updated by this call. */
		heldUpAtMs: Map<Hex, number>;
		nowMs: Milliseconds;
	},
): Promise<Owed[]> {
	const late = swaps.filter(
		({ status, order }) =>
			status === "pending" && nowMs / 1_000 > Number(unpackDeadlines(order.deadlines).refundAfter),
	);
	const credited = late.filter(({ orderId }) => {
		const history = histories.get(orderId);
		return history?.refunded[0]?.paid === false && history.claimed.length === 0;
	});
	const unpaid = late.filter(({ order, orderId }) => {
		const { opened = [], released = [], refunded = [], filled = [] } = histories.get(orderId) ?? {};
		const isUndecided = opened.length > 0 && released.length + refunded.length + filled.length === 0;
		return (
			isUndecided && isSolana(order.originChainId) && fromSolanaWord(order.inputToken) !== solanaNativeToken
		);
	});
	const reasons = solana ? await accountProblems(solana, unpaid) : [];
	const heldUp = unpaid.flatMap((swap, i): Owed[] => {
		const why = reasons[i];
		if (why) heldUpAtMs.set(swap.orderId, nowMs);
		const isHeldUp = nowMs - (heldUpAtMs.get(swap.orderId) ?? Number.NEGATIVE_INFINITY) < letGoMs;
		return isHeldUp ? [owedOf(swap, why ?? "account-given-away")] : [];
	});
	const isLate = new Set(late.map(({ orderId }) => orderId));
	for (const orderId of heldUpAtMs.keys()) {
		if (!isLate.has(orderId)) heldUpAtMs.delete(orderId);
	}
	return [...credited.map((swap) => owedOf(swap, "credit-unclaimed")), ...heldUp];
}

/** Returns, for each swap, what prevents a payment to its wallet's token account. */
async function accountProblems(
	{ rpc }: AuditedSolana,
	swaps: readonly AuditedSwap[],
): Promise<(Owed["why"] | undefined)[]> {
	const problems: (Owed["why"] | undefined)[] = [];
	for (let from = 0; from < swaps.length; from += accountsAtOnce) {
		const some = swaps.slice(from, from + accountsAtOnce);
		const holdings = await Promise.all(some.map(({ order }) => holdingOf(order.wallet, order.inputToken)));
		const { value } = await rpc
			.getMultipleAccounts(
				holdings.map(({ address }) => address),
				{ commitment: "finalized", encoding: "base64" },
			)
			.send();
		problems.push(
			...some.map(({ order }, i) => {
				const account = value[i];
				// The refund creates an account that does not exist.
				if (account?.owner !== TOKEN_PROGRAM_ADDRESS) return undefined;
				const { owner, state } = getTokenDecoder().decode(Buffer.from(account.data[0], "base64"));
				if (owner !== fromSolanaWord(order.wallet)) return "account-given-away";
				return state === AccountState.Frozen ? "account-frozen" : undefined;
			}),
		);
	}
	return problems;
}

function owedOf({ id, orderId, order }: AuditedSwap, why: Owed["why"]): Owed {
	const write = (word: Hex) => formatAddress(order.originChainId, addressOfWord(order.originChainId, word));
	return {
		chainId: toChainId(order.originChainId),
		orderId,
		swapId: id,
		wallet: write(order.wallet),
		token: write(order.inputToken),
		amount: String(order.inputAmount),
		why,
	};
}

/** Returns the deliveries that will not be paid for. */
export function findLosses({
	chains,
	swaps,
	histories,
	nowMs,
}: {
	chains: readonly ExposedChain[];
	swaps: readonly AuditedSwap[];
	histories: ReadonlyMap<Hex, OrderHistory>;
	nowMs: Milliseconds;
}): Pick<Report, "losses" | "lostUsdCents"> {
	const byOrder = new Map(swaps.map((swap) => [swap.orderId, swap]));
	const losses: Loss[] = [];
	for (const history of histories.values()) {
		const swap = byOrder.get(history.orderId);
		const order = history.order ?? swap?.order;
		if (!order || history.filled.length === 0) continue;
		const chain = chains.find(({ chainId }) => BigInt(chainId) === order.originChainId);
		if (history.refunded.length > 0)
			losses.push(lossOf("delivered-and-refunded", history.orderId, order, swap));
		else if (chain && isDepositLost({ order, history, finalAt: chain.finalAt, nowMs })) {
			losses.push(lossOf("delivered-without-deposit", history.orderId, order, swap));
		}
	}
	const lostUsdCents: Record<string, string> = {};
	for (const { chainId, usdCents = "0" } of losses) {
		lostUsdCents[chainId] = String(BigInt(lostUsdCents[chainId] ?? 0) + BigInt(usdCents));
	}
	return { losses, lostUsdCents };
}

function lossOf(kind: Loss["kind"], orderId: Hex, order: Order, swap: AuditedSwap | undefined): Loss {
	return {
		chainId: toChainId(order.originChainId),
		orderId,
		kind,
		token: addressOfWord(order.originChainId, order.inputToken),
		amount: String(order.inputAmount),
		...(swap && { usdCents: String(swap.valueUsdCents) }),
	};
}
