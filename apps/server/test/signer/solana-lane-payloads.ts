import {
	fromSwapKey,
	type Order,
	orderId,
	orderToJson,
	solanaChainId,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { decodeWireTransaction } from "../../src/chain/solana/wallet/decode-wire-transaction.ts";
import type { Delivery } from "../../src/swap/facts/swap-record.ts";
import { queueWork } from "../lane/lane-scene.ts";
import {
	depositOrder,
	devnetWallet,
	newSolanaWallet,
	payoutOrder,
	rememberMarker,
	signSolanaOp,
} from "../lane/solana-lane-scene.ts";
import type { SolanaLanes } from "../lane/solana-lanes.ts";

/** The message of a transaction that a lane signed. */
export type SolanaPayload = { kind: string; message: Uint8Array };

export type RecordedSolanaLanes = {
	/** In the order in which they were signed. */
	payloads: SolanaPayload[];
	/** An order within Solana whose deposit landed, and that is undecided. */
	deposited: Order;
	/** An order within Solana that was paid. */
	swapped: Order;
};

/** Has the real lanes do work of every kind on a real chain. Returns every message that they signed. */
export async function recordSolanaLanes(lanes: SolanaLanes): Promise<RecordedSolanaLanes> {
	const { scene, pool, chain, pump, slots, feePayerOf } = lanes;
	const open = async (terms: Parameters<typeof depositOrder>[1] | Partial<Order> = {}): Promise<Order> => {
		const wallet = await devnetWallet(scene, 0);
		const order = depositOrder(scene, { ...terms, wallet: toSolanaWord(wallet.address) });
		const op = await signSolanaOp(scene, { order, wallet, feePayer: feePayerOf(0) });
		await queueWork(pool, order, { kind: "open", payload: { op } });
		await step();
		return order;
	};
	const step = async () => {
		await pump();
		await slots(3);
		await pump();
	};
	const within = {
		destinationChainId: BigInt(solanaChainId),
		destinationVault: toSolanaWord(chain.deployment.vault),
	};
	const usdc = toSolanaWord(chain.deployment.settlementToken);
	const [refunded, released] = [await open(), await open()];
	const recipient = toSolanaWord((await newSolanaWallet(scene)).address);
	const deposited = await open({ ...within, outputToken: usdc, recipient });
	const swapped = await open({ ...within, outputToken: usdc, recipient });
	const given = await open({ ...within, outputToken: usdc, recipient });
	await slots(40);
	await lanes.follow();
	await queueWork(pool, refunded, { kind: "refund", payload: { attested: false } });
	await queueWork(pool, given, { kind: "refund", payload: { attested: false } });
	await queueWork(pool, released, { kind: "release", payload: {} });
	await step();
	const paid: Delivery = { kind: "payout", amount: 9_950_000n, unusedRent: 300_000n };
	await queueWork(pool, swapped, { kind: "fill", payload: { delivery: paid } });
	const { order: closed } = await lanes.queuePayout();
	await lanes.queueVoid();
	const lamports = payoutOrder(scene, {
		recipient: toSolanaWord((await newSolanaWallet(scene)).address),
		outputToken: toSolanaWord(solanaNativeToken),
		minOutput: 1n,
	});
	await queueWork(pool, lamports, {
		kind: "fill",
		payload: { delivery: { kind: "payout", amount: 5_000_000n, unusedRent: 0n } },
	});
	await step();
	await slots(40);
	await step();
	const old = new Date(Date.now() - 90_000_000);
	await rememberMarker(scene, { order: closed, base: "vault", owner: "vault", madeAt: old });
	await pool.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, ended_at)
		values ($1, $2, $3, 1, 1, '{}', now()) on conflict (id) do update set ended_at = excluded.ended_at`,
		[fromSwapKey(closed.swapKey), hexToBytes(orderId(closed)), orderToJson(closed)],
	);
	await step();
	const rows = await lanes.transactions();
	return {
		deposited,
		swapped,
		payloads: rows.flatMap(({ kind, raw }) => {
			const wire = decodeWireTransaction(new Uint8Array(raw));
			return wire ? [{ kind, message: wire.message }] : [];
		}),
	};
}
