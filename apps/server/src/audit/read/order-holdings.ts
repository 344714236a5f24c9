import {
	accountRentLamports,
	fromSolanaWord,
	inputAddress,
	orderAddress,
	programAccountSizes,
	type SolanaAddress,
	solanaNativeToken,
} from "@geoswap/protocol";
import { getTokenDecoder, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { Hex } from "viem";
import type { AuditedSolana } from "./audited-solana.ts";
import type { AuditedSwap } from "./read-books.ts";

/** Accounts that a node returns per call. */
const accountsAtOnce = 100;

/** The inputs in the accounts of orders in the program. Each is read at a separate final slot. */
export type OrderHoldings = ReadonlyMap<Hex, { slot: number; amount: bigint }>;

/** Reads the holdings of the accounts of undecided orders, at final slots not before `minSlot`. */
export async function orderHoldings(
	{ rpc, chainId, deployment: { program } }: AuditedSolana,
	{ swaps, minSlot }: { swaps: readonly AuditedSwap[]; minSlot: number },
): Promise<OrderHoldings> {
	const open = swaps.filter(({ order, isEnded }) => !isEnded && order.originChainId === BigInt(chainId));
	const found = new Map<Hex, { slot: number; amount: bigint }>();
	for (let i = 0; i < open.length; i += accountsAtOnce) {
		const some = open.slice(i, i + accountsAtOnce);
		const addresses = await Promise.all(some.map(addressOf));
		const { context, value } = await rpc
			.getMultipleAccounts(addresses, {
				commitment: "finalized",
				encoding: "base64",
				minContextSlot: BigInt(minSlot),
			})
			.send();
		for (const [j, { orderId, order }] of some.entries()) {
			const account = value[j];
			found.set(orderId, {
				slot: Number(context.slot),
				amount: account ? amountIn(account, fromSolanaWord(order.inputToken)) : 0n,
			});
		}
	}
	return found;

	/** Returns where an order's input is. A token is in the order's token account, and SOL in the order's own account. */
	function addressOf({ order, orderId }: AuditedSwap): Promise<SolanaAddress> {
		const isNative = fromSolanaWord(order.inputToken) === solanaNativeToken;
		return (isNative ? orderAddress : inputAddress)(program.address, orderId);
	}

	function amountIn(
		account: { owner: string; lamports: bigint; data: readonly [string, string] },
		token: SolanaAddress,
	): bigint {
		if (token === solanaNativeToken) {
			const isOrder = account.owner === program.address;
			return isOrder ? account.lamports - accountRentLamports(programAccountSizes.order) : 0n;
		}
		if (account.owner !== TOKEN_PROGRAM_ADDRESS) return 0n;
		return getTokenDecoder().decode(Buffer.from(account.data[0], "base64")).amount;
	}
}
