import { keepFollowing } from "../keep-following.ts";
import { advance, type Following } from "./advance.ts";

/** Follows a chain until the signal is aborted. */
export async function followChain({
	pollMs,
	onBlock,
	signal,
	...following
}: Following & {
	pollMs: number;
	/** Called after new blocks were taken in. */
	onBlock?: () => void;
	signal: AbortSignal;
}): Promise<void> {
	const { chain, pool, log } = following;
	await keepFollowing({
		chainId: chain.chainId,
		pool,
		follower: () => {
			const taken = {};
			return async () => {
				const isNew = await advance({ ...following, taken });
				if (isNew) onBlock?.();
				return isNew;
			};
		},
		pollMs,
		log,
		signal,
	});
}
