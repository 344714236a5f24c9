import type { Amount, UsdE18 } from "@geoswap/protocol";
import type { Hex } from "viem";
import { type Part, type Reason, reasons } from "./attribute-posting.ts";
import { value36 } from "./explain-change.ts";

/** The books of a chain for a day, or since the last closed one. */
export type Period = {
	day: string;
	chainId: number;
	isClosed: boolean;
	/** The postings after this one, up to the next. */
	afterPosting: number;
	lastPosting: number;
	afterBlock: number;
	lastBlock: number;
	tokens: PeriodToken[];
};

export type PeriodToken = {
	token: Hex;
	opening: Amount;
	closing: Amount;
	usdOpening: UsdE18 | undefined;
	usdClosing: UsdE18 | undefined;
	/** What prices changed of what the desk held. */
	positions36: bigint | undefined;
	/** Whether a second provider reported the same closing. Undefined if there is none. */
	agreed: boolean | undefined;
};

/** A part of the books with its value, at the price of its block. */
export type ValuedPart = Part & {
	chainId: number;
	/** The name of its posting. */
	name: string;
	/** Undefined if the token has no price. */
	value36: bigint | undefined;
};

/** What the entries of a swap's order are worth. Values are integers of 10^-36 USD. */
export type SwapTally = {
	orderId: Hex;
	/** All but the gas. */
	value36: bigint;
	gas36: bigint;
	/** Whether both the delivery and the release are in the same report. */
	isComplete: boolean;
};

export type Tally = {
	byReason: Record<Reason, bigint>;
	byChain: Map<number, { byReason: Record<Reason, bigint>; positions36: bigint; change36: bigint }>;
	swaps: SwapTally[];
	positions36: bigint;
	opening36: bigint;
	closing36: bigint;
	/** What neither entries nor positions explain of the change of value. It is 0 if each entry was counted once. */
	difference36: bigint;
	/** Tokens with entries or balances that have no price. They are in no sum. */
	unpriced: { chainId: number; token: Hex }[];
};

/**
 * Adds up the parts of periods one after the other, so that only the sums and the swaps are kept. The sum of all reasons
 * and positions is the change of value, to the last digit.
 */
export function createTally(
	periods: readonly Period[],
	{ decimalsOf }: { decimalsOf: (chainId: number, token: Hex) => number | undefined },
) {
	const byChain: Tally["byChain"] = new Map();
	const swaps = new Map<Hex, SwapTally & { names: Set<string> }>();
	const unpriced = new Map<string, { chainId: number; token: Hex }>();

	const [firsts, lasts] = [new Map<string, bigint>(), new Map<string, bigint>()];
	for (const { chainId, tokens } of periods) {
		for (const one of tokens) {
			const { token, opening, closing, usdOpening, usdClosing, positions36 } = one;
			const decimals = decimalsOf(chainId, token);
			if (decimals === undefined || usdOpening === undefined || usdClosing === undefined) {
				if (opening !== 0n || closing !== 0n) {
					unpriced.set(`${chainId} ${token}`, { chainId, token });
				}
				continue;
			}
			const before = value36(opening, { decimals, usdE18: usdOpening });
			const after = value36(closing, { decimals, usdE18: usdClosing });
			const key = `${chainId} ${token}`;
			if (!firsts.has(key)) firsts.set(key, before);
			lasts.set(key, after);
			const sums = ofChain(chainId);
			sums.change36 += after - before;
			sums.positions36 += positions36 ?? 0n;
		}
	}

	return {
		add({ reason, orderId, chainId, token, name, value36: value }: ValuedPart): void {
			if (value === undefined) {
				unpriced.set(`${chainId} ${token}`, { chainId, token });
				return;
			}
			ofChain(chainId).byReason[reason] += value;
			if (reason !== "swap" || !orderId) return;
			const swap = swaps.get(orderId) ?? {
				orderId,
				value36: 0n,
				gas36: 0n,
				isComplete: false,
				names: new Set<string>(),
			};
			swaps.set(orderId, swap);
			if (name === "gas") swap.gas36 += value;
			else {
				swap.value36 += value;
				swap.names.add(name);
			}
		},

		result(): Tally {
			let [opening36, closing36] = [0n, 0n];
			for (const value of firsts.values()) opening36 += value;
			for (const value of lasts.values()) closing36 += value;
			const byReason = noReasons();
			let [positions36, change36] = [0n, 0n];
			for (const sums of byChain.values()) {
				for (const reason of reasons) byReason[reason] += sums.byReason[reason];
				positions36 += sums.positions36;
				change36 += sums.change36;
			}
			const explained = reasons.reduce((sum, reason) => sum + byReason[reason], positions36);
			return {
				byReason,
				byChain,
				swaps: [...swaps.values()].map(({ orderId, value36, gas36, names }) => {
					return { orderId, value36, gas36, isComplete: names.has("Filled") && names.has("Released") };
				}),
				positions36,
				opening36,
				closing36,
				difference36: change36 - explained,
				unpriced: [...unpriced.values()],
			};
		},
	};

	function ofChain(chainId: number) {
		const sums = byChain.get(chainId) ?? { byReason: noReasons(), positions36: 0n, change36: 0n };
		byChain.set(chainId, sums);
		return sums;
	}
}

function noReasons(): Record<Reason, bigint> {
	return Object.fromEntries(reasons.map((reason) => [reason, 0n])) as Record<Reason, bigint>;
}
