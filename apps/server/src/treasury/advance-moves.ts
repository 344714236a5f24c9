import type { Amount, Milliseconds } from "@geoswap/protocol";
import { type Address, bytesToHex, type Hex, hexToBytes } from "viem";
import { type Iris, requestReattestation } from "../chain/evm/cctp/read-attestation.ts";
import type { EvmChain } from "../chain/evm/connect-chain.ts";
import type { Database } from "../database/database.ts";
import type { Row } from "../database/rows.ts";
import {
	type BridgeTerms,
	changeMove,
	isMoveOver,
	type MoveChange,
	type MoveState,
	readMoves,
	type TreasuryMove,
} from "../money/move/treasury-moves.ts";
import type { Log } from "../telemetry/log.ts";
import type { CctpState, CctpStep } from "./route/cctp.ts";
import { type CctpMoveRow, lookAtCctpMove } from "./route/look-at-cctp-move.ts";
import { cctpStandard } from "./route-states.ts";

/** A queued move that no lane has signed after so long is cancelled. The next plan decides again. */
const queuedForMs = 15 * 60_000;
/** A fast burn is attested after seconds. None is planned, but an adopted one may be fast. */
const usualMs = { fast: 20_000, standard: cctpStandard.seconds * 1_000 };
/** Time until the chains and Iris are read again for a move that waits for them. */
const lookAgainMs = 2_000;
/** The same time for a stuck move. It is longer, because such a move usually needs a person. */
const stuckLookMs = 15_000;

export type AdvanceDeps = {
	pool: Database;
	/** Returns the connection to an EVM chain; undefined if it is not configured. */
	chainOf: (chainId: number) => EvmChain | undefined;
	iris: Iris;
	/** Has the treasurer's lane of a chain look for work. */
	pokeTreasurer: (chainId: number) => Promise<void>;
	nowMs: () => Milliseconds;
	log: Log;
};

/**
 * Moves the rows of all open moves on, by what the chains and Iris show of them. All that it knows is in the store and
 * on the chains, so it can be repeated from any point. Pokes the lanes that have something to sign or to send again.
 */
export async function advanceMoves(deps: AdvanceDeps): Promise<void> {
	const { pool, nowMs, log, pokeTreasurer } = deps;
	const moves = await readMoves(
		pool,
		`not ${isMoveOver} and (look_at is null or look_at <= to_timestamp($1))`,
		[nowMs() / 1_000],
	);
	if (moves.length === 0) return;
	const sights = await readSights(
		pool,
		moves.map(({ id }) => id),
	);
	const signing = new Set<number>();
	for (const move of moves) {
		const sight = sights.get(move.id);
		if (!sight) continue;
		try {
			const state = await advance(deps, { move, sight });
			if (state === "queued" || state === "sent") signing.add(move.chainId);
			if (move.kind === "bridge" && (state === "attested" || state === "minting"))
				signing.add(move.toChainId);
		} catch (err) {
			// A chain that does not answer delays its own moves only.
			log.warn(
				{ move: move.id, moveId: move.moveId, err },
				"a move could not be looked at; it is tried again",
			);
		}
	}
	await Promise.all([...signing].map((chainId) => pokeTreasurer(chainId)));
}

/** What the store has of a move's transactions and of the vault's event. */
type Sight = {
	event: MoveEvent | undefined;
	/** Whether its transaction, or that of its mint, is signed and can still land. */
	isInFlight: boolean;
	isMintInFlight: boolean;
};

type MoveEvent = {
	block: number;
	transactionHash: Hex;
	/** Whether the block is final. */
	isFinal: boolean;
	/** Whether the event has the terms of the row. */
	isAsPlanned: boolean;
	/** What a trade bought. */
	received: Amount | undefined;
};

/** Moves one row on. Returns its state afterwards. */
async function advance(
	deps: AdvanceDeps,
	{ move, sight }: { move: TreasuryMove; sight: Sight },
): Promise<MoveState> {
	const { pool, nowMs } = deps;
	const { event } = sight;
	const change = async (to: MoveState, set: MoveChange = {}): Promise<MoveState> => {
		if (to === move.state && Object.keys(set).length === 0) return to;
		await changeMove(pool, { id: move.id, from: move.state, to, set });
		if (to !== move.state) {
			const { id, moveId, kind, chainId } = move;
			deps.log.info({ move: id, moveId, kind, chainId, from: move.state, to, problem: set.problem }, "move");
		}
		return to;
	};
	if (!event) {
		if (move.state === "queued") {
			if (nowMs() - move.createdAtMs < queuedForMs) return "queued";
			return change("cancelled", { problem: "no lane signed it in time" });
		}
		if (sight.isInFlight) return change("sent");
		// The nonce is spent in a final block that the follower has read, and the vault has not made the move.
		return change("failed", { problem: "its transaction was reverted or replaced" });
	}
	if (!event.isAsPlanned) {
		return change("failed", { problem: "the vault has made a move with this id and other terms" });
	}
	const moved = { moved_block: event.block, transaction_hash: hexToBytes(event.transactionHash) };
	if (move.kind !== "bridge") {
		if (event.isFinal) return change("final", { ...moved, received: event.received ?? move.amount });
		return move.state === "moved" && move.movedBlock === event.block ? "moved" : change("moved", moved);
	}
	if (move.state === "queued" || move.state === "sent") return change("moved", moved);
	return advanceBridge(deps, { move, event, isMintInFlight: sight.isMintInFlight, change });
}

type Bridge = TreasuryMove & BridgeTerms;

/** Moves a burned bridge on. */
async function advanceBridge(
	{ pool, chainOf, iris, nowMs }: AdvanceDeps,
	{
		move,
		event,
		isMintInFlight,
		change,
	}: {
		move: Bridge;
		event: MoveEvent;
		isMintInFlight: boolean;
		change: (to: MoveState, set?: MoveChange) => Promise<MoveState>;
	},
): Promise<MoveState> {
	const [origin, destination] = [chainOf(move.chainId), chainOf(move.toChainId)];
	const contracts = destination?.deployment.cctp;
	if (!origin?.deployment.cctp || !destination || !contracts) {
		return change("stuck", { problem: "one of its chains is not configured, or has no contracts of CCTP" });
	}
	const now = nowMs();
	const lookAt = (ms: number) => ({ look_at: new Date(now + ms) });
	const row = cctpRow(move, { origin, destination, event });
	const step: CctpStep = await lookAtCctpMove(row, {
		origin,
		destination,
		contracts,
		iris,
		nowMs: now,
		isMintInFlight,
		isNonceOfAnother: (nonce) => isNonceOfAnother(pool, { nonce, id: move.id }),
	});
	// Only an arrival has what the chain may take back in a reorg.
	const notArrived =
		move.state === "arrived" ? { arrived_block: null, arrived_transaction: null, received: null } : {};
	switch (step.kind) {
		case "wait": {
			const waitMs = step.forMs ?? (move.state === "stuck" ? stuckLookMs : lookAgainMs);
			const to = stateOf(step.state);
			return change(to, { ...lookAt(waitMs), ...(to === "arrived" ? {} : notArrived) });
		}
		case "send mint":
			return change("attested", {
				message: hexToBytes(step.message),
				attestation: hexToBytes(step.attestation),
				nonce: hexToBytes(step.nonce),
				...notArrived,
			});
		case "reattest": {
			const answer = await requestReattestation(iris, step.nonce);
			if (answer.status === "accepted") {
				return change(stateOf(step.state), { reattested_at: new Date(now), ...lookAt(lookAgainMs) });
			}
			const waitMs = answer.status === "limited" ? answer.retryAfterMs : lookAgainMs;
			return change(stateOf(step.state), lookAt(waitMs));
		}
		case "arrived":
			return change("arrived", {
				received: step.received,
				arrived_block: step.blockNumber,
				arrived_transaction: hexToBytes(step.transactionHash),
				message: hexToBytes(step.attested.message),
				attestation: hexToBytes(step.attested.attestation),
				nonce: hexToBytes(step.nonce),
				problem: null,
				...lookAt(lookAgainMs),
			});
		case "final":
			// A reorg may have moved the mint to another block.
			return change("final", {
				arrived_block: step.blockNumber,
				arrived_transaction: hexToBytes(step.transactionHash),
			});
		case "stuck":
			return change("stuck", {
				problem: `it is late, and waits for ${step.because}`,
				...lookAt(stuckLookMs),
			});
		case "failed":
			return change("stuck", { problem: `${step.error}: ${step.problem}`, ...lookAt(stuckLookMs) });
		case "read attestation":
			throw new TypeError("a look ends with another step than to read the attestation");
	}
}

function cctpRow(
	move: Bridge,
	{
		origin: { deployment: from },
		destination: { deployment: to },
		event,
	}: { origin: EvmChain; destination: EvmChain; event: MoveEvent },
): CctpMoveRow {
	const { cctp } = from;
	const { cctp: other } = to;
	if (!cctp || !other) throw new TypeError("both chains have contracts of CCTP");
	const { state, moveId, holder, token, address, amount, data, destinationBlock, toToken } = move;
	return {
		state: cctpStateOf(state),
		moveId,
		transactionHash: event.transactionHash,
		vault: holder as Address,
		destinationBlock,
		mintToken: toToken as Address,
		usualMs,
		...(move.attested && { attested: move.attested }),
		...(move.reattestedAtMs !== undefined && { reattestedAtMs: move.reattestedAtMs }),
		burn: {
			sourceDomain: cctp.domain,
			destinationDomain: other.domain,
			sourceMessenger: cctp.tokenMessenger,
			destinationMessenger: other.tokenMessenger,
			route: address as Address,
			burnToken: token as Address,
			recipient: to.contracts.vault,
			amount,
			maxFee: BigInt(data.maxFee),
			minFinalityThreshold: data.minFinalityThreshold,
		},
	};
}

/** The two names of a burned move without an attestation: `sent` by CCTP, `moved` by the vault. */
function cctpStateOf(state: MoveState): CctpState {
	if (state === "moved") return "sent";
	if (state === "attested" || state === "minting" || state === "arrived" || state === "stuck") return state;
	throw new TypeError(`a move that is ${state} is not between two chains`);
}

function stateOf(state: CctpState): MoveState {
	return state === "sent" || state === "queued" ? "moved" : state;
}

async function isNonceOfAnother(db: Database, { nonce, id }: { nonce: Hex; id: string }): Promise<boolean> {
	const { rowCount } = await db.query("select from treasury_moves where nonce = $1 and id <> $2", [
		hexToBytes(nonce),
		id,
	]);
	return rowCount === 1;
}

/** SQL: whether a transaction of a move on a chain can still land, or is in a block that is not final. */
const isOpenOn = (chain: string, states: string) =>
	`exists (select from lane_transactions t where t.chain_id = ${chain} and t.state in (${states})
		and t.jobs @> jsonb_build_array(jsonb_build_object('move', m.id)))`;

async function readSights(db: Database, ids: readonly string[]): Promise<Map<string, Sight>> {
	const { rows } = await db.query<
		{
			id: string;
			is_final: boolean | null;
			is_as_planned: boolean | null;
			received: string | null;
			is_in_flight: boolean;
			is_mint_in_flight: boolean;
		} & { [Name in "block_number" | "transaction_hash"]: Row<"chain_events", Name>[Name] | null }
	>(
		`select m.id, e.block_number, e.transaction_hash, e.block_number <= h.booked_number as is_final,
			e.contract = m.holder and lower(e.data->>case e.name when 'Traded' then 'tokenIn' else 'token' end)
					= '0x' || encode(m.token, 'hex')
				and (e.data->>case e.name when 'Traded' then 'amountIn' else 'amount' end)::numeric = m.amount
				and case m.kind
					when 'trade' then e.name = 'Traded' and lower(e.data->>'tokenOut') = '0x' || encode(m.to_token, 'hex')
					when 'send' then e.name = 'Sent' and lower(e.data->>'to') = '0x' || encode(m.address, 'hex')
					else e.name = 'Bridged' and lower(e.data->>'route') = '0x' || encode(m.address, 'hex')
				end as is_as_planned,
			e.data->>'amountOut' as received,
			${isOpenOn("m.chain_id", "'signed', 'broadcast', 'mined'")} as is_in_flight,
			${isOpenOn("m.to_chain_id", "'signed', 'broadcast'")} as is_mint_in_flight
		from treasury_moves m join chain_heads h on h.chain_id = m.chain_id
		left join chain_events e on e.chain_id = m.chain_id and e.name in ('Traded', 'Sent', 'Bridged')
			and e.data->>'moveId' = '0x' || encode(m.move_id, 'hex')
		where m.id = any($1::uuid[])`,
		[ids],
	);
	return new Map(
		rows.map((row) => [
			row.id,
			{
				event:
					row.block_number === null || !row.transaction_hash
						? undefined
						: {
								block: row.block_number,
								transactionHash: bytesToHex(row.transaction_hash),
								isFinal: row.is_final ?? false,
								isAsPlanned: row.is_as_planned ?? false,
								received: row.received === null ? undefined : BigInt(row.received),
							},
				isInFlight: row.is_in_flight,
				isMintInFlight: row.is_mint_in_flight,
			},
		]),
	);
}
