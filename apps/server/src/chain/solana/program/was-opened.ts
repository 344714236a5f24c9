import { orderAddress } from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import type { Hex } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";
import { listSignatures } from "../read/read-landed.ts";
import { readSlots } from "../read/read-slots.ts";
import { earliestSlot } from "../read/read-unknown.ts";
import { readOrders } from "./read-orders.ts";

/** Transactions that are listed. An order that was opened and closed has at most four, unless strangers name it. */
const listed = 50;

/**
 * Returns whether an order was ever opened in the program. `untold` if its account is closed, and transactions that
 * name its address succeeded, which may be a stranger's, or cannot be listed.
 */
export async function wasOpened(
	chain: SolanaChain,
	{
		orderId,
		lastValidHeight,
	}: {
		orderId: Hex;
		/** The last height at which the order's transaction could land. */
		lastValidHeight: number;
	},
): Promise<"opened" | "never" | "untold"> {
	const [order] = await readOrders(chain, { orderIds: [orderId], commitment: "confirmed" });
	if (order) return order.state === "prepared" ? "never" : "opened";
	const { confirmed } = await readSlots(chain);
	const firstSlot = Number(await requestChain(chain.chainId, chain.rpc.getFirstAvailableBlock().send()));
	// The node may have pruned the transactions of an order that is closed.
	if (firstSlot > Math.max(0, earliestSlot({ lastValidHeight }, confirmed))) return "untold";
	const address = await orderAddress(chain.deployment.program.address, orderId);
	let before: Signature | undefined;
	for (let count = 0; count < listed; ) {
		const page = await listSignatures(chain, { address, commitment: "confirmed", before, limit: listed });
		if (page.some(({ isFailed }) => !isFailed)) return "untold";
		if (page.length === 0) return "never";
		count += page.length;
		before = page.at(-1)?.signature;
	}
	// Failed transactions of strangers may hide those that succeeded.
	return "untold";
}
