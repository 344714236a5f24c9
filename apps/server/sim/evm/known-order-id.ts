import { type Order, orderId } from "@geoswap/protocol";
import type { Hex } from "viem";

const known = new WeakMap<Order, Hex>();

/** An order's id, computed once for each object: hashing is most of what a block costs. */
export function knownOrderId(order: Order): Hex {
	let id = known.get(order);
	if (id === undefined) {
		id = orderId(order);
		known.set(order, id);
	}
	return id;
}
