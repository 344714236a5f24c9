import { type Milliseconds, type OrderAccount, orderToJson } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { findVaultOrders, readPreparedOrder } from "../../chain/solana/program/read-orders.ts";
import type { DatabasePool } from "../../database/database.ts";
import { markSearched, readUnsearchedRestore } from "../../database/restores.ts";
import { insertUnknownOrders, withoutSwaps } from "../../swap/record/unknown-orders.ts";
import type { Log } from "../../telemetry/log.ts";

/**
 * Orders whose transactions are read in one search, since strangers can have any number of orders that name our vault.
 */
const maxOrdersAtOnce = 100;
/** Orders whose transactions are read concurrently. */
const readsAtOnce = 8;
const searchEveryMs = 30_000;
/** Seconds after a restore within which transactions that were signed before it can still land. */
const mayLandSeconds = 600;
/** Seconds after a restore when every earlier order can be refunded by its wallet, and is no longer searched for. */
const givenUpSeconds = 4 * 86_400;

export type LostOrderSearch = (deps: {
	pool: DatabasePool;
	nowMs: () => Milliseconds;
	log: Log;
}) => Promise<void>;

/**
 * Creates the search for orders on Solana whose swaps a restore has lost. The follower of Solana reads no blocks, so it
 * finds only orders of known swaps. After a restore the program's accounts are searched for orders that name our vault,
 * and those without a swap are noted, with the terms from the transactions that prepared them. Without a restore
 * nothing is read from the chain.
 */
export function createLostOrderSearch(chain: SolanaChain): LostOrderSearch {
	const { chainId, deployment } = chain;
	let searchedAtMs = Number.NEGATIVE_INFINITY;
	/** Orders whose terms were not found. They come last. */
	const missed = new Set<Hex>();

	return async ({ pool, nowMs, log }) => {
		if (nowMs() - searchedAtMs < searchEveryMs) return;
		const restore = await readUnsearchedRestore(pool, chainId);
		if (!restore) return;
		searchedAtMs = nowMs();
		const accounts = (await findVaultOrders(chain, { minSlot: restore.finalizedNumber })).filter(isAtStake);
		const unknown = await withoutSwaps(
			pool,
			accounts.map(({ orderId }) => orderId),
		);
		const lost = accounts.filter(({ orderId }) => unknown.has(orderId)).sort(byRank);
		const some = lost.slice(0, maxOrdersAtOnce);
		let found = 0;
		for (let i = 0; i < some.length; i += readsAtOnce) {
			const noted = await Promise.all(some.slice(i, i + readsAtOnce).map(note));
			found += noted.filter(Boolean).length;
		}
		if (found > 0) log.warn({ chainId, orders: found }, "orders on Solana without a swap were found");
		const isAllFound = found === lost.length;
		const elapsedSeconds = restore.finalizedTimestamp - restore.at.getTime() / 1_000;
		if (elapsedSeconds > (isAllFound ? mayLandSeconds : givenUpSeconds)) await markSearched(pool, restore);

		/** Notes an order. Returns whether its terms were found. */
		async function note(account: OrderAccount): Promise<boolean> {
			const { orderId } = account;
			try {
				const order = await readPreparedOrder(chain, account);
				if (!order) throw new Error("no node returns the transaction that prepared it");
				const terms = orderToJson(order);
				await insertUnknownOrders(pool, { chainId, orders: [{ orderId: hexToBytes(orderId), terms }] });
				return true;
			} catch (err) {
				missed.add(orderId);
				log.error({ chainId, orderId, err }, "the terms of an order without a swap were not found; retrying");
				return false;
			}
		}
	};

	/** Returns whether an input is still to be paid, or a rent is still to come back to one of our fee payers. */
	function isAtStake({ state, isPaid, payer }: OrderAccount): boolean {
		return state !== "prepared" && (!isPaid || isOurs(payer));
	}

	/** Only the service can have made orders whose rent its fee payers paid. A stranger can pay the rent of any order. */
	function byRank(one: OrderAccount, other: OrderAccount): number {
		const rank = ({ orderId, payer }: OrderAccount) =>
			(missed.has(orderId) ? 2 : 0) + (isOurs(payer) ? 0 : 1);
		return rank(one) - rank(other);
	}

	function isOurs(payer: OrderAccount["payer"]): boolean {
		return deployment.feePayers.includes(payer);
	}
}
