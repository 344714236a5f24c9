import { lesser, type Order } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { PlannedMove } from "../../src/treasury/planned-move.ts";
import type { Market } from "./market.ts";
import type { WorldEvent } from "./world-event.ts";
import { type ChainTerms, capsPerHour, chains, native } from "./world-terms.ts";

/** Why a vault refuses a move, by the names of the contract's errors. */
type MoveRefusal = "AlreadyMoved" | "CapExceeded" | "TooLittleReceived" | "InsufficientBalance";

/** Balances of one chain, and the contract's rules for what may leave the vault. It knows nothing of the books. */
export type WorldChain = {
	terms: ChainTerms;
	vault: (token: Hex) => bigint;
	relayerWei: () => bigint;
	/** All gas that the chain took from the relayer. */
	gasPaidWei: () => bigint;
	/** Takes the gas of a transaction. Returns what it cost, or undefined if the relayer cannot pay it. */
	takeGas: (units: number) => bigint | undefined;
	open: (order: Order, swap: string) => void;
	fill: (order: Order, swap: string, spent: bigint, delivered: bigint) => void;
	release: (order: Order, swap: string) => void;
	move: (move: PlannedMove) => MoveRefusal | undefined;
	/** Mints what was burned elsewhere, whoever submits it. The second time it reverts. */
	mint: (message: BridgeMessage) => "minted" | "reverted";
	/** A transfer that makes no event of ours. */
	receive: (to: "vault" | "relayer", token: Hex, amount: bigint) => void;
	capLeft: (kind: "trade" | "send" | "bridge", token: Hex, to?: Hex | number) => bigint;
	/** How often each move's id was carried out. */
	movedTimes: () => ReadonlyMap<Hex, number>;
};

export type BridgeMessage = {
	moveId: Hex;
	toChainId: number;
	recipient: Hex;
	amount: bigint;
	/** Whether the bridge's attesters signed exactly this. */
	isSigned: boolean;
};

export function createWorldChain({
	terms,
	market,
	now,
	emit,
}: {
	terms: ChainTerms;
	market: Market;
	now: () => number;
	emit: (event: WorldEvent) => void;
}): WorldChain {
	const vault = new Map<Hex, bigint>();
	const moved = new Map<Hex, number>();
	const minted = new Set<Hex>();
	const caps = new Map<string, { available: bigint; second: number }>();
	let relayerWei = 0n;
	let gasPaidWei = 0n;

	const held = (token: Hex) => vault.get(token) ?? 0n;
	const add = (token: Hex, amount: bigint) => {
		const left = held(token) + amount;
		if (left < 0n) throw new Error(`the vault of ${terms.name} would hold ${left} of ${token}`);
		vault.set(token, left);
	};
	const put = (event: WorldEventBody) => emit({ chainId: terms.chainId, second: now(), ...event });

	const capLeft = (kind: "trade" | "send" | "bridge", token: Hex, to?: Hex | number) => {
		const perHour = capPerHour(kind, token);
		const bucket = caps.get(`${kind} ${token} ${to ?? ""}`);
		if (!bucket) return perHour;
		const refilled = bucket.available + (perHour * BigInt(now() - bucket.second)) / 3_600n;
		return lesser(refilled, perHour);
	};
	const takeCap = (
		kind: "trade" | "send" | "bridge",
		token: Hex,
		to: Hex | number | undefined,
		amount: bigint,
	) => {
		const left = capLeft(kind, token, to) - amount;
		if (left < 0n) return false;
		caps.set(`${kind} ${token} ${to ?? ""}`, { available: left, second: now() });
		return true;
	};
	function capPerHour(kind: "trade" | "send" | "bridge", token: Hex): bigint {
		if (kind === "bridge") return capsPerHour.bridgeUsdc;
		if (kind === "send") return terms.gasPerHourWei * capsPerHour.sendHours;
		return token === native ? capsPerHour.tradeWei : capsPerHour.tradeUsdc;
	}

	return {
		terms,
		vault: held,
		relayerWei: () => relayerWei,
		gasPaidWei: () => gasPaidWei,
		capLeft,
		movedTimes: () => moved,
		takeGas: (units) => {
			const cost = BigInt(units) * market.gasPriceWei(terms, now());
			if (cost > relayerWei) return undefined;
			relayerWei -= cost;
			gasPaidWei += cost;
			return cost;
		},
		receive: (to, token, amount) => {
			if (to === "relayer") relayerWei += amount;
			else add(token, amount);
		},
		open: (order, swap) => put({ name: "Opened", cause: `swap ${swap}`, order, data: {} }),
		fill: (order, swap, spent, delivered) => {
			add(terms.usdc, -spent);
			const data = { spentToken: terms.usdc, spent: String(spent), delivered: String(delivered) };
			put({ name: "Filled", cause: `swap ${swap}`, order, data });
		},
		release: (order, swap) => {
			// The model's tokens are those of the chain, so the word's last bytes name one of two.
			add(order.inputToken.endsWith(terms.usdc.slice(2)) ? terms.usdc : native, order.inputAmount);
			put({ name: "Released", cause: `swap ${swap}`, order, data: { paid: true } });
		},
		move: (move) => {
			const { moveId, kind, token, amount } = move;
			if (moved.has(moveId)) return "AlreadyMoved";
			if (held(token) < amount) return "InsufficientBalance";
			const cause = `move ${moveId}` as const;
			if (kind === "trade") {
				const out =
					token === native ? market.sellEth(terms, amount, now()) : market.buyEth(terms, amount, now());
				if (out < (move.trade?.minOut ?? 0n)) return "TooLittleReceived";
				if (!takeCap("trade", token, undefined, amount)) return "CapExceeded";
				add(token, -amount);
				add(move.toToken, out);
				put({
					name: "Traded",
					cause,
					data: { tokenIn: token, amountIn: String(amount), tokenOut: move.toToken, amountOut: String(out) },
				});
			} else if (kind === "send") {
				if (!takeCap("send", token, move.address, amount)) return "CapExceeded";
				add(token, -amount);
				relayerWei += amount;
				put({ name: "Sent", cause, data: { token, to: move.address, amount: String(amount) } });
			} else {
				if (!takeCap("bridge", token, move.toChainId, amount)) return "CapExceeded";
				add(token, -amount);
				put({ name: "Bridged", cause, data: { token, amount: String(amount) } });
			}
			moved.set(moveId, (moved.get(moveId) ?? 0) + 1);
			return undefined;
		},
		mint: ({ moveId, toChainId, recipient, amount, isSigned }) => {
			const isOurs = isSigned && toChainId === terms.chainId && recipient === terms.vault;
			if (!isOurs || minted.has(moveId)) return "reverted";
			minted.add(moveId);
			add(terms.usdc, amount);
			put({ name: "Minted", cause: `move ${moveId}`, data: { token: terms.usdc, amount } });
			return "minted";
		},
	};
}

type WorldEventBody = WorldEvent extends infer Event
	? Event extends WorldEvent
		? Omit<Event, "chainId" | "second">
		: never
	: never;

export function chainOf(all: readonly WorldChain[], chainId: number): WorldChain {
	const found = all[chains.findIndex((terms) => terms.chainId === chainId)];
	if (!found) throw new Error(`no chain ${chainId}`);
	return found;
}
