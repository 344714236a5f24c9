import type { Hex } from "viem";
import type { RpcLog } from "./evm/rpc-format.ts";
import type { SimSwap } from "./sim-swap.ts";

/** What a provider says in place of the truth. */
export type Lie = (method: string, params: readonly unknown[], truth: unknown) => unknown;

/** Well above what a second provider is asked for: prices move. */
const askedAboveUsdCents = 700_00;

/** Nothing but the truth. */
export const honest: Lie = (_method, _params, truth) => truth;

/**
 * A provider that keeps events and transactions from its answers, or tells of them what is not so. Which ones follows from
 * their names, so that it says the same each time. Nobody acts on its word alone: it is the second of two, or one
 * attester's own.
 */
export function hideDeposits(kind: "evm" | "solana"): Lie {
	if (kind === "evm") {
		return (method, _, truth) =>
			method === "eth_getLogs"
				? (truth as RpcLog[]).flatMap((log) => (isPicked(log.topics[1]) ? [] : [misplaced(log)]))
				: truth;
	}
	return (method, [asked], truth) => {
		if (method === "getSignatureStatuses") {
			const { context, value } = truth as { context: unknown; value: unknown[] };
			return { context, value: value.map((status, i) => (isPicked((asked as string[])[i]) ? null : status)) };
		}
		if (method !== "getTransaction" || !truth) return truth;
		if (isPicked(asked)) return null;
		const { meta, ...rest } = truth as { meta: object };
		return { ...rest, meta: { ...meta, err: "AccountNotFound" } };
	};
}

/**
 * The first provider of a chain names transactions for deposits that they are not in. Only for orders of which a second
 * one is asked. What it makes up altogether, or hides, is not told here: below that value it is believed and the value is
 * lost; above it nothing is delivered, but its word stays in the books, and a swap waits for a deposit that never was until
 * a person sees to it.
 */
export function misplaceDeposits(swaps: () => readonly SimSwap[]): Lie {
	return (method, _, truth) => {
		if (method !== "eth_getLogs") return truth;
		const asked = new Set(
			swaps().flatMap(({ plan, orderId }) =>
				plan.usdCents >= askedAboveUsdCents && orderId ? [orderId] : [],
			),
		);
		return (truth as RpcLog[]).map((log) => {
			const [, orderId] = log.topics;
			return orderId && asked.has(orderId) && isPicked(orderId) ? misplaced(log) : log;
		});
	};
}

function misplaced(log: RpcLog): RpcLog {
	const { transactionHash: hash } = log;
	return { ...log, transactionHash: `0x${hash.slice(4)}${hash.slice(2, 4)}` as Hex };
}

/** Half of all. */
function isPicked(name: unknown): boolean {
	return String(name).charCodeAt(String(name).length - 1) % 2 === 0;
}
