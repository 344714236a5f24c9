import { type AttestationKind, isSolana, type Milliseconds } from "@geoswap/protocol";
import type { Config } from "../../config/config.ts";
import type { DatabasePool } from "../../database/database.ts";
import type { Engine, Handler, PreparedPoke } from "../../durable/engine.ts";
import { postponeUnattested, readUnattestedJobs, storeAttestation } from "../../job/attestations.ts";
import { attesterSetOf } from "../../swap/decide/swap-policy.ts";
import type { Job } from "../../swap/facts/job.ts";
import type { Log } from "../../telemetry/log.ts";
import type { ChainPoke } from "../chain-poke.ts";
import type { AttesterClient } from "./attester-client.ts";
import { gatherSignatures } from "./gather-signatures.ts";

export type AttestationOptions = {
	config: Pick<Config, "deployment" | "earlierAttesterSets">;
	pool: DatabasePool;
	attesters: readonly AttesterClient[];
	engine: Engine;
	lanePoke: ChainPoke;
	nowMs: () => Milliseconds;
	/** A UUID for a list of signatures. */
	newId: () => string;
	log: Log;
};

/** The maximum number of orders that one set of signatures covers, and that one transaction decides. */
const batchSize = 50;
/** The maximum run of the handler. The engine takes a run away from a worker that was silent for a minute. */
const maxMs = 20_000;
const retryMs = 2_000;

/**
 * Key: the origin chain's id. Signatures bind a list of orders to one escrow on one chain. Two concurrent gatherings
 * for one chain would request the same orders in two lists.
 */
export function createAttestation(options: AttestationOptions): Handler {
	return async (key) => {
		const chainId = Number(key);
		const { attested, left } = await attestJobs(options, chainId);
		const nowMs = options.nowMs();
		const dedupeKey = `${key}:again:${Math.floor(nowMs / retryMs)}`;
		const pokes: PreparedPoke[] = attested > 0 ? options.lanePoke({ chainId, nowMs }) : [];
		if (left > 0) {
			pokes.push({ target: { object: "attestation", key }, options: { delayMs: retryMs, dedupeKey } });
		}
		for (const { target, options: how } of pokes) await options.engine.poke(target, how);
	};
}

async function attestJobs(
	options: AttestationOptions,
	chainId: number,
): Promise<{ attested: number; left: number }> {
	const asked = new Set<string>();
	let attested = 0;
	const endsAtMs = options.nowMs() + maxMs;
	while (true) {
		const jobs = await readUnattestedJobs(options.pool, { chainId, limitPerKind: batchSize });
		let progress = 0;
		for (const batch of batchesOf(jobs)) {
			if (options.nowMs() < endsAtMs) progress += await attestBatch(options, chainId, batch);
		}
		attested += progress;
		// Declined jobs come last, so a repeated job means that there is no new job behind it.
		const isMoreLikely = jobs.length >= batchSize && jobs.every((job) => !asked.has(job.orderId));
		if (!isMoreLikely || options.nowMs() >= endsAtMs) {
			return { attested, left: jobs.length - progress };
		}
		for (const job of jobs) asked.add(job.orderId);
	}
}

async function attestBatch(
	{ config, pool, attesters, newId, log }: AttestationOptions,
	chainId: number,
	batch: readonly Job[],
): Promise<number> {
	const [first] = batch;
	if (!first) return 0;
	const kind: AttestationKind = first.kind === "release" ? "Release" : "Refund";
	const set = attesterSetOf(config, first.order.attesterSet);
	if (!set) log.error({ chainId, attesterSet: first.order.attesterSet }, "the attester set is unknown");
	const orders = batch.map((job) => job.order);
	const gathered = set && (await gatherSignatures({ attesters, set, kind, orders, log }));
	const { signatures = [], orders: signed = [] } = gathered ?? {};
	const orderIds = batch.filter((job) => signed.includes(job.order)).map((job) => job.orderId);
	const isStored =
		set !== undefined &&
		orderIds.length > 0 &&
		(await storeAttestation(pool, { id: newId(), chainId, kind, set, signatures, orderIds }));
	const turnedDown = batch.map((job) => job.orderId).filter((id) => !isStored || !orderIds.includes(id));
	await postponeUnattested(pool, { chainId, kind, orderIds: turnedDown });
	return isStored ? orderIds.length : 0;
}

/**
 * Groups jobs into lists of one kind, one escrow and one set of attesters; and of one destination, so that a chain that
 * attesters cannot read holds up its own orders only. A job that must be sent alone, or is on Solana, is a separate
 * list.
 */
function batchesOf(jobs: readonly Job[]): Job[][] {
	const listOf = ({ kind, order, alone, orderId }: Job) => {
		// On Solana each order is decided and paid by a separate transaction.
		const isSingle = alone || isSolana(order.originChainId);
		return [kind, order.escrow, order.attesterSet, order.destinationChainId, isSingle ? orderId : ""].join(
			":",
		);
	};
	return Object.values(Object.groupBy(jobs, listOf)).filter((batch) => batch !== undefined);
}
