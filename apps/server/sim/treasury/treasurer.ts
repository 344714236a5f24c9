import type { Hex } from "viem";
import type { TreasuryPolicy } from "../../src/config/treasury-policy.ts";
import { type MoveKey, moveKeyText } from "../../src/treasury/move-id.ts";
import { plan } from "../../src/treasury/plan.ts";
import type { PlannedMove } from "../../src/treasury/planned-move.ts";
import type { TreasuryState } from "../../src/treasury/treasury-state.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { SwapService } from "./swap-service.ts";
import type { WorldBridge } from "./world-bridge.ts";
import { chainOf, type WorldChain } from "./world-chain.ts";
import type { WorldClock } from "./world-clock.ts";
import { chains as allTerms, gasUnits } from "./world-terms.ts";

/** A move as the service's table has it. */
export type MoveRow = {
	move: PlannedMove;
	createdSecond: number;
	state: "queued" | "moved" | "arrived" | "failed";
	movedSecond?: number;
};

/** The service's rows of moves, and what a plan needs of them. */
type MoveTable = {
	rows: () => readonly MoveRow[];
	open: () => readonly MoveRow[];
	/** How many moves of each key landed, and whether one is open. */
	history: () => TreasuryState["history"];
	add: (row: MoveRow) => void;
	update: (row: MoveRow, state: MoveRow["state"]) => void;
	replace: (rows: readonly MoveRow[]) => void;
};

/** Carries out the moves of each plan, as the service's lane does, and survives a restore. */
export type Treasurer = {
	/** Plans once, and queues what the plan has. */
	round: (state: TreasuryState) => void;
	table: Pick<MoveTable, "rows" | "open" | "history">;
	/** Follows an event: a move arrived, whoever submitted it. */
	arrived: (moveId: Hex) => void;
	/** Replaces the rows with those of a backup. Until events are read to a final block, no plan is made. */
	restore: (backupSecond: number) => void;
	isReading: () => boolean;
	counts: TreasurerCounts;
	violations: string[];
};

export type TreasurerCounts = {
	rounds: number;
	inBand: number;
	planned: number;
	moved: number;
	fast: number;
	tooLittle: number;
	wrongBytes: number;
	requestedAgain: number;
	mintedByStrangers: number;
	stuck: number;
};

const lookSeconds = 60;
const readEventsSeconds = 20 * 60;
const strangersMint = 0.02;
/** No fast move is called late before this. */
const minLateSeconds = 600;

export function createTreasurer({
	clock,
	chains,
	bridge,
	swaps,
	random,
	mode,
	policy,
}: {
	clock: WorldClock;
	chains: readonly WorldChain[];
	bridge: WorldBridge;
	swaps: SwapService;
	random: SeededRandom;
	mode: "plan" | "act";
	policy: TreasuryPolicy;
}): Treasurer {
	const table = createMoveTable();
	/** Every row there ever was, which the lane works on and a restore brings back. */
	const all = new Map<Hex, MoveRow>();
	let readSecond = 0;
	const violations: string[] = [];
	const counts: TreasurerCounts = {
		rounds: 0,
		inBand: 0,
		planned: 0,
		moved: 0,
		fast: 0,
		tooLittle: 0,
		wrongBytes: 0,
		requestedAgain: 0,
		mintedByStrangers: 0,
		stuck: 0,
	};
	const { now } = clock;
	const indexOf = (chainId: number) => allTerms.findIndex((terms) => terms.chainId === chainId);
	const isSettlement = ({ chainId, token }: PlannedMove) => allTerms[indexOf(chainId)]?.usdc === token;

	function round(state: TreasuryState): void {
		counts.rounds++;
		const isInBand = ({ settlement: { free, arriving, target } }: TreasuryState["chains"][number]) =>
			free + arriving >= target / 4n;
		if (state.chains.every(isInBand)) counts.inBand++;
		if (isReading()) return;
		const { moves } = plan(state, policy);
		counts.planned += moves.length;
		checkTransit(state, moves);
		if (mode === "plan") return;
		for (const move of moves) {
			const row: MoveRow = { move, createdSecond: now(), state: "queued" };
			table.add(row);
			all.set(move.moveId, row);
			if (isSettlement(move)) swaps.reserve(indexOf(move.chainId), move.amount);
			clock.at(now() + random.between(20, 60), () => send(row));
		}
	}

	/** Compares what is between chains with the limit, apart from how the planner counts it. */
	function checkTransit(
		{ inTransitE18, chains: states }: TreasuryState,
		moves: readonly PlannedMove[],
	): void {
		const started = moves.reduce((sum, { kind, amount }) => (kind === "bridge" ? sum + amount : sum), 0n);
		const target = states.reduce((sum, { settlement }) => sum + settlement.target, 0n);
		const total = inTransitE18 / 10n ** 12n + started;
		if (started > 0n && total * 100n > target * BigInt(policy.maxTransitPercent)) {
			violations.push(`transit-cap: ${total} of ${target} between chains at ${now()}`);
		}
	}

	/** Sends the transaction on the chain that the move leaves. */
	function send(row: MoveRow): void {
		const { move } = row;
		if (row.state !== "queued") return;
		const chain = chainOf(chains, move.chainId);
		const gas = gasUnits[move.kind === "trade" ? "trade" : move.kind === "send" ? "send" : "burn"];
		if (!swaps.takeGas(indexOf(move.chainId), gas, [`move ${move.moveId}`])) {
			clock.at(now() + lookSeconds, () => send(row));
			return;
		}
		const refusal = chain.move(move);
		if (isSettlement(move)) swaps.reserve(indexOf(move.chainId), -move.amount);
		if (refusal) {
			table.update(row, "failed");
			if (refusal === "TooLittleReceived") counts.tooLittle++;
			else if (refusal === "AlreadyMoved") violations.push(`repeated-move: the chain refused ${move.moveId}`);
			else violations.push(`outside-limits: ${refusal}: ${move.reason}`);
			return;
		}
		counts.moved++;
		row.movedSecond = now();
		table.update(row, move.kind === "bridge" ? "moved" : "arrived");
		if (move.kind !== "bridge") return;
		if (move.route?.isFast) counts.fast++;
		bridge.burn(move);
		clock.at(bridge.readyAt(move.moveId), () => look(row));
		clock.at(now() + lateSeconds(move), () => lookAtLate(row));
	}

	/** Reads the attestation of a burn, and mints what it is for. */
	function look(row: MoveRow): void {
		const { move } = row;
		if (row.state !== "moved") return;
		const again = () => clock.at(Math.max(bridge.readyAt(move.moveId), now() + lookSeconds), () => look(row));
		const found = bridge.look(move.moveId);
		if (found.status === "none") {
			again();
			return;
		}
		const { message, isExpired } = found;
		const expected = move.amount - (move.route?.fee ?? 0n);
		if (message.recipient !== move.address || message.amount !== expected || message.moveId !== move.moveId) {
			counts.wrongBytes++;
			again();
			return;
		}
		if (isExpired) {
			counts.requestedAgain++;
			bridge.requestAgain(move.moveId);
			again();
			return;
		}
		const destination = chainOf(chains, move.toChainId);
		const byStranger = random.chance(strangersMint);
		if (byStranger) {
			counts.mintedByStrangers++;
			destination.mint(message);
		}
		const gas = byStranger ? gasUnits.reverted : gasUnits.mint;
		if (!swaps.takeGas(indexOf(move.toChainId), gas, [`move ${move.moveId}`])) {
			again();
			return;
		}
		const outcome = destination.mint(message);
		if (outcome === "reverted" && !byStranger) {
			violations.push(`mint-refused: ${move.moveId} of ${move.amount} to ${move.toChainId}`);
		}
	}

	function lookAtLate(row: MoveRow): void {
		if (row.state !== "moved") return;
		counts.stuck++;
		counts.requestedAgain++;
		bridge.requestAgain(row.move.moveId);
	}

	function arrived(moveId: Hex): void {
		const row = all.get(moveId);
		if (row) table.update(row, "arrived");
	}

	/** Rows come back at the end of the last of these seconds. */
	function isReading(): boolean {
		return readSecond > 0 && now() <= readSecond;
	}

	function restore(backupSecond: number): void {
		const lost = table.rows().filter(({ createdSecond }) => createdSecond > backupSecond);
		table.replace(table.rows().filter((row) => !lost.includes(row)));
		for (const row of lost) {
			if (row.state !== "queued") continue;
			table.update(row, "failed");
			if (isSettlement(row.move)) swaps.reserve(indexOf(row.move.chainId), -row.move.amount);
		}
		readSecond = now() + readEventsSeconds;
		clock.at(readSecond, () => {
			// Rows are made again from the events of the chains, which know nothing of moves that never landed.
			for (const row of lost) if (row.state !== "failed") table.add(row);
		});
	}

	return {
		round,
		table,
		arrived,
		restore,
		isReading,
		counts,
		violations,
	};
}

function lateSeconds({ route }: PlannedMove): number {
	return Math.max(minLateSeconds, 3 * (route?.seconds ?? 0));
}

/** Returns whether a move is so late that it counts as a position and no more as inventory. */
export function isStuck({ move, state, movedSecond }: MoveRow, second: number): boolean {
	return state === "moved" && movedSecond !== undefined && second > movedSecond + lateSeconds(move);
}

function createMoveTable(): MoveTable {
	let rows: MoveRow[] = [];
	let open = new Set<MoveRow>();
	let keys = new Map<string, { moves: number; open: number; key: MoveKey }>();
	const count = (row: MoveRow, by: 1 | -1) => {
		const { kind, chainId, token, toChainId, address } = row.move;
		const text = moveKeyText(row.move);
		const before = keys.get(text) ?? { moves: 0, open: 0, key: { kind, chainId, token, toChainId, address } };
		before.moves += row.state === "moved" || row.state === "arrived" ? by : 0;
		before.open += isOpen(row) ? by : 0;
		keys.set(text, before);
		if (by === 1 && isOpen(row)) open.add(row);
		else open.delete(row);
	};
	return {
		rows: () => rows,
		open: () => [...open],
		history: () => [...keys.values()].map(({ key, moves, open }) => ({ ...key, moves, isOpen: open > 0 })),
		add: (row) => {
			rows.push(row);
			count(row, 1);
		},
		update: (row, state) => {
			// A row that a restore lost is still what the lane works on.
			const isKnown = rows.includes(row);
			if (isKnown) count(row, -1);
			row.state = state;
			if (isKnown) count(row, 1);
		},
		replace: (others) => {
			rows = [];
			open = new Set();
			keys = new Map();
			for (const row of others) {
				rows.push(row);
				count(row, 1);
			}
		},
	};
}

function isOpen({ state }: MoveRow): boolean {
	return state === "queued" || state === "moved";
}
