import {
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	type SwapUuid,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { type Address, type Hex, hexToBytes, keccak256, toHex } from "viem";
import { anyOrder } from "../../../../packages/protocol/vectors/read-vectors.ts";
import type { Database } from "../../src/database/database.ts";

const token: Address = "0x00000000000000000000000000000000000000aa";
const attesterSet: Hex = `0x${"5e".repeat(32)}`;
const [originId, destinationId] = [31337, 31338];

const stages = ["opening", "deposited", "delivering", "refunding"] as const;
const jobStates = ["queued", "sent", "done", "refused"] as const;
const reasons = ["price", "recipient", "account_gone", "denied", "reverted", "too_late"] as const;

/**
 * Writes swaps in any state that chains, lanes and earlier rounds can bring about, and more. The same random numbers
 * make the same rows. Heads of both chains are at 1,000 and final at 990.
 */
export async function insertRandomSwaps(
	db: Database,
	{ count, nowMs, random }: { count: number; nowMs: number; random: () => number },
): Promise<SwapUuid[]> {
	const chance = (probability: number) => random() < probability;
	const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
	const now = Math.floor(nowMs / 1_000);
	const ids: SwapUuid[] = [];
	let logIndex = 0;
	for (let i = 0; i < count; i++) {
		const bytes = Uint8Array.from({ length: 10 }, () => Math.floor(random() * 256));
		const uuid = newSwapUuid({ nowMs: nowMs + i, random: bytes });
		ids.push(uuid);
		const isCrossChain = chance(0.8);
		const openIn = oneOf([-100, -5, 50, 300]);
		const order: Order = {
			...anyOrder(),
			originChainId: BigInt(originId),
			destinationChainId: BigInt(isCrossChain ? destinationId : originId),
			attesterSet,
			outputToken: toWord(token),
			swapKey: toSwapKey(uuid),
			deadlines: packDeadlines({
				openDeadline: BigInt(now + openIn),
				fillDeadline: BigInt(now + openIn + oneOf([1, 3, 100, 400])),
				refundAfter: BigInt(now + openIn + oneOf([401, 2_000])),
			}),
		};
		const id = hexToBytes(orderId(order));
		const isSettled = chance(0.1);
		const stage = isSettled ? "delivered" : oneOf(stages);
		const op = {
			delegate: token,
			gas: "1",
			signatureKind: "personal",
			signature: "0x12",
		};
		const isRebuilt = chance(0.1);
		await db.query(
			`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery, op, fee_millibps, stage,
				status, giving_up, turn, created_at)
			values ($1, $2, $3, $4, 400, $5, '{"kind": "inventory", "amount": "400"}', $6, 12500, $7, $8, $9, $10,
				to_timestamp($11::double precision / 1000))`,
			[
				uuid,
				isRebuilt ? null : "00000000-0000-4000-8000-000000000001",
				id,
				orderToJson(order),
				oneOf([1_000, 4_000, 90_000]),
				isRebuilt ? null : JSON.stringify(op),
				stage,
				isSettled ? "settled" : "pending",
				stage === "refunding" ? oneOf(["PRICE_MOVED", "TOO_LATE"]) : null,
				i % 5,
				nowMs - oneOf([1_000, 30_000, 90_000]),
			],
		);
		await db.query("insert into swap_events (swap_id, fact) values ($1, 'submitted')", [uuid]);
		if (chance(0.6)) {
			const volumes = [{ chainId: destinationId, token, direction: "buy", amount: "7" }];
			await db.query("insert into reservations values ($1, null, $2, $3, 400, 4000, $4, false, now())", [
				uuid,
				destinationId,
				hexToBytes(token),
				JSON.stringify(volumes),
			]);
			await db.query("update inventory set reserved = reserved + 400");
			await db.query("update pair_volume set in_flight = in_flight + 7");
		}
		if (chance(0.2)) {
			await db.query("insert into exposures values ($1, $2, $3, $4, 1000, $5)", [
				uuid,
				id,
				originId,
				hexToBytes(attesterSet),
				chance(0.5),
			]);
		}
		for (const [kind, probability] of [
			["open", 0.7],
			["fill", 0.3],
			["void", 0.15],
			["release", 0.15],
			["refund", 0.15],
		] as const) {
			if (!chance(probability)) continue;
			const isAttested = (kind === "release" || kind === "refund") && chance(0.4);
			const state = isAttested ? "unattested" : oneOf(jobStates);
			const payload =
				kind === "open"
					? { op }
					: kind === "fill"
						? { delivery: { kind: "inventory", amount: "400" } }
						: kind === "refund"
							? { attested: isAttested }
							: {};
			const onOrigin = kind === "open" || kind === "release" || kind === "refund";
			await db.query(
				`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, payload, state, priority, reason, updated_at)
				values ($1, $2, $3, $4, $5, $6, $7, 1, $8, now() - $9 * interval '1 second')`,
				[
					uuid,
					kind,
					onOrigin ? originId : isCrossChain ? destinationId : originId,
					id,
					orderToJson(order),
					JSON.stringify(payload),
					state,
					state === "refused" ? oneOf(reasons) : null,
					// The pause ended an hour ago or ends in an hour, so none ends while a slow machine runs the test.
					oneOf([-3_600, 3_600]),
				],
			);
		}
		for (const [name, chainId, probability, data] of [
			["Opened", originId, 0.75, {}],
			[
				"Filled",
				isCrossChain ? destinationId : originId,
				0.3,
				{ delivered: "400", spentToken: token, spent: "400" },
			],
			["Voided", isCrossChain ? destinationId : originId, 0.15, {}],
			["Released", originId, 0.1, { paid: true }],
			["Refunded", originId, 0.1, { paid: chance(0.7) }],
		] as const) {
			if (!chance(probability)) continue;
			await db.query("insert into chain_events values ($1, $2, $3, '\\x00', $4, '\\x00', $5, $6, $7)", [
				chainId,
				oneOf([980, 989, 995, 999, 1_000]),
				++logIndex,
				hexToBytes(keccak256(toHex(`${uuid}${name}`))),
				id,
				name,
				data,
			]);
		}
	}
	return ids;
}

/** Writes the chains and the inventory that those swaps need. */
export async function insertRandomWorld(db: Database, { nowMs }: { nowMs: number }): Promise<void> {
	const time = Math.floor(nowMs / 1_000);
	for (const chainId of [originId, destinationId]) {
		await db.query(
			`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
				booked_number, compared_number, compared_timestamp, compared_at)
			values ($1, 1000, '', $2::bigint, 1, 990, $2::bigint - 10, 990, 990, $2::bigint - 10, to_timestamp($2::bigint))`,
			[chainId, time],
		);
		for (const attester of ["0a01", "0a02"]) {
			await db.query("insert into heartbeats values ($1, $2, 990, to_timestamp($3))", [
				hexToBytes(`0x${attester.padStart(40, "0")}`),
				chainId,
				time,
			]);
		}
	}
	await db.query("insert into inventory values ($1, $2, 1000000000, 1000000000, 0, 1)", [
		destinationId,
		hexToBytes(token),
	]);
	await db.query("insert into pair_volume values ($1, $2, 'buy', 0)", [destinationId, hexToBytes(token)]);
}

/** Reads everything that rounds write, without times. */
export async function readRandomWorld(db: Database): Promise<Record<string, unknown[]>> {
	const tables: Record<string, string> = {
		swaps: `select id, status, stage, moves, failure, giving_up, origin_tx_hash, delivery_tx_hash, refund_tx_hash,
			delivered_amount, delivery, ended_at is not null as is_ended from swaps order by id`,
		swap_events: "select swap_id, fact, data from swap_events order by swap_id, seq",
		jobs: `select swap_id, kind, chain_id, payload, order_terms, state, priority, alone, failures, reason, turn
			from jobs order by swap_id, kind`,
		reservations: "select swap_id, amount, volumes, opened from reservations order by swap_id",
		exposures:
			"select swap_id, order_id, origin_chain_id, attester_set, value_usd_cents, is_final from exposures order by swap_id",
		inventory: "select chain_id, token, reserved from inventory order by 1, 2",
		pair_volume: "select chain_id, token, direction, in_flight from pair_volume order by 1, 2, 3",
		account_refusals: "select swap_id, account_id, reason from account_refusals order by swap_id",
		unsettled_gas: "select swap_id, chain_id, wei from unsettled_gas order by 1, 2",
		postings: "select key, name from postings order by key",
	};
	const world: Record<string, unknown[]> = {};
	for (const [table, text] of Object.entries(tables)) world[table] = (await db.query(text)).rows;
	return world;
}
