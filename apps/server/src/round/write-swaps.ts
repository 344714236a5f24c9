import type { FailureCode, Milliseconds, SwapStage, SwapStatus, SwapUuid } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Database } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import type { Move, Notes } from "../swap/facts/swap-record.ts";
import { failureMessages } from "./apply-transition.ts";

/** A round's changes to a swap's row. */
export type SwapChange = {
	swapId: SwapUuid;
	stage: SwapStage;
	status: SwapStatus;
	/** The stages, or the status that ends them, that the swap newly reached. */
	steps: readonly Move[];
	failure: FailureCode | undefined;
	notes: Notes;
	/** The reason why the output is not delivered from now on. The first one stays. */
	givingUp: FailureCode | undefined;
	/** True if nothing is left to do. */
	isEnd: boolean;
	/** True if the difference is visible to callers. */
	isVisible: boolean;
};

/** Writes the rows of swaps, which must be held. */
export async function writeSwaps(
	db: Database,
	changes: readonly SwapChange[],
	{ nowMs }: { nowMs: Milliseconds },
): Promise<void> {
	if (changes.length === 0) return;
	const hash = (value: Hex | null | undefined) => (value ? Buffer.from(hexToBytes(value)) : null);
	const isTold = (field: keyof Notes) => changes.map(({ notes }) => notes[field] !== undefined);
	await db.query({
		name: "write-swaps",
		...namedParameters(
			`update swaps s set stage = x.stage, status = x.status, failure = coalesce(x.failure, s.failure),
				moves = s.moves || x.steps::text[], giving_up = coalesce(s.giving_up, x.giving_up),
				origin_tx_hash = case when x.is_origin then x.origin else s.origin_tx_hash end,
				delivery_tx_hash = case when x.is_delivery then x.delivery else s.delivery_tx_hash end,
				refund_tx_hash = case when x.is_refund then x.refund else s.refund_tx_hash end,
				delivered_amount = case when x.is_amount then x.amount else s.delivered_amount end,
				updated_at = case when x.is_visible then now() else s.updated_at end,
				opened_at = case when not x.is_origin then s.opened_at when x.origin is null then null
					when x.origin = s.origin_tx_hash then coalesce(s.opened_at, now()) else now() end,
				delivered_at = case when not x.is_delivery then s.delivered_at when x.delivery is null then null
					when x.delivery = s.delivery_tx_hash then coalesce(s.delivered_at, now()) else now() end,
				decided_at = case when x.status <> 'pending' then coalesce(s.decided_at, now()) end,
				ended_at = case when x.is_end then to_timestamp($nowMs::double precision / 1000) else s.ended_at end
			from unnest($swapIds::uuid[], $stages::text[], $statuses::text[], $failures::jsonb[], $steps::text[],
				$givingUp::text[], $hasOrigin::boolean[], $originTxHashes::bytea[], $hasDelivery::boolean[],
				$deliveryTxHashes::bytea[], $hasRefund::boolean[], $refundTxHashes::bytea[], $hasAmount::boolean[],
				$deliveredAmounts::numeric[], $isVisible::boolean[], $isEnd::boolean[])
				as x (id, stage, status, failure, steps, giving_up, is_origin, origin, is_delivery, delivery, is_refund, refund,
				is_amount, amount, is_visible, is_end)
			where s.id = x.id and s.id = any($swapIds)`,
			{
				swapIds: changes.map(({ swapId }) => swapId),
				nowMs,
				stages: changes.map(({ stage }) => stage),
				statuses: changes.map(({ status }) => status),
				failures: changes.map(({ failure }) =>
					failure ? JSON.stringify({ code: failure, message: failureMessages[failure] }) : null,
				),
				steps: changes.map(({ steps }) => `{${steps.join()}}`),
				givingUp: changes.map(({ givingUp }) => givingUp ?? null),
				hasOrigin: isTold("originTxHash"),
				originTxHashes: changes.map(({ notes }) => hash(notes.originTxHash)),
				hasDelivery: isTold("deliveryTxHash"),
				deliveryTxHashes: changes.map(({ notes }) => hash(notes.deliveryTxHash)),
				hasRefund: isTold("refundTxHash"),
				refundTxHashes: changes.map(({ notes }) => hash(notes.refundTxHash)),
				hasAmount: isTold("deliveredAmount"),
				deliveredAmounts: changes.map(({ notes }) => notes.deliveredAmount ?? null),
				isVisible: changes.map(({ isVisible }) => isVisible),
				isEnd: changes.map(({ isEnd }) => isEnd),
			},
		),
	});
}

/** Adds to the histories of swaps one row for each new fact. */
export async function recordFacts(
	db: Database,
	facts: readonly { swapId: SwapUuid; fact: string; data: object }[],
): Promise<void> {
	if (facts.length === 0) return;
	await db.query({
		name: "record-facts",
		text: `insert into swap_events (swap_id, fact, data)
			select swap_id, fact, data from unnest($1::uuid[], $2::text[], $3::jsonb[]) as x (swap_id, fact, data)`,
		values: [
			facts.map(({ swapId }) => swapId),
			facts.map(({ fact }) => fact),
			facts.map(({ data }) => JSON.stringify(data)),
		],
	});
}
