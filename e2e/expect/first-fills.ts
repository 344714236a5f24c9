import { setTimeout as sleep } from "node:timers/promises";
import type { TestChain } from "@geoswap/devnet";
import type { Hex } from "viem";
import { readOrderEvents } from "../trouble/reorganize.ts";

/**
 * State of the origin chain when a delivery was first observed: the deposit's block, the latest and the finalized one.
 */
type FirstFill = { opened: number; latest: number; finalized: number };

const lookEveryMs = 100;

/** Watches deliveries from each of two chains to the other, and the deposits they were made against. */
export function watchFirstFills(chains: readonly [TestChain, TestChain]): {
	seen: ReadonlyMap<Hex, FirstFill>;
	stop: () => Promise<void>;
} {
	const seen = new Map<Hex, FirstFill>();
	let isOver = false;
	const watching = (async () => {
		while (!isOver) {
			// Deliveries are read first, so that the deposits behind them were there before.
			const filled = (await Promise.all(chains.map((chain) => readOrderEvents(chain, 0)))).map((events) =>
				events.filter(({ name }) => name === "Filled"),
			);
			for (const [i, origin] of chains.entries()) {
				const [opened, latest, finalized] = await Promise.all([
					readOrderEvents(origin, 0),
					...(["latest", "finalized"] as const).map((blockTag) => origin.publicClient.getBlock({ blockTag })),
				]);
				for (const { orderId } of filled[1 - i] ?? []) {
					const deposit = opened.find((event) => event.name === "Opened" && event.orderId === orderId);
					if (!deposit || seen.has(orderId)) continue;
					seen.set(orderId, {
						opened: deposit.blockNumber,
						latest: Number(latest?.number),
						finalized: Number(finalized?.number),
					});
				}
			}
			await sleep(lookEveryMs);
		}
	})();
	return {
		seen,
		stop: async () => {
			isOver = true;
			await watching;
		},
	};
}
