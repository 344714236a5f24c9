import {
	isWithinSolana,
	type Order,
	type OrderAccount,
	orderAddress,
	orderSchema,
	orderToJson,
	recordAddress,
	type SolanaAddress,
	type SwapUuid,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readOrders, readRecords } from "../../chain/solana/program/read-orders.ts";
import type { Landed } from "../../chain/solana/read/read-landed.ts";
import { readListed } from "../../chain/solana/read/read-listed.ts";
import type { DatabasePool } from "../../database/database.ts";
import type { FoundTransaction } from "../../job/journal/lane-transactions.ts";
import { markSwaps } from "../../swap/due/mark-swaps.ts";
import type { Log } from "../../telemetry/log.ts";
import { type ComparedOrder, compareOrders } from "../compare-orders.ts";
import type { AppliedSlots, SlotEvent } from "./apply-slots.ts";
import { landedEvents } from "./landed-events.ts";

/** A final transaction that was not known. */
export type LateTransaction = AppliedSlots["landed"][number] & {
	feePayer: SolanaAddress;
	/** Absent if it returned rents. */
	job?: FoundTransaction["job"];
};

const kindOf = {
	Opened: "open",
	Filled: "fill",
	Voided: "void",
	Released: "release",
	Refunded: "refund",
} as const;

/**
 * Compares undecided orders with their accounts at a final slot. See `compareOrders`. Anyone may open, decide, pay and
 * close an order, so that the transactions of our lanes do not show all that happened to it.
 */
export async function compareSolanaOrders({
	chain,
	apply,
	...comparing
}: {
	chain: SolanaChain;
	pool: DatabasePool;
	finalized: { number: number; timestamp: number };
	after: string | undefined;
	/** Applies final transactions that were not known. */
	apply: (late: readonly LateTransaction[]) => Promise<void>;
	log: Log;
}): Promise<string | undefined> {
	const { pool, finalized, log } = comparing;
	const { chainId, deployment } = chain;
	const { program } = deployment;
	const at = { commitment: "finalized", minSlot: finalized.number } as const;
	/** Orders that were prepared and given back without ever being opened. */
	const neverOpened = new Set<Hex>();
	const comparedUpTo = await compareOrders({ ...comparing, chainId, readExpected, readAgain });
	await wakeExpired();
	return comparedUpTo;

	/** Wakes swaps whose deposit can no longer land, because they wait for this comparison. */
	async function wakeExpired(): Promise<void> {
		const { rows } = await pool.query<{ swap_id: SwapUuid }>(
			`select swap_id from waits join jobs using (swap_id)
			where chain_id = $1 and kind = 'open' and state = 'refused' and not exists (
				select from chain_events e where e.order_id = waits.order_id and e.chain_id = $1 and e.name = 'Opened'
			)`,
			[chainId],
		);
		await markSwaps(
			pool,
			rows.map((row) => row.swap_id),
		);
	}

	async function readExpected(orders: readonly ComparedOrder[]): Promise<(readonly string[])[]> {
		const isLocal = ({ terms }: ComparedOrder) => isWithinSolana(orderSchema.parse(terms));
		const inOrder = orders.filter((one) => one.isOrigin || isLocal(one));
		const inRecord = orders.filter((one) => !inOrder.includes(one));
		const [accounts, records] = await Promise.all([
			readOrders(chain, { orderIds: inOrder.map(({ orderId }) => orderId), ...at }),
			readRecords(chain, { orderIds: inRecord.map(({ orderId }) => orderId), ...at }),
		]);
		const opened = await readOpened(inOrder.filter((_, i) => !accounts[i]));
		return orders.map((one) => {
			const i = inOrder.indexOf(one);
			if (i < 0) {
				const { record } = records[inRecord.indexOf(one)] ?? {};
				return record ? [record.state === "filled" ? "Filled" : "Voided"] : [];
			}
			const account = accounts[i];
			if (!one.isOrigin) return account?.state === "released" ? ["Filled"] : [];
			// A closed order was paid. Its transactions show to whom.
			if (!account) return opened.get(one.orderId) ?? [];
			return neverOpened.has(one.orderId) ? [] : eventsOf(account);
		});
	}

	/**
	 * Returns the expected events of orders that were opened, as far as the store has them. An order that ended lacks
	 * none.
	 */
	async function readOpened(orders: readonly ComparedOrder[]): Promise<Map<Hex, readonly string[]>> {
		if (orders.length === 0) return new Map();
		const { rows } = await pool.query<{ orderId: Hex; names: string[] }>(
			`select '0x' || encode(order_id, 'hex') as "orderId", array_agg(name) as names from chain_events
			where chain_id = $1 and order_id = any($2::bytea[]) and block_number <= $3 group by order_id`,
			[chainId, orders.map(({ orderId }) => Buffer.from(orderId.slice(2), "hex")), finalized.number],
		);
		return new Map(
			rows.flatMap(({ orderId, names }): [Hex, readonly string[]][] => {
				const isEnded = names.includes("Released") || names.includes("Refunded");
				return names.includes("Opened") && !isEnded ? [[orderId, ["Opened", "Released"]]] : [];
			}),
		);
	}

	async function readAgain(orders: readonly ComparedOrder[]): Promise<void> {
		const late: LateTransaction[] = [];
		// An order within Solana has two sides and one account, so its transactions are read once.
		const isRead = ({ orderId, isOrigin }: ComparedOrder) =>
			!isOrigin && orders.some((other) => other.isOrigin && other.orderId === orderId);
		for (const one of orders.filter((order) => !isRead(order))) {
			try {
				late.push(...(await readTransactions(one)));
			} catch (err) {
				log.error({ chainId, orderId: one.orderId, err }, "transactions of an order could not be read");
			}
		}
		if (late.length === 0) return;
		const events = late.flatMap(({ hash, events: found }) =>
			found.map(({ name, orderId }) => ({ name, orderId, hash })),
		);
		log.warn(
			{ chainId, events },
			"transactions for orders were sent by others, or the database had lost them",
		);
		await apply(late);
	}

	/** Returns the order's transactions with events that are not in the store yet, oldest first. */
	async function readTransactions({
		swapId,
		orderId,
		isOrigin,
		terms,
	}: ComparedOrder): Promise<LateTransaction[]> {
		const order = orderSchema.parse(terms);
		const addressOf = isOrigin || isWithinSolana(order) ? orderAddress : recordAddress;
		const address = await addressOf(program.address, orderId);
		const { rows } = await pool.query<{ name: string }>(
			"select name from chain_events where chain_id = $1 and order_id = $2",
			[chainId, Buffer.from(orderId.slice(2), "hex")],
		);
		const known = new Set(rows.map(({ name }) => name));
		const found: LateTransaction[] = [];
		const listed = await readListed(chain, address);
		for (const landed of listed) {
			const events = await eventsIn(landed, { order, orderId });
			const missing = events.filter(({ name }) => !known.has(name));
			for (const { name } of missing) known.add(name);
			if (missing.length > 0) found.push(lateOf(landed, missing));
		}
		if (isOrigin && !known.has("Opened")) {
			const [account] = await readOrders(chain, { orderIds: [orderId], ...at });
			const [first] = listed;
			if (account?.state === "refunded") neverOpened.add(orderId);
			// A node cuts long logs, and the sender of the transaction could make them long.
			else if (account && account.state !== "prepared" && first) {
				const data = { order: orderToJson(order) };
				const event = { name: "Opened", data, orderId, contract: toSolanaWord(program.address) };
				found.unshift(lateOf(first, [event]));
			}
		}
		return found;

		function lateOf({ signature: hash, slot, fee, message }: Landed, events: SlotEvent[]): LateTransaction {
			const kinds = events.flatMap(({ name }) => kindOf[name as keyof typeof kindOf] ?? []);
			const job = { swapId, kind: kinds[0] ?? ("open" as const), orderId };
			return { hash, slot, fee, events, feePayer: message.feePayer, job };
		}
	}

	function eventsIn(
		landed: Landed,
		{ order, orderId }: { order: Order; orderId: Hex },
	): Promise<SlotEvent[]> {
		return landedEvents({ deployment, landed, order, orderId });
	}
}

/** Returns the events that an order's account shows. A decided order has not ended before it is paid. */
function eventsOf({ state, isPaid }: OrderAccount): readonly string[] {
	if (state === "prepared") return [];
	if (!isPaid || state === "opened") return ["Opened"];
	return ["Opened", state === "released" ? "Released" : "Refunded"];
}
