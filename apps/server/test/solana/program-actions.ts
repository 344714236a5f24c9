import type { TestSolana } from "@geoswap/devnet";
import {
	type AttesterSet,
	decideOrders,
	fillOrder,
	fundOrder,
	type Order,
	openOrder,
	orderId,
	payOrder,
	prepareOrder,
	toSolanaWord,
	voidOrder,
} from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, type Instruction, type KeyPairSigner } from "@solana/kit";
import type { Hex } from "viem";
import type { SolanaActions } from "./solana-actions.ts";

/** Creates actions on orders of the program on a test Solana. Each lands in its own transaction. */
export async function programActions(solana: TestSolana, on: SolanaActions) {
	const { program: deployment } = solana.deployment;
	const { address: program, vault, attesterSet } = deployment;
	const operator = await createKeyPairSignerFromBytes(solana.keys.operator);
	const [wallet] = on.wallets as [KeyPairSigner];
	const land = async (...instructions: Instruction[]): Promise<Hex> => on.land(await on.sign(instructions));

	return {
		deployment,
		operator,
		/** Returns the order with its output in the program's vault. */
		toProgram: (order: Order): Order => ({ ...order, destinationVault: toSolanaWord(vault) }),
		/** Returns the order with its input in the program. */
		fromProgram: (order: Order): Order => ({
			...order,
			escrow: toSolanaWord(program),
			originVault: toSolanaWord(vault),
			attesterSet: attesterSet.hash,
		}),
		open: async (order: Order): Promise<Hex> =>
			land(
				await prepareOrder(program, order, on.feePayer),
				await fundOrder(program, order, { wallet, decimals: 6 }),
				await openOrder(program, order),
			),
		fill: async (order: Order, amount: bigint): Promise<Hex> =>
			land(await fillOrder(program, order, { operator, amount })),
		void: async (order: Order): Promise<Hex> => land(await voidOrder(program, order, operator)),
		/** Releases an order by these attesters' signatures, and pays its vault. */
		release: async (order: Order, signatures: Hex[], set: AttesterSet = attesterSet): Promise<Hex> =>
			land(
				await decideOrders(program, "Release", { orderIds: [orderId(order)], set, signatures }),
				await payOrder(program, order, { to: "vault" }),
			),
	};
}
