import type { Milliseconds, Seconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Database } from "../../database/database.ts";
import { type Pause, readPauses } from "./pauses.ts";

/** A cache of what must not be sold, as it was a moment ago: paused chains, and those that no worker follows. */
export type PauseList = {
	/**
	 * Returns why nothing is sold from or to the chain, or of the token there if one is given; undefined if it is sold.
	 * Reads only memory.
	 */
	reasonOf(chainId: number, token?: Hex): string | undefined;
	/** Returns undefined until the pauses were read once. */
	open(): readonly Pause[] | undefined;
	close(): Promise<void>;
};

const readEveryMs = 1_000;

/**
 * Time after which a chain counts as abandoned. A worker that is replaced or killed has a successor long before, and
 * swaps that are submitted meanwhile are only late.
 */
const unfollowedSeconds = 120;

/**
 * Reads once a second what must not be sold. While the database does not answer, the last result stands. Until the
 * first result, every chain counts as paused, since one may be.
 */
export async function createPauseList({
	db,
	everyMs = readEveryMs,
	onError = () => {},
}: {
	db: Database;
	everyMs?: Milliseconds;
	onError?: (error: unknown) => void;
}): Promise<PauseList> {
	let known: { pauses: Pause[]; followed: ReadonlyMap<number, FollowedChain> } | undefined;
	let reading: Promise<void> | undefined;
	async function read(): Promise<void> {
		try {
			const [pauses, followed] = await Promise.all([readPauses(db), readFollowed(db)]);
			known = { pauses, followed: new Map(followed.map((chain) => [chain.chainId, chain])) };
		} catch (error) {
			onError(error);
		}
	}
	await read();
	const timer = setInterval(() => {
		// One read at a time, so that a database that hangs gets no more queries.
		reading ??= read().finally(() => {
			reading = undefined;
		});
	}, everyMs);
	return {
		reasonOf: (chainId, token) => {
			if (!known) return "it is not known yet whether the chain is paused";
			const paused = known.pauses.find((pause) => pause.chainId === chainId)?.reason;
			return paused ?? unfollowedReason(known.followed.get(chainId), token);
		},
		open: () => known?.pauses,
		async close() {
			clearInterval(timer);
			await reading;
		},
	};
}

/**
 * Returns why nothing is sold where no worker works on a swap, which would only expire. A worker may be configured
 * later than the API, or not at all.
 */
function unfollowedReason(chain: FollowedChain | undefined, token: Hex | undefined): string | undefined {
	// A worker that has just begun to follow a chain has not read the vault's inventory yet.
	if (!chain || chain.tokens.length === 0) return "no worker has followed the chain yet";
	if (chain.ageSeconds > unfollowedSeconds) {
		return `no worker has followed the chain for ${Math.round(chain.ageSeconds)} s`;
	}
	// Deposits in that block would be noticed late.
	if (chain.isUnread) return "a block of the chain could not be read yet";
	const isKnown = token === undefined || chain.tokens.includes(token.toLowerCase() as Hex);
	return isKnown ? undefined : "no worker has followed this token yet";
}

/** A chain that a worker has followed, as the database has it. */
export type FollowedChain = {
	chainId: number;
	/** Time since a worker last applied news of the chain, by the database's clock. */
	ageSeconds: Seconds;
	/** True if events of orders of undecided swaps may be missing. */
	isUnread: boolean;
	/** The tokens whose inventory in the vault a worker has read, in lower case. */
	tokens: Hex[];
};

export async function readFollowed(db: Database): Promise<FollowedChain[]> {
	const { rows } = await db.query<FollowedChain>(
		`select chain_id as "chainId", extract(epoch from clock_timestamp() - updated_at)::float8 as "ageSeconds",
			exists (select from unread_blocks u where u.chain_id = chain_heads.chain_id and not u.is_partial) or unseen_orders <> '{}' as "isUnread",
			array(select '0x' || encode(token, 'hex') from inventory where inventory.chain_id = chain_heads.chain_id) as tokens
		from chain_heads`,
	);
	return rows;
}
