import type { TestChains } from "@geoswap/devnet";
import { type Hex, hexToBytes, keccak256, toHex } from "viem";
import type { DatabasePool } from "../../src/database/database.ts";
import {
	changeMove,
	type MoveChange,
	type MoveState,
	type NewMove,
	queueMove,
} from "../../src/money/move/treasury-moves.ts";
import { assetAddress } from "../order/order-actions.ts";
import type { treasurerActions } from "./treasurer-actions.ts";

/** Writes the rows of moves, and moves them on as the service does, with the transactions of `treasurerActions`. */
export function moveRows(
	pool: DatabasePool,
	{ chains, actions }: { chains: TestChains; actions: Awaited<ReturnType<typeof treasurerActions>> },
) {
	/** Queues a bridge of USDC, unless the terms are another move's. */
	async function queue(move: { moveId: Hex; amount: bigint } & Partial<NewMove>): Promise<string> {
		const id = await queueMove(pool, {
			kind: "bridge",
			chainId: chains.origin.chainId,
			holder: chains.origin.deployment.contracts.vault,
			token: assetAddress(chains.origin, "USDC"),
			address: actions.route,
			toChainId: chains.destination.chainId,
			toToken: assetAddress(chains.destination, "USDC"),
			minReceived: move.amount,
			nth: 0,
			data: { maxFee: "0", minFinalityThreshold: 2_000 },
			reason: "a test",
			dueAtMs: Date.now() + 3_600_000,
			...move,
		});
		if (!id) throw new Error("the move is not queued");
		return id;
	}

	async function change(id: string, from: MoveState, to: MoveState, set: MoveChange = {}): Promise<void> {
		if (!(await changeMove(pool, { id, from, to, set }))) throw new Error(`the move is not ${from}`);
	}

	return {
		queue,
		change,

		/** Burns for a queued bridge. */
		async burn(name: string, amount: bigint, minReceived = amount) {
			const moveId = moveIdOf(name);
			const id = await queue({ moveId, amount, minReceived });
			const { transactionHash, block } = await actions.bridge({ moveId, amount });
			const set = { transaction_hash: hexToBytes(transactionHash), moved_block: block };
			await change(id, "queued", "moved", set);
			return { id, transactionHash };
		},

		/** Mints for a bridge whose burn is final. */
		async arrive(id: string, transactionHash: Hex, received: bigint): Promise<void> {
			const { block, transactionHash: mint } = await actions.mint(transactionHash);
			const set = { received, arrived_block: block, arrived_transaction: hexToBytes(mint) };
			await change(id, "moved", "arrived", set);
		},
	};
}

/** Returns a move's id for a test. */
export function moveIdOf(name: string): Hex {
	return keccak256(toHex(name));
}
