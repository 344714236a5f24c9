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

/** The number of markers that surely fit into one transaction. */
const markersAtOnce = 8;

/**
 * Signs a transaction that closes old markers, which gives back their rent, if there are any. One transaction at a
 * time: nobody waits for it. Returns the transactions to broadcast.
 */
export async function closeMarkers(
	lane: SolanaLane,
	{ open, nextNonce }: Pick<LaneView, "open"> & { nextNonce: number },
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
	});
	const closes = [...found].map(([hash, addresses]) => close(hash, "0x", addresses));
	const signed = markers.length > 0 ? await sign(lane, { markers, blockhash: life.blockhash }) : undefined;
	if (signed) {
		const addresses = markers.map(({ address }) => address);
		closes.push(close(signed.signature, signed.raw, addresses));
	}
	const transactions = closes.map((transaction, i) => ({ ...transaction, nonce: nextNonce + i }));
	// Without jobs it needs no lease: if another run of this lane has signed anything since, the nonce is not the next.
	const journalled = await journalLease(pool, id, { lease: 0, nonce: nextNonce, outcomes: [], transactions });
	if (journalled.outcome !== "journalled") return [];
	const { nonces } = journalled;
	// The journal had the transaction before, and it did not close the markers then.
	lost.push(...transactions.flatMap(({ hash, markers = [] }) => (nonces.has(hash) ? [] : markers)));
	if (lost.length > 0) {
		log.error(
			{ ...id, addresses: lost },
			"markers are gone, and no transaction of ours closed them: find out what became of their rent",
		);
		await markMarkersClosed(pool, { chainId: id.chainId, addresses: lost, closedAt: new Date(nowMs()) });
	}
	return transactions.filter(({ hash }) => hash === signed?.signature && nonces.has(hash));
}

/** Signs a transaction that closes markers, if it would succeed. */
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

/** Returns the markers that still exist, with the owner in the store. A missing one would make the transaction fail. */
async function standing(lane: SolanaLane, due: readonly Marker[]): Promise<Marker[]> {
	const sides = await Promise.all(
		(["vault", "escrow"] as const).map(async (base) => {
			const some = due.filter((marker) => marker.base === base);
			if (some.length === 0) return [];
			const owners = await readMarkers(lane.chain, {
				base: lane.chain.deployment[base],
				orderIds: some.map(({ orderId }) => orderId),
				// The markers were final long ago, and one that is gone at a lower commitment may come back.
				commitment: "finalized",
			});
			return some.filter(({ owner }, i) => owners[i] === owner);
		}),
	);
	return sides.flat();
}

/**
 * Finds the transactions that closed missing markers, and that this store has lost: the follower takes them in. If
 * none is among the newest that name the marker, which strangers can do too, a person must look: the marker counts as
 * closed, or it would be tried again forever, before others.
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
