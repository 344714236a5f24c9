import { type Order, orderId } from "@geoswap/protocol";
import type { Hex } from "viem";

const known = new WeakMap<Order, Hex>();

/** Returns an order's ID, computed once per object: hashing is most of a block's cost. */
export function knownOrderId(order: Order): Hex {
	let id = known.get(order);
	if (id === undefined) {
		id = orderId(order);
		known.set(order, id);
	}
	return id;
}
