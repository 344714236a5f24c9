import { decodeOrderAccount, type OrderAccount, orderAddress } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../connect-solana.ts";
import { type ReadAt, readWholeAccounts } from "../read/read-whole-accounts.ts";

const ordersPerRequest = 100;

/** Reads the accounts of orders that began in the program; undefined for one that was not prepared or is closed. */
export async function readOrders(
	chain: SolanaChain,
	{ orderIds, ...at }: ReadAt & { orderIds: readonly Hex[] },
): Promise<(OrderAccount | undefined)[]> {
	const { program } = chain.deployment;
	const orders: (OrderAccount | undefined)[] = [];
	for (let i = 0; i < orderIds.length; i += ordersPerRequest) {
		const some = orderIds.slice(i, i + ordersPerRequest);
		const addresses = await Promise.all(some.map((orderId) => orderAddress(program.address, orderId)));
		for (const account of await readWholeAccounts(chain, addresses, at)) {
			orders.push(account?.program === program.address ? decodeOrderAccount(account.data) : undefined);
		}
	}
	return orders;
}
