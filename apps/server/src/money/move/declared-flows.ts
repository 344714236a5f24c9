import { randomUUID } from "node:crypto";
import type { Amount, Wei } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Named, Row } from "../../database/rows.ts";
import { isMoveOver } from "./treasury-moves.ts";

/** What an operator declares before it happens on the chain. */
export type Declaration = {
	kind: "deposit" | "withdrawal";
	chainId: number;
	token: Hex;
	amount: Amount;
	/** The vault or the relayer that it enters or leaves. */
	holder: Hex;
	/** The recipient of a withdrawal. */
	to?: Hex | undefined;
	by: string;
	reason: string;
};

/** Writes a declaration and returns its id. */
export async function declareFlow(
	db: Database,
	{ kind, chainId, token, amount, holder, to, by, reason }: Declaration,
): Promise<string> {
	const id = randomUUID();
	await db.query(
		`insert into treasury_moves (id, kind, chain_id, token, amount, holder, address, reason, made_by, state)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'queued')`,
		[
			id,
			kind,
			chainId,
			hexToBytes(token),
			amount,
			hexToBytes(holder),
			to ? hexToBytes(to) : null,
			reason,
			by,
		],
	);
	return id;
}

export type Flow = {
	id: string;
	kind: Row<"treasury_moves", "kind">["kind"];
	chainId: number;
	token: Hex;
	amount: Amount;
	holder: Hex;
	to: Hex | undefined;
	toChainId: number | undefined;
	toToken: Hex | undefined;
	minReceived: Amount | undefined;
	received: Amount | undefined;
	moveId: Hex | undefined;
	transaction: Hex | undefined;
	/** The gas of the transaction, in the chain's native token. Undefined if the service did not send it. */
	gasCost: Wei | undefined;
	/** The transaction that brought a bridge to its destination, and what it cost there. */
	arrivedTransaction: Hex | undefined;
	arrivedGasCost: Wei | undefined;
	/** Why a move is stuck or has failed. */
	problem: string | undefined;
	/** When a move is late. */
	dueAt: Date | undefined;
	state: Row<"treasury_moves", "state">["state"];
	reason: string;
	by: string;
	createdAt: Date;
	updatedAt: Date;
};

const flowColumns =
	"id, kind, chain_id, token, amount, holder, address, to_chain_id, to_token, min_received, received, move_id, transaction_hash, arrived_transaction, problem, due_at, state, reason, made_by, created_at, updated_at";

type FlowRow = Row<"treasury_moves", Named<typeof flowColumns>> & {
	gas_cost: string | null;
	arrived_gas_cost: string | null;
};

/** Returns flows, newest first: those that are not over, and the most recent others. */
export async function readFlows(
	db: Database,
	{ limit, id }: { limit: number; id?: string | undefined },
): Promise<Flow[]> {
	const { rows } = await db.query<FlowRow>(
		`select ${flowColumns},
			(select t.gas_cost::text from lane_transactions t
				where t.chain_id = m.chain_id and t.hash = m.transaction_hash) as gas_cost,
			(select t.gas_cost::text from lane_transactions t
				where t.chain_id = m.to_chain_id and t.hash = m.arrived_transaction) as arrived_gas_cost
		from treasury_moves m where $2::uuid is null or id = $2
		order by ${isMoveOver}, created_at desc limit $1`,
		[limit, id ?? null],
	);
	return rows.map((row) => ({
		id: row.id,
		kind: row.kind,
		chainId: row.chain_id,
		token: bytesToHex(row.token),
		amount: row.amount,
		holder: bytesToHex(row.holder),
		to: hexOf(row.address),
		toChainId: row.to_chain_id ?? undefined,
		toToken: hexOf(row.to_token),
		minReceived: row.min_received ?? undefined,
		received: row.received ?? undefined,
		moveId: hexOf(row.move_id),
		transaction: hexOf(row.transaction_hash),
		gasCost: weiOf(row.gas_cost),
		arrivedTransaction: hexOf(row.arrived_transaction),
		arrivedGasCost: weiOf(row.arrived_gas_cost),
		problem: row.problem ?? undefined,
		dueAt: row.due_at ?? undefined,
		state: row.state,
		reason: row.reason,
		by: row.made_by,
		createdAt: row.created_at,
		updatedAt: row.updated_at,
	}));
}

function hexOf(bytes: Buffer | null): Hex | undefined {
	return bytes ? bytesToHex(bytes) : undefined;
}

function weiOf(text: string | null): Wei | undefined {
	return text === null ? undefined : BigInt(text);
}
