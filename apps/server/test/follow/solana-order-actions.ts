import { setTimeout as sleep } from "node:timers/promises";
import {
	fromSwapKey,
	type Order,
	orderId,
	orderToJson,
	type SolanaAddress,
	toSolanaWord,
} from "@geoswap/protocol";
import type { KeyPairSigner } from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { readBlockhash } from "../../src/chain/solana/read/read-blockhash.ts";
import { readSlots } from "../../src/chain/solana/read/read-slots.ts";
import { readStatuses } from "../../src/chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import { signClose } from "../../src/chain/solana/send/sign-close.ts";
import type { SignedTransaction } from "../../src/chain/solana/send/sign-instructions.ts";
import { signPayout } from "../../src/chain/solana/send/sign-payout.ts";
import { signRefund } from "../../src/chain/solana/send/sign-refund.ts";
import { signRelease } from "../../src/chain/solana/send/sign-release.ts";
import { signVoid } from "../../src/chain/solana/send/sign-void.ts";
import { coSignOrder } from "../../src/chain/solana/wallet/co-sign-order.ts";
import type { JobKind } from "../../src/swap/facts/job.ts";
import { signedOpToJson } from "../../src/swap/record/swap-json.ts";
import { type SolanaScene, signSolanaOp } from "../lane/solana-lane-scene.ts";

export type Journalled = SignedTransaction & { nonce: number; lastValidHeight: number };

/** Creates actions on orders of a Solana chain, each by a transaction that is journalled as a lane would. */
export function solanaOrderActions(scene: SolanaScene) {
	const { chain, keys, pool } = scene;
	const { deployment, chainId } = chain;
	const [feePayer] = keys.feePayers;
	if (!feePayer) throw new Error("the devnet has a fee payer");
	const relayer = toSolanaWord(feePayer.address);
	let nonces = 0;

	async function parts() {
		const { blockhash, lastValidBlockHeight } = await readBlockhash(chain);
		return {
			lastValidHeight: Number(lastValidBlockHeight),
			signing: { deployment, keys, feePayer: feePayer as KeyPairSigner, blockhash, computePrice: 1_000n },
		};
	}

	async function journal(
		{ signature, raw }: SignedTransaction,
		{ kind, lastValidHeight, jobs }: { kind: string; lastValidHeight: number; jobs: object[] },
	): Promise<Journalled> {
		const nonce = nonces++;
		await pool.query(
			`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas,
				last_valid_height, state, sent_at_block)
			values ($1, $2, $3, 0, $4, $5, $6, $7, 0, $8, 'broadcast', 0)`,
			[
				chainId,
				hexToBytes(relayer),
				nonce,
				hexToBytes(signature),
				hexToBytes(raw),
				kind,
				JSON.stringify(jobs),
				lastValidHeight,
			],
		);
		return { signature, raw, nonce, lastValidHeight };
	}

	async function journalJob(
		order: Order,
		kind: JobKind,
		signed: SignedTransaction,
		{ lastValidHeight, payload = {} }: { lastValidHeight: number; payload?: object },
	): Promise<Journalled> {
		const swapId = fromSwapKey(order.swapKey);
		const id = orderId(order);
		const jobs = [{ swapId, kind, orderId: id }];
		const journalled = await journal(signed, { kind, lastValidHeight, jobs });
		await pool.query(
			`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
			values ($1, $2, $3, 0, 0, '{}') on conflict do nothing`,
			[swapId, hexToBytes(id), orderToJson(order)],
		);
		await pool.query(
			`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, payload, state, priority, relayer, nonce)
			values ($1, $2, $3, $4, $5, $6, 'sent', 0, $7, $8)
			on conflict (swap_id, kind) do update set state = 'sent', relayer = excluded.relayer, nonce = excluded.nonce`,
			[
				swapId,
				kind,
				chainId,
				hexToBytes(id),
				orderToJson(order),
				payload,
				hexToBytes(relayer),
				journalled.nonce,
			],
		);
		return journalled;
	}

	async function send(journalled: Journalled): Promise<Journalled> {
		await sendRaw(chain, journalled.raw);
		return journalled;
	}

	async function landed({ signature }: { signature: Hex }): Promise<number> {
		while (true) {
			const [status] = await readStatuses(chain, [signature]);
			if (status) return status.slot;
			await sleep(10);
		}
	}

	return {
		relayer,
		landed,
		send,

		/** Returns a transaction that is journalled, and not sent yet. */
		async openBytes(order: Order, wallet: KeyPairSigner): Promise<Journalled> {
			const op = await signSolanaOp(scene, { order, wallet, feePayer: (feePayer as KeyPairSigner).address });
			const signed = await coSignOrder({ deployment, order, op, feePayerKey: feePayer as KeyPairSigner });
			return journalJob(order, "open", signed, {
				lastValidHeight: Number(op.lastValidBlockHeight),
				payload: { op: signedOpToJson(op) },
			});
		},

		async open(order: Order, wallet: KeyPairSigner): Promise<Journalled> {
			return send(await this.openBytes(order, wallet));
		},

		async fill(order: Order, amount: bigint, { createsAccount = false } = {}): Promise<Journalled> {
			const { signing, lastValidHeight } = await parts();
			const signed = await signPayout({ ...signing, order, amount, createsAccount });
			return send(await journalJob(order, "fill", signed, { lastValidHeight }));
		},

		async decide(
			kind: "void" | "release" | "refund",
			order: Order,
			{ createsAccount = false } = {},
		): Promise<Journalled> {
			const { signing, lastValidHeight } = await parts();
			const signed =
				kind === "void"
					? await signVoid({ ...signing, order })
					: kind === "release"
						? await signRelease({ ...signing, order })
						: await signRefund({ ...signing, order, createsAccount });
			return send(await journalJob(order, kind, signed, { lastValidHeight }));
		},

		async close(
			markers: readonly { address: SolanaAddress; owner: "vault" | "escrow" }[],
		): Promise<Journalled> {
			const { signing, lastValidHeight } = await parts();
			const jobs = markers.map(({ address }) => ({ marker: toSolanaWord(address) }));
			const signed = await signClose({ ...signing, markers });
			return send(await journal(signed, { kind: "close", lastValidHeight, jobs }));
		},

		/** Waits until everything that has landed by now is final. */
		async finalized(): Promise<void> {
			const { confirmed } = await readSlots(chain);
			while ((await readSlots(chain)).finalized.slot < confirmed.slot) await sleep(20);
		},
	};
}
