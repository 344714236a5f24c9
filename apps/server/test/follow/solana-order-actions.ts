import { setTimeout as sleep } from "node:timers/promises";
import { deriveDevnetKeys } from "@geoswap/devnet";
import {
	attestationDigest,
	attestationMessage,
	closeOrder,
	closeRecord,
	type Decision,
	fromSwapKey,
	isWithinSolana,
	type Order,
	orderAddress,
	orderId,
	orderToJson,
	recordAddress,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Instruction, KeyPairSigner } from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { sign } from "viem/accounts";
import { signEnding, signSweep, signVoid } from "../../src/chain/solana/program/sign-ending.ts";
import { signFill } from "../../src/chain/solana/program/sign-fill.ts";
import { readBlockhash, readSlots } from "../../src/chain/solana/read/read-slots.ts";
import { readStatuses } from "../../src/chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import { type SignedTransaction, signInstructions } from "../../src/chain/solana/send/sign-instructions.ts";
import { coSignOrder } from "../../src/chain/solana/wallet/co-sign-order.ts";
import { raiseNonce } from "../../src/job/journal/lane-transactions.ts";
import type { JobKind } from "../../src/swap/facts/job.ts";
import { signedOpToJson } from "../../src/swap/record/swap-json.ts";
import { type SolanaScene, signSolanaOp } from "../lane/solana-lane-scene.ts";

export type Journalled = SignedTransaction & { nonce: number; lastValidHeight: number };

/** An account of the program that can be closed. */
export type Closing = { order: Order; account: "order" | "record" };

/** Creates actions on orders of a Solana chain, each by a transaction that is journalled as a lane would. */
export function solanaOrderActions(scene: SolanaScene) {
	const { chain, keys, pool } = scene;
	const { deployment, chainId } = chain;
	const { program } = deployment;
	const { operator } = keys;
	const [feePayer] = keys.feePayers as [KeyPairSigner];
	const relayer = toSolanaWord(feePayer.address);

	async function parts() {
		const { blockhash, lastValidBlockHeight } = await readBlockhash(chain);
		return {
			lastValidHeight: Number(lastValidBlockHeight),
			signing: { deployment, feePayer, blockhash, computePrice: 1_000n },
		};
	}

	/** Returns how an order is decided: by two attesters, or by the operator if both its sides are on Solana. */
	async function decisionOf(kind: "release" | "refund", order: Order): Promise<Decision> {
		if (isWithinSolana(order)) return { by: "operator" };
		const statement = kind === "release" ? "Release" : "Refund";
		const hash = attestationDigest(attestationMessage(statement, [order]));
		const attesters = deriveDevnetKeys().attesters.slice(0, 2);
		const signatures = await Promise.all(
			attesters.map((privateKey): Promise<Hex> => sign({ hash, privateKey, to: "hex" })),
		);
		return { by: "attesters", set: program.attesterSet, signatures };
	}

	async function journal(
		{ signature, raw }: SignedTransaction,
		{ kind, lastValidHeight, jobs }: { kind: string; lastValidHeight: number; jobs: object[] },
	): Promise<Journalled> {
		await raiseNonce(pool, { chainId, relayer }, 0);
		const { rows } = await pool.query<{ nonce: number }>(
			`with lane as (
				update lanes set next_nonce = next_nonce + 1 where chain_id = $1 and relayer = $2
				returning next_nonce - 1 as nonce
			)
			insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas,
				last_valid_height, state, sent_at_block)
			select $1, $2, nonce, 0, $3, $4, $5, $6, 0, $7, 'broadcast', 0 from lane
			returning nonce`,
			[
				chainId,
				hexToBytes(relayer),
				hexToBytes(signature),
				hexToBytes(raw),
				kind,
				JSON.stringify(jobs),
				lastValidHeight,
			],
		);
		return { signature, raw, nonce: Number(rows[0]?.nonce), lastValidHeight };
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
			const op = await signSolanaOp(scene, { order, wallet, feePayer: feePayer.address });
			const signed = await coSignOrder({ deployment, order, op, feePayerKey: feePayer });
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
			const signed = await signFill({ ...signing, operator, order, amount, createsAccount });
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
					? await signVoid({ ...signing, operator, order })
					: await signEnding({
							...signing,
							operator,
							order,
							to: kind === "release" ? "vault" : "wallet",
							decision: await decisionOf(kind, order),
							createsAccount,
						});
			return send(await journalJob(order, kind, signed, { lastValidHeight }));
		},

		/** Closes accounts of the program as the lane does. */
		async sweep(closings: readonly Closing[]): Promise<Journalled> {
			const { signing, lastValidHeight } = await parts();
			const accounts = closings.map(({ order, account }) => ({
				orderId: orderId(order),
				...(account === "order" && { payer: feePayer.address }),
			}));
			const signed = await signSweep({ ...signing, accounts });
			const jobs = await Promise.all(
				closings.map(async ({ order, account }) => {
					const addressOf = account === "order" ? orderAddress : recordAddress;
					return { account: toSolanaWord(await addressOf(program.address, orderId(order))) };
				}),
			);
			return send(await journal(signed, { kind: "close", lastValidHeight, jobs }));
		},

		/** Closes accounts of the program in a transaction that is not journalled. */
		async closeForgotten(closings: readonly Closing[], payer: KeyPairSigner = feePayer) {
			const instructions = closings.map(({ order, account }) =>
				account === "order"
					? closeOrder(program.address, orderId(order), feePayer.address)
					: closeRecord(program.address, orderId(order), program.vault),
			);
			return this.sendForgotten(await Promise.all(instructions), payer);
		},

		/** Sends a transaction that is not journalled. */
		async sendForgotten(
			instructions: readonly Instruction[],
			payer: KeyPairSigner = feePayer,
		): Promise<SignedTransaction> {
			const { signing } = await parts();
			const signed = await signInstructions({
				...signing,
				feePayer: payer,
				unitLimit: 100_000,
				instructions,
			});
			await sendRaw(chain, signed.raw);
			return signed;
		},

		/** Waits until everything that has landed by now is final. */
		async finalized(): Promise<void> {
			const { confirmed } = await readSlots(chain);
			const finalSlot = () => chain.rpc.getSlot({ commitment: "finalized" }).send();
			while (Number(await finalSlot()) < confirmed.slot) await sleep(40);
		},
	};
}
