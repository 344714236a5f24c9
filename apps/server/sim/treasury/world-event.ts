import type { Order } from "@geoswap/protocol";
import type { Hex } from "viem";
import { type BookedEvent, type Entry, eventEntries } from "../../src/money/ledger/event-entries.ts";

/** What an entry is explained by: a swap, a move, or one of the reasons that are neither. */
export type Cause = `swap ${string}` | `move ${Hex}` | "opening" | "unattributed" | "declared";

type SwapEvent = { order: Order } & (
	| { name: "Opened"; data: object }
	| { name: "Filled"; data: { delivered: string; spentToken: Hex; spent: string } }
	| { name: "Released"; data: { paid: boolean } }
);

type MoveEvent =
	| { name: "Traded"; data: { tokenIn: Hex; amountIn: string; tokenOut: Hex; amountOut: string } }
	| { name: "Sent"; data: { token: Hex; to: Hex; amount: string } }
	| { name: "Bridged"; data: { token: Hex; amount: string } }
	/** What a bridge delivered, which the follower does not read yet. So the ledger has no entries of its own for it. */
	| { name: "Minted"; data: { token: Hex; amount: bigint } };

export type WorldEvent = { chainId: number; second: number; cause: Cause } & (SwapEvent | MoveEvent);

export type WorldEntry = Entry;

/** Returns the entries of an event: those of the real ledger, except for a mint. */
export function entriesOf(
	event: WorldEvent,
	context: { vault: Hex; relayer: Hex; assets: readonly Hex[]; native: Hex },
): WorldEntry[] {
	if (event.name === "Minted") {
		return transfer(event.data.token, event.data.amount, { from: "bridge", to: "inventory" });
	}
	const entries = eventEntries(event as BookedEvent, {
		order: "order" in event ? event.order : undefined,
		vaults: [context.vault],
		relayers: [context.relayer],
		assets: context.assets,
		native: context.native,
		isDelivered: true,
	});
	if (!entries) throw new Error(`no entries of ${event.name}`);
	return entries;
}

export function transfer(
	token: Hex,
	amount: bigint,
	{ from, to }: { from: WorldEntry["account"]; to: WorldEntry["account"] },
): WorldEntry[] {
	return [
		{ account: to, token, amount },
		{ account: from, token, amount: -amount },
	];
}
