import { readFileSync } from "node:fs";
import type { Address, Hex } from "viem";
import type { Order } from "../src/order.ts";

export type Vectors = {
	attesterSet: { threshold: number; attesters: Address[]; hash: Hex };
	orders: { name: string; order: Order; orderId: Hex; digest: Hex }[];
	attestation: {
		originChainId: number;
		escrow: Address;
		orderIds: Hex[];
		releaseDigest: Hex;
		refundDigest: Hex;
	};
};

const numberFields = [
	"originChainId",
	"destinationChainId",
	"inputAmount",
	"minOutput",
	"topUp",
	"deadlines",
];

/** Reads the vectors, which the Solidity tests read too. */
export function readVectors(): Vectors {
	const file = JSON.parse(readFileSync(new URL("orders.json", import.meta.url), "utf8"));
	return {
		...file,
		orders: file.orders.map((vector: { order: Record<string, Hex> }) => ({
			...vector,
			order: Object.fromEntries(
				Object.entries(vector.order).map(([field, word]) => [
					field,
					numberFields.includes(field) ? BigInt(word) : word,
				]),
			),
		})),
	};
}

/** Returns an order, for tests that change one thing of it. */
export function anyOrder(): Order {
	const [first] = readVectors().orders;
	if (first === undefined) throw new Error("the vectors have orders");
	return first.order;
}
