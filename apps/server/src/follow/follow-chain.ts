import { setTimeout as sleep } from "node:timers/promises";
import { holdLeadership } from "../store/leadership.ts";
import { advance, type Following } from "./advance.ts";

/**
 * Follows a chain until the signal is aborted. Of all processes that do so, one at a time really does; when it ends,
 * another goes on where it was.
 */
export async function followChain({
	pollMs,
	onBlock,
	signal,
	...following
}: Following & {
	pollMs: number;
	/** After new blocks were taken in. */
	onBlock?: () => void;
	signal: AbortSignal;
}): Promise<void> {
	const { chain, pool, log } = following;
	const { chainId } = chain;
	while (!signal.aborted) {
		try {
			await holdLeadership(pool, { name: `follow:${chainId}` }, async (isHeld) => {
				log.info({ chainId }, "following the chain");
				while (!signal.aborted && isHeld()) {
					if (await advance(following)) onBlock?.();
					else await pause();
				}
			});
		} catch (error) {
			log.error({ chainId, err: error }, "following the chain failed; it is tried again");
		}
		await pause();
	}

	async function pause(): Promise<void> {
		await sleep(pollMs, undefined, { signal }).catch(() => {});
	}
}
