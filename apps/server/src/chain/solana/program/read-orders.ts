import { decodeOrderAccount, type OrderAccount, orderAddress, type Wei } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../connect-solana.ts";
import { type ReadAt, readWholeAccounts } from "../read/read-whole-accounts.ts";

const ordersPerRequest = 100;

/** An order's account with all lamports that it holds. */
export type HeldOrder = OrderAccount & { lamports: Wei };

/** Reads the accounts of orders that began in the program; undefined for one that was not prepared or is closed. */
export async function readOrders(
	chain: SolanaChain,
	{ orderIds, ...at }: ReadAt & { orderIds: readonly Hex[] },
): Promise<(HeldOrder | undefined)[]> {
	const { program } = chain.deployment;
	const orders: (HeldOrder | undefined)[] = [];
	for (let i = 0; i < orderIds.length; i += ordersPerRequest) {
		const some = orderIds.slice(i, i + ordersPerRequest);
		const addresses = await Promise.all(some.map((orderId) => orderAddress(program.address, orderId)));
		for (const account of await readWholeAccounts(chain, addresses, at)) {
			const order = account?.program === program.address ? decodeOrderAccount(account.data) : undefined;
			orders.push(account && order && { ...order, lamports: account.lamports });
		}
	}
	return orders;
}
