import { fromWord, geoEscrowAbi, geoVaultAbi, moneyEventTopics, swapUuidTimeMs } from "@geoswap/protocol";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readBlock } from "../../chain/evm/read/read-block.ts";
import { type EventInBlock, readEvents } from "../../chain/evm/read/read-events.ts";
import { type DatabasePool, inTransaction } from "../../database/database.ts";
import type { Log } from "../../telemetry/log.ts";
import { type ComparedOrder, compareOrders } from "../compare-orders.ts";
import { applyLateEvents } from "./apply-late-events.ts";
import { isRefusal, shortReason } from "./read-block-facts.ts";

/** Orders whose states one call reads. */
const statesAtOnce = 500;

/** How far the clock of a chain may be behind the local one. */
const maxClockLagSeconds = 600;

/** The events that an escrow, or a vault, has emitted for an order in this state. */
const escrowEvents = [[], ["Opened"], ["Opened", "Released"], ["Opened", "Refunded"]] as const;
const vaultEvents = [[], ["Filled"], ["Voided"]] as const;

/** Compares undecided orders with the states that the contracts have at a final block. See `compareOrders`. */
export function compareEvmOrders({
	chain,
	...comparing
}: {
	chain: EvmChain;
	pool: DatabasePool;
	finalized: { number: number; timestamp: number };
	after: string | undefined;
	log: Log;
}): Promise<string | undefined> {
	const { number } = comparing.finalized;
	return compareOrders({
		...comparing,
		chainId: chain.chainId,
		readExpected: (orders) => readExpected(chain, orders, number),
		readAgain: (orders) => readAgain({ ...comparing, chain, orders }),
	});
}

async function readExpected(
	chain: EvmChain,
	orders: readonly ComparedOrder[],
	blockNumber: number,
): Promise<(readonly string[])[]> {
	const states: number[] = [];
	for (let i = 0; i < orders.length; i += statesAtOnce) {
		const some = await chain.client.multicall({
			allowFailure: false,
			batchSize: 0,
			blockNumber: BigInt(blockNumber),
			contracts: orders.slice(i, i + statesAtOnce).map(({ contract, orderId, isOrigin }) => ({
				address: fromWord(contract),
				abi: isOrigin ? geoEscrowAbi : geoVaultAbi,
				functionName: "orderState" as const,
				args: [orderId] as const,
			})),
		});
		states.push(...some);
	}
	return orders.map(({ isOrigin }, i) => (isOrigin ? escrowEvents : vaultEvents)[states[i] ?? 0] ?? []);
}

/** Reads the events of these orders since they were quoted, and writes the missing ones. */
async function readAgain({
	chain,
	pool,
	orders,
	finalized,
	log,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	orders: readonly ComparedOrder[];
	finalized: { number: number };
	log: Log;
}): Promise<void> {
	const { chainId } = chain;
	const quotedAtMs = Math.min(...orders.map(({ swapId }) => swapUuidTimeMs(swapId)));
	const unixSeconds = quotedAtMs / 1_000 - maxClockLagSeconds;
	const fromBlock = await firstBlockAt(chain, { unixSeconds, upTo: finalized.number });
	const { Claimed, Withdrawn, ...topics } = moneyEventTopics();
	const added: EventInBlock[] = [];
	// One by one, because an order whose logs a node refuses must not hold up others.
	for (const orderId of new Set(orders.map((order) => order.orderId))) {
		const range = { fromBlock, toBlock: finalized.number };
		const read = await readEvents(chain, {
			...range,
			topics: Object.values(topics),
			subjects: [orderId],
			isSplit: isRefusal,
		}).catch((error: unknown) => {
			log.error({ chainId, orderId, reason: shortReason(error) }, "events of an order could not be read");
			return undefined;
		});
		const { events = [] } = read ?? {};
		added.push(...(await inTransaction(pool, (db) => applyLateEvents(db, { chain, events }))));
	}
	if (added.length > 0) {
		const told = added.map(({ name, orderId, transactionHash }) => ({ name, orderId, transactionHash }));
		log.error({ chainId, events: told }, "a node left events out of the logs of final blocks");
	}
}

/** Returns the first block that is not older than a time, by bisection. */
async function firstBlockAt(
	chain: EvmChain,
	{ unixSeconds, upTo }: { unixSeconds: number; upTo: number },
): Promise<number> {
	let [low, high] = [Math.min(chain.deployment.deployedAtBlock, upTo), upTo];
	while (low < high) {
		const middle = Math.floor((low + high) / 2);
		const { timestamp } = await readBlock(chain, middle);
		if (timestamp < unixSeconds) low = middle + 1;
		else high = middle;
	}
	return low;
}
