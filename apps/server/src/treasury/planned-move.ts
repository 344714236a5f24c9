import type { Amount, UsdE18 } from "@geoswap/protocol";
import { formatUnits, type Hex } from "viem";
import { type MoveKey, moveId, moveKeyText } from "./move-id.ts";
import type { TreasuryState } from "./treasury-state.ts";

export type PlannedMove = MoveKey & {
	moveId: Hex;
	/** How many moves of the key the chain had made before. */
	nth: number;
	amount: Amount;
	toToken: Hex;
	/** Expected cost: gas, fees, and what a trade loses to the reference price. */
	costE18: UsdE18;
	/** One sentence for people, with the numbers that decided. */
	reason: string;
	/** Set for a trade. */
	trade?: { minOut: Amount; poolFees: number[] };
	/** Set for a bridge and a manual move. */
	route?: { name: string; isFast: boolean; seconds: number; fee: Amount };
};

/** The moves of a plan while it is made: each key is used once, and no id twice. */
export type MoveList = {
	moves: PlannedMove[];
	isOpen: (key: MoveKey) => boolean;
	add: (move: Omit<PlannedMove, "moveId" | "nth">) => void;
};

export function createMoveList(history: TreasuryState["history"]): MoveList {
	const known = new Map(history.map((row) => [moveKeyText(row), { moves: row.moves, isOpen: row.isOpen }]));
	const moves: PlannedMove[] = [];
	const isOpen = (key: MoveKey) => known.get(moveKeyText(key))?.isOpen ?? false;
	return {
		moves,
		isOpen,
		add: (move) => {
			if (isOpen(move)) throw new Error(`two open moves of ${moveKeyText(move)}`);
			const movesSoFar = known.get(moveKeyText(move))?.moves ?? 0;
			known.set(moveKeyText(move), { moves: movesSoFar + 1, isOpen: true });
			moves.push({ ...move, moveId: moveId(move, movesSoFar), nth: movesSoFar });
		},
	};
}

/** Returns an amount in whole tokens for people, cut after six digits of its fraction. */
export function describeAmount(
	amount: Amount,
	{ decimals, symbol }: { decimals: number; symbol: string },
): string {
	const [whole = "", fraction = ""] = formatUnits(amount, decimals).split(".");
	const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
	const shown = fraction.slice(0, 6).replace(/0+$/, "");
	return `${grouped}${shown && `.${shown}`} ${symbol}`;
}
