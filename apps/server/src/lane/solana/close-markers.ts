import { fromSolanaWord } from "@geoswap/protocol";
import type { Hex } from "viem";
import { findCloseTransaction } from "../../chain/solana/marker/find-close-transaction.ts";
import { readMarkers } from "../../chain/solana/marker/read-markers.ts";
import { readBlockhash } from "../../chain/solana/read/read-blockhash.ts";
import { signClose } from "../../chain/solana/send/sign-close.ts";
import { simulateTransaction } from "../../chain/solana/send/simulate-transaction.ts";
import { journalLease } from "../../job/journal/journal-lease.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";
import { type Marker, markMarkersClosed, readDueMarkers } from "../../job/journal/markers.ts";
import type { LaneView } from "../look-at-lane.ts";
import type { SolanaLane } from "./solana-lane.ts";
import { withoutSignatures } from "./without-signatures.ts";

/** As many as surely fit into one transaction. */
const markersAtOnce = 8;

/**
 * Signs for giving back what old markers hold, if there are any. One transaction at a time: nobody waits for it. Returns
 * what is to be broadcast.
 */
export async function closeMarkers(
	lane: SolanaLane,
	{ head, open, nextNonce }: Pick<LaneView, "head" | "open"> & { nextNonce: number },
): Promise<LaneTransaction[]> {
	const { id, policy, pool, nowMs, log } = lane;
	if (open.some(({ kind }) => kind === "close")) return [];
	const due = await readDueMarkers(pool, {
		chainId: id.chainId,
		madeBefore: new Date(nowMs() - policy.markerSeconds * 1_000),
		limit: markersAtOnce,
	});
	if (due.length === 0) return [];
	const markers = await standing(lane, due);
	const { found, lost } = await findCloses(
		lane,
		due.filter((marker) => !markers.includes(marker)),
	);
	const life = await readBlockhash(lane.chain);
	const close = (hash: Hex, raw: Hex, closed: Hex[]): Omit<LaneTransaction, "nonce"> => ({
		attempt: 0,
		hash,
		raw,
		kind: "close",
		jobs: [],
		markers: closed,
		maxFeePerGas: 0n,
		lastValidHeight: Number(life.lastValidBlockHeight),
		state: raw === "0x" ? "broadcast" : "signed",
		sentAtBlock: head.number,
	});
	const closes = [...found].map(([hash, addresses]) => close(hash, "0x", addresses));
	const signed = markers.length > 0 ? await sign(lane, { markers, blockhash: life.blockhash }) : undefined;
	if (signed) {
		const addresses = markers.map(({ address }) => address);
		closes.push(close(signed.signature, signed.raw, addresses));
	}
	const transactions = closes.map((transaction, i) => ({ ...transaction, nonce: nextNonce + i }));
	// Without jobs it needs no lease: if another run of this lane has signed for anything since, the nonce is not the next one.
	const journalled = await journalLease(pool, id, { lease: 0, nonce: nextNonce, outcomes: [], transactions });
	if (journalled.outcome !== "journalled") return [];
	const { nonces } = journalled;
	// It was taken in before, and did not close them then.
	lost.push(...transactions.flatMap(({ hash, markers = [] }) => (nonces.has(hash) ? [] : markers)));
	if (lost.length > 0) {
		log.error(
			{ ...id, addresses: lost },
			"markers are gone, and nobody knows how: see what became of their rent",
		);
		await markMarkersClosed(pool, { chainId: id.chainId, addresses: lost, closedAt: new Date(nowMs()) });
	}
	return transactions.filter(({ hash }) => hash === signed?.signature && nonces.has(hash));
}

/** Signs for closing markers, if that would succeed. */
async function sign(
	{ id, chain, keys, feePayer, policy, log }: SolanaLane,
	{ markers, blockhash }: { markers: readonly Marker[]; blockhash: string },
): Promise<{ signature: Hex; raw: Hex } | undefined> {
	const signed = await signClose({
		keys,
		feePayer,
		markers: markers.map(({ address, owner }) => ({ address: fromSolanaWord(address), owner })),
		blockhash,
		computePrice: BigInt(policy.computePriceMicroLamports),
	});
	const simulation = await simulateTransaction(chain, withoutSignatures(signed.raw));
	if (simulation.ok) return signed;
	log.error({ ...id, reason: simulation.reason, logs: simulation.logs }, "markers cannot be closed");
	return undefined;
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
async function findCloses(
	{ chain }: SolanaLane,
	gone: readonly Marker[],
): Promise<{ found: Map<Hex, Hex[]>; lost: Hex[] }> {
	const found = new Map<Hex, Hex[]>();
	const lost: Hex[] = [];
	for (const { address } of gone) {
		const hash = await findCloseTransaction(chain, fromSolanaWord(address));
		if (hash) found.set(hash, [...(found.get(hash) ?? []), address]);
		else lost.push(address);
	}
	return { found, lost };
}
