import { recoverAddress } from "@geoswap/keys/signature/recover-address";
import {
	type AttestationKind,
	type AttesterSet,
	attestationMessage,
	attestationTypedData,
	isSolana,
	type Milliseconds,
	type Order,
	orderId,
} from "@geoswap/protocol";
import { type Address, type Hex, hashTypedData, zeroAddress } from "viem";
import { normalizeSignature } from "../../chain/evm/wallet/normalize-signature.ts";
import type { Config } from "../../config/config.ts";
import type { DatabasePool } from "../../database/database.ts";
import type { Engine, Handler, PreparedPoke } from "../../durable/engine.ts";
import { postponeUnattested, readUnattestedJobs, storeAttestation } from "../../job/attestations.ts";
import { attesterSetOf } from "../../swap/decide/swap-policy.ts";
import type { Job } from "../../swap/facts/job.ts";
import type { Log } from "../../telemetry/log.ts";
import type { ChainPoke } from "../chain-poke.ts";
import type { AttesterClient } from "./attester-client.ts";

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

type Gathered = { orders: readonly Order[]; signatures: Hex[] };

type Question = {
	attesters: readonly AttesterClient[];
	set: AttesterSet;
	kind: AttestationKind;
	orders: readonly Order[];
	log: Log;
};

/** `refusals`: the orders that each attester that answered does not sign for; none if it signed. */
type Answers = { signatures: Hex[]; refusals: Map<AttesterClient, ReadonlySet<Hex>> };

/**
 * Returns signatures of enough attesters over one list of orders, in the order that the escrow requires; undefined if
 * too few sign. If attesters refuse an order, it is left out of the list.
 */
async function gatherSignatures(question: Question): Promise<Gathered | undefined> {
	const { set } = question;
	let { attesters, orders } = question;
	let before: Answers["refusals"] = new Map();
	// Every round leaves out an order or an attester, and honest attesters name all their refusals in the first.
	for (let round = 0; round < question.attesters.length + 2 && orders.length > 0; round++) {
		const { signatures, refusals } = await askAll({ ...question, attesters, orders });
		if (signatures.length >= set.threshold) return { orders, signatures };
		const fickle = attesters.filter((attester) =>
			isInconsistent(before.get(attester), refusals.get(attester)),
		);
		attesters = attesters.filter((attester) => !fickle.includes(attester));
		// An attester that refuses everything must not hold up the others, so only those with the fewest refusals count.
		const willing = attesters
			.flatMap((attester) => refusals.get(attester) ?? [])
			.toSorted((a, b) => a.size - b.size)
			.slice(0, set.threshold);
		if (willing.length < set.threshold) return undefined;
		const rest = orders.filter((order) => willing.every((refused) => !refused.has(orderId(order))));
		if (rest.length === orders.length && fickle.length === 0) return undefined;
		orders = rest;
		before = refusals;
	}
	return undefined;
}

/** Returns whether an attester refuses an order that it accepted before. One by one, it could hold up all of them. */
function isInconsistent(before: ReadonlySet<Hex> | undefined, now: ReadonlySet<Hex> | undefined): boolean {
	return before !== undefined && now !== undefined && [...now].some((id) => !before.has(id));
}

async function askAll({ attesters, set, kind, orders, log }: Question): Promise<Answers> {
	const typedData = attestationTypedData(attestationMessage(kind, orders));
	const signed = new Map<Address, Hex>();
	const refusals: Answers["refusals"] = new Map();
	await Promise.all(
		attesters.map(async (attester) => {
			const { url, attest } = attester;
			try {
				const answer = await attest(kind, orders);
				if ("refused" in answer) {
					log.info({ attester: url, kind, refused: answer.refused }, "attester refused");
					const refused = new Set(answer.refused.map((refusal) => refusal.orderId.toLowerCase() as Hex));
					if (!orders.some((order) => refused.has(orderId(order))))
						throw new Error("it neither signed nor refused");
					refusals.set(attester, refused);
					return;
				}
				// The escrow refuses a whole transaction for one signature in another form.
				const signature = normalizeSignature(answer.signature, { wallet: zeroAddress });
				const signer = recoverAddress({ hash: hashTypedData(typedData), signature });
				if (!signer || !set.attesters.includes(signer)) {
					log.error({ attester: url, signer }, "the signature is not from an attester of the set");
					return;
				}
				signed.set(signer, signature);
				refusals.set(attester, new Set());
			} catch (error) {
				log.warn({ attester: url, problem: (error as Error).message }, "attester did not answer");
			}
		}),
	);
	// The signatures are in the set's own order, which is ascending, and no more than needed, since each costs gas.
	const signatures = set.attesters.flatMap((attester) => signed.get(attester) ?? []).slice(0, set.threshold);
	return { signatures, refusals };
}
