import { programAccountSizes } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { RpcLog } from "./evm/rpc-block.ts";
import type { SimSwap } from "./sim-swap.ts";

/** Returns a provider's answer in place of the true one. */
export type Lie = (method: string, params: readonly unknown[], truth: unknown) => unknown;

/**
 * Value from which a second provider is certainly queried. It is well above the configured one, because prices move.
 */
const askedAboveUsdCents = 700_00;

/** The answer of an honest provider. */
export const honest: Lie = (_method, _params, truth) => truth;

/**
 * A provider that hides events, transactions and accounts, or misreports them. Which ones follows from their names, so
 * that it answers the same each time. No decision rests on this provider alone, since it is the second of two, or one
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
		if (method === "getMultipleAccounts") {
			const { context, value } = truth as { context: unknown; value: (RpcAccount | null)[] };
			return {
				context,
				value: value.map((account, i) =>
					misreported(account, { isHidden: isPicked((asked as string[])[i]) }),
				),
			};
		}
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

type RpcAccount = { data: [string, string] };

/** Hides the account of an order or a record, or gives another state to it. A record of a fill becomes voided. */
function misreported(account: RpcAccount | null, { isHidden }: { isHidden: boolean }): RpcAccount | null {
	if (!account) return account;
	const [text, encoding] = account.data;
	const data = Buffer.from(text, "base64");
	const { order, record } = programAccountSizes;
	if (encoding !== "base64" || (data.length !== order && data.length !== record)) return account;
	if (isHidden) return null;
	data[1] = data.length === record ? 3 - (data[1] ?? 1) : 0;
	return { ...account, data: [data.toString("base64"), encoding] };
}

/**
 * A chain's first provider, which returns wrong transactions for deposits, but only for orders that a second provider
 * checks. It neither invents nor hides deposits here. Below that value, the service would trust it and lose the value.
 * Above that value, nothing would be delivered, but the false deposit would stay in the books, and a swap would wait
 * for it until an operator steps in.
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

/** Returns true for half of all names. */
function isPicked(name: unknown): boolean {
	return String(name).charCodeAt(String(name).length - 1) % 2 === 0;
}
