import { fromSolanaWord } from "@geoswap/protocol";
import type { Hex } from "viem";
import { findCloseTransaction } from "../chain/solana/find-close-transaction.ts";
import { readBlockhash } from "../chain/solana/read-blockhash.ts";
import { readMarkers } from "../chain/solana/read-markers.ts";
import { signClose } from "../chain/solana/sign-close.ts";
import { simulateTransaction } from "../chain/solana/simulate-transaction.ts";
import { type Database, inTransaction } from "../store/database.ts";
import type { ChainHead } from "../store/facts.ts";
import {
	adoptLaneTransaction,
	insertLaneTransaction,
	type LaneTransaction,
	lockNonce,
	openLaneTransactions,
} from "../store/lane-transactions.ts";
import { type Marker, markMarkersClosed, readDueMarkers } from "../store/markers.ts";
import type { SolanaLane } from "./solana-lane.ts";
import { withoutSignatures } from "./without-signatures.ts";

/** As many as surely fit into one transaction. */
const markersAtOnce = 8;

/**
 * Signs for giving back what old markers hold, if there are any. One transaction at a time: nobody waits for it. Returns
 * what is to be broadcast.
 */
export function closeMarkers(lane: SolanaLane, head: ChainHead): Promise<LaneTransaction[]> {
	const { id, chain, keys, feePayer, policy, pool, nowMs, log } = lane;
	return inTransaction(pool, async (db) => {
		const nonce = await lockNonce(db, id);
		const open = await openLaneTransactions(db, id);
		if (open.some(({ kind }) => kind === "close")) return [];
		const due = await readDueMarkers(db, {
			chainId: id.chainId,
			madeBefore: new Date(nowMs() - policy.markerSeconds * 1_000),
			limit: markersAtOnce,
		});
		const markers = await standing(lane, due);
		const gone = due.filter((marker) => !markers.includes(marker));
		if (gone.length > 0) await adoptCloses(db, lane, { gone, nonce, head });
		if (markers.length === 0) return [];
		const { blockhash, lastValidBlockHeight } = await readBlockhash(chain);
		const { signature, raw } = await signClose({
			keys,
			feePayer,
			markers: markers.map(({ address, owner }) => ({ address: fromSolanaWord(address), owner })),
			blockhash,
			computePrice: BigInt(policy.computePriceMicroLamports),
		});
		const simulation = await simulateTransaction(chain, withoutSignatures(raw));
		if (!simulation.ok) {
			log.error({ ...id, reason: simulation.reason, logs: simulation.logs }, "markers cannot be closed");
			return [];
		}
		const transaction: LaneTransaction = {
			nonce: nonce + gone.length,
			attempt: 0,
			hash: signature,
			raw,
			kind: "close",
			jobs: [],
			markers: markers.map(({ address }) => address),
			maxFeePerGas: 0n,
			lastValidHeight: Number(lastValidBlockHeight),
			state: "signed",
			sentAtBlock: head.number,
		};
		await insertLaneTransaction(db, id, transaction);
		return [transaction];
	});
}

/** Those that the chain has as the store says. One that it has not would spoil the transaction for all. */
async function standing(lane: SolanaLane, due: readonly Marker[]): Promise<Marker[]> {
	const sides = await Promise.all(
		(["vault", "escrow"] as const).map(async (base) => {
			const some = due.filter((marker) => marker.base === base);
			if (some.length === 0) return [];
			const owners = await readMarkers(lane.chain, {
				base: lane.chain.deployment[base],
				orderIds: some.map(({ orderId }) => orderId),
				// What was made is final for long, and what is gone now may come back.
				commitment: "finalized",
			});
			return some.filter(({ owner }, i) => owners[i] === owner);
		}),
	);
	return sides.flat();
}

/**
 * What is not there was closed in a transaction that this store has forgotten: who follows the chain takes it in. Where
 * there is none to take in, a person must look: it counts as closed, or it would be taken again for ever, before others.
 */
async function adoptCloses(
	db: Database,
	{ id, chain, nowMs, log }: SolanaLane,
	{ gone, nonce, head }: { gone: readonly Marker[]; nonce: number; head: ChainHead },
): Promise<void> {
	const closed = new Map<Hex, Hex[]>();
	const lost: Hex[] = [];
	for (const { address } of gone) {
		const hash = await findCloseTransaction(chain, fromSolanaWord(address));
		if (hash) closed.set(hash, [...(closed.get(hash) ?? []), address]);
		else lost.push(address);
	}
	const { lastValidBlockHeight } = await readBlockhash(chain);
	for (const [i, [hash, markers]] of [...closed].entries()) {
		const lastValidHeight = Number(lastValidBlockHeight);
		const adopted = await adoptLaneTransaction(db, id, {
			...{
				nonce: nonce + i,
				attempt: 0,
				hash,
				raw: "0x",
				kind: "close",
				jobs: [],
				markers,
				maxFeePerGas: 0n,
			},
			...{ lastValidHeight, state: "broadcast", sentAtBlock: head.number },
		});
		// It was taken in before, and did not close them then.
		if (!adopted) lost.push(...markers);
	}
	if (lost.length === 0) return;
	log.error(
		{ ...id, addresses: lost },
		"markers are gone, and nobody knows how: see what became of their rent",
	);
	await markMarkersClosed(db, { chainId: id.chainId, addresses: lost, closedAt: new Date(nowMs()) });
}
