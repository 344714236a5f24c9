import { setTimeout as sleep } from "node:timers/promises";
import type { DevnetChain } from "./devnet-chain.ts";

/** The last task queued for each chain, by its URL. Tasks run between blocks, one after the other. */
const turns = new Map<string, Promise<unknown>>();

/** Makes a block every `blockMs`. Returns a function that stops it. */
export function keepPace(chain: DevnetChain, blockMs: number): () => Promise<void> {
	const stopping = new AbortController();
	const done = keep();
	return async () => {
		stopping.abort();
		await done;
	};

	async function keep(): Promise<void> {
		let nextAt = performance.now();
		while (!stopping.signal.aborted) {
			// The chain may be about to stop. The next iteration tries again.
			await withoutBlocks(chain, () => chain.testClient.mine({ blocks: 1 })).catch(() => {});
			const now = performance.now();
			nextAt = Math.max(nextAt + blockMs, now);
			await sleep(nextAt - now, undefined, { signal: stopping.signal }).catch(() => {});
		}
	}
}

/**
 * Runs `work` while the chain makes no block. A node that receives a request to drop blocks while it makes one keeps
 * events that its state does not have.
 */
export async function withoutBlocks<T>({ rpcUrl }: DevnetChain, work: () => Promise<T>): Promise<T> {
	const before = turns.get(rpcUrl) ?? Promise.resolve();
	const turn = before.catch(() => {}).then(work);
	turns.set(rpcUrl, turn);
	return turn;
}
