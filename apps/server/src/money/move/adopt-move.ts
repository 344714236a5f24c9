import { randomUUID } from "node:crypto";
import type { Amount } from "@geoswap/protocol";
import { decodeAbiParameters, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { Row } from "../../database/rows.ts";

/** The other end of a route. */
export type RouteEnd = {
	chainId: number;
	/** The token that the vault there gets. */
	token: Hex;
	/** Returns an amount of the burned token in units of that token. */
	rescale: (amount: Amount) => Amount;
};

type EventData =
	| { name: "Traded"; data: { tokenIn: Hex; tokenOut: Hex; amountIn: string; amountOut: string } }
	| { name: "Sent"; data: { token: Hex; to: Hex; amount: string } }
	| { name: "Bridged"; data: { token: Hex; route: Hex; amount: string; data: Hex } };
type EventRow = Row<"chain_events", "block_number" | "transaction_hash" | "contract"> & EventData;

/** How much earlier than the burn the search for its mint begins, because the clocks of two chains differ. */
const marginSeconds = 600;

/**
 * Adds the row of a move that a vault has made, as its event has it. A database that was restored from a backup lacks the
 * newest moves. A person decides which are the service's own, because a thief of the treasurer's key makes the same
 * events.
 */
export async function adoptMove(
	db: Database,
	{
		chainId,
		moveId,
		by,
		reason,
		dueAt,
		endOf,
	}: {
		chainId: number;
		moveId: Hex;
		by: string;
		reason: string;
		dueAt: Date;
		/** Returns where a route leads; undefined if it is not configured. */
		endOf: (route: Hex) => RouteEnd | undefined;
	},
): Promise<{ id: string } | { refusal: string }> {
	const { rows } = await db.query<EventRow>(
		`select block_number, transaction_hash, contract, name, data from chain_events
		where chain_id = $1 and name in ('Traded', 'Sent', 'Bridged') and data->>'moveId' = $2`,
		[chainId, moveId.toLowerCase()],
	);
	const [event] = rows;
	if (!event) {
		return {
			refusal: `no vault on chain ${chainId} has made a move with this id, as far as it was followed`,
		};
	}
	const { rows: known } = await db.query<Row<"treasury_moves", "id" | "state">>(
		"select id, state from treasury_moves where move_id = $1 and state not in ('failed', 'cancelled')",
		[hexToBytes(moveId)],
	);
	if (known[0]) return { refusal: `it is in the row ${known[0].id} already, which is ${known[0].state}` };
	const terms = termsOf(event, endOf);
	if ("refusal" in terms) return terms;
	const id = randomUUID();
	const { rowCount } = await db.query(
		namedParameters(
			`insert into treasury_moves (id, kind, chain_id, holder, token, amount, address, to_chain_id, to_token,
				min_received, move_id, nth, data, reason, made_by, state, due_at, destination_block, transaction_hash,
				moved_block)
			values ($id, $kind, $chainId, $holder, $token, $amount, $address, $toChainId, $toToken, $minReceived, $moveId,
				(select count(*) from treasury_moves where kind = $kind and chain_id = $chainId and token = $token
					and to_chain_id is not distinct from $toChainId and state not in ('failed', 'cancelled')
					and case kind when 'send' then address = $address when 'trade' then holder = $holder else true end),
				$data, $reason, $by, 'moved', $dueAt,
				case when $toChainId::bigint is not null then coalesce((
					select max(other.number) from block_times other join block_times own
						on own.chain_id = $chainId and own.number = $block
					where other.chain_id = $toChainId and other.timestamp <= own.timestamp - $marginSeconds::integer
				), 0) end,
				$transactionHash, $block)
			on conflict do nothing`,
			{
				id,
				kind: terms.kind,
				chainId,
				holder: event.contract,
				token: hexToBytes(terms.token),
				amount: terms.amount,
				address: terms.address ? hexToBytes(terms.address) : null,
				toChainId: terms.toChainId ?? null,
				toToken: terms.toToken ? hexToBytes(terms.toToken) : null,
				minReceived: terms.minReceived ?? null,
				moveId: hexToBytes(moveId),
				data: JSON.stringify(terms.data),
				reason,
				by,
				dueAt,
				marginSeconds,
				transactionHash: event.transaction_hash,
				block: event.block_number,
			},
		),
	);
	if (rowCount) return { id };
	return {
		refusal: "a move of the same kind, token and destination is open; adopt this one when that is over",
	};
}

type Terms = {
	kind: "trade" | "send" | "bridge";
	token: Hex;
	amount: Amount;
	address?: Hex;
	toChainId?: number;
	toToken?: Hex;
	minReceived?: Amount;
	data: object;
};

/** Returns the terms of a row with which the event agrees. */
function termsOf(
	{ name, data }: EventData,
	endOf: (route: Hex) => RouteEnd | undefined,
): Terms | { refusal: string } {
	if (name === "Sent") {
		return { kind: "send", token: data.token, amount: BigInt(data.amount), address: data.to, data: {} };
	}
	if (name === "Traded") {
		return {
			kind: "trade",
			token: data.tokenIn,
			amount: BigInt(data.amountIn),
			toToken: data.tokenOut,
			minReceived: BigInt(data.amountOut),
			data: { poolFees: [] },
		};
	}
	const end = endOf(data.route);
	if (!end) {
		return {
			refusal: `its route ${data.route} is not in the configuration; add it to the chain's cctp.routes`,
		};
	}
	const [maxFee, minFinalityThreshold] = decodeAbiParameters(
		[{ type: "uint256" }, { type: "uint32" }],
		data.data,
	);
	const amount = BigInt(data.amount);
	return {
		kind: "bridge",
		token: data.token,
		amount,
		address: data.route,
		toChainId: end.chainId,
		toToken: end.token,
		minReceived: end.rescale(amount - maxFee),
		data: { maxFee: String(maxFee), minFinalityThreshold },
	};
}
