import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fromSolanaWord, type Order, recordAddress, solanaChainId, voidOrder } from "@geoswap/protocol";
import type { Hex } from "viem";
import { expect, test } from "vitest";
import { createScene } from "./scene.ts";

const file = join(import.meta.dirname, "../../../packages/protocol/vectors/orders.json");
const numbers: ReadonlySet<string> = new Set<keyof Order>([
	"originChainId",
	"destinationChainId",
	"inputAmount",
	"minOutput",
	"topUp",
	"deadlines",
]);

/** Returns the vectors of orders that end on Solana, which the contracts and the protocol check too. */
function vectorsToSolana(): { name: string; order: Order; orderId: Hex }[] {
	const { orders } = JSON.parse(readFileSync(file, "utf8")) as {
		orders: { name: string; order: Record<string, Hex>; orderId: Hex }[];
	};
	return orders
		.map(({ name, order, orderId }) => ({
			name,
			orderId,
			order: Object.fromEntries(
				Object.entries(order).map(([field, word]) => [field, numbers.has(field) ? BigInt(word) : word]),
			) as Order,
		}))
		.filter(({ order }) => order.destinationChainId === BigInt(solanaChainId));
}

test("the program computes the ids that the contracts and the protocol compute", async () => {
	const vectors = vectorsToSolana();
	expect(vectors.length).toBeGreaterThan(1);
	for (const { name, order, orderId } of vectors) {
		const scene = await createScene();
		const vault = scene.svm.getAccount(scene.vault);
		scene.svm.setAccount({ ...vault, address: fromSolanaWord(order.destinationVault) } as never);
		const { error } = await scene.send([await voidOrder(scene.program, order, scene.operator)]);
		expect(error, name).toBeUndefined();
		const record = scene.svm.getAccount(await recordAddress(scene.program, orderId));
		expect(record.exists && record.data[1], name).toBe(2);
	}
});
