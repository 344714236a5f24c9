import { setTimeout as sleep } from "node:timers/promises";
import type { TestChain } from "@geoswap/devnet";
import { type Hex, hexToBytes } from "viem";
import type { DatabaseConnection } from "../environment/connect-database.ts";
import { type OrderEventLog, readOrderEvents, reorganize } from "./reorganize.ts";
import type { SeededRandom } from "./seeded-random.ts";

type DroppedEvent = OrderEventLog & {
	chainId: number;
	/** The swap's status, as reported to callers, when the event was dropped. */
	status: string;
};

export type Storm = { reorgs: { chainId: number; depth: number }[]; dropped: DroppedEvent[] };

const reorgsInAStorm = 20;

/**
 * Reorgs the chains at random moments, to a random depth above the final block, until it is over. Some of the dropped
 * transactions are in the new fork, later than they were, and some are gone.
 */
export async function stormChains(
	storm: Storm,
	{
		chains,
		floors,
		database,
		random,
		calmMs,
		isOver,
	}: {
		chains: readonly TestChain[];
		/** Block numbers by chain id. Blocks up to there are never dropped, final or not. */
		floors: ReadonlyMap<number, number>;
		database: DatabaseConnection;
		random: SeededRandom;
		/** Pause between two storms. In an endless storm nothing would ever be final. */
		calmMs: number;
		/** Called after each storm. */
		isOver: () => boolean;
	},
): Promise<void> {
	for (let count = 1; ; count++) {
		await sleep(random.between(200, 1_500));
		const chain = random.pick(chains);
		if (!chain) throw new Error("there are chains");
		const { publicClient, chainId } = chain;
		const [latest, finalized] = await Promise.all(
			(["latest", "finalized"] as const).map(async (blockTag) =>
				Number((await publicClient.getBlock({ blockTag })).number),
			),
		);
		if (latest === undefined || finalized === undefined) throw new Error("a chain has blocks");
		const floor = Math.max(finalized, floors.get(chainId) ?? 0);
		const deepest = latest - floor;
		if (deepest < 1) continue;
		const depth = Math.min(deepest, await chooseDepth({ chain, latest, floor, random }));
		const share = random.pick([0, 0.5, 0.9]) ?? 0;
		let inForkBlock = 0;
		const dropped = await reorganize(chain, {
			firstDropped: (newest) => newest - depth + 1,
			fate: () => {
				// The order is kept, because a transaction before the one with the next lower nonce would be dropped.
				inForkBlock = random.between(inForkBlock, depth - 1);
				return random.chance(share) ? { inForkBlock } : "gone";
			},
		});
		storm.reorgs.push({ chainId, depth });
		const statuses = await readStatuses(database, dropped);
		storm.dropped.push(
			...dropped.map((event) => ({ ...event, chainId, status: statuses.get(event.orderId) ?? "none" })),
		);
		if (count % reorgsInAStorm !== 0) continue;
		if (isOver()) return;
		await sleep(calmMs);
	}
}

/**
 * Chooses a depth. Half of the reorgs aim at an event of an order; most of the others are shallow, as on real chains.
 */
async function chooseDepth({
	chain,
	latest,
	floor,
	random,
}: {
	chain: TestChain;
	latest: number;
	floor: number;
	random: SeededRandom;
}): Promise<number> {
	if (random.chance(0.5)) {
		const events = await readOrderEvents(chain, floor + 1);
		const names = [...new Set(events.map(({ name }) => name))];
		const name = random.pick(names);
		const aim = random.pick(events.filter((event) => event.name === name));
		if (aim) return latest - aim.blockNumber + 1;
	}
	return random.chance(0.7) ? random.between(1, 6) : random.between(1, latest - floor);
}

async function readStatuses(
	database: DatabaseConnection,
	dropped: readonly OrderEventLog[],
): Promise<Map<Hex, string>> {
	if (dropped.length === 0) return new Map();
	const rows = await database.query<{ order_id: string; status: string }>(
		"select '0x' || encode(order_id, 'hex') as order_id, status from swaps where order_id = any($1)",
		[dropped.map(({ orderId }) => hexToBytes(orderId))],
	);
	return new Map(rows.map(({ order_id, status }) => [order_id as Hex, status]));
}
