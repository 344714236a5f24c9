import { type Address, bytesToHex } from "viem";
import type { Database } from "../database/database.ts";
import type { Engine } from "../durable/engine.ts";
import { laneTarget, roundTarget } from "../durable/poke-targets.ts";
import { isAnyDue } from "../swap/due/due-swaps.ts";

/** Pokes a round if swaps are due, and the lanes and attestations of the chain that have work. */
export async function wake({
	pool,
	engine,
	chainId,
	relayers,
	occasion,
}: {
	pool: Database;
	engine: Pick<Engine, "poke">;
	chainId: number;
	relayers: readonly Address[];
	/** A unique name for what happened. The engine takes one poke of a lane for each name. */
	occasion: string;
}): Promise<void> {
	const work = await readOpenWork(pool, chainId);
	const busy = work.hasQueued
		? relayers
		: relayers.filter((relayer) => work.relayers.has(relayer.toLowerCase()));
	await Promise.all([
		// This poke has no name, because during a run, a poke with the name of the one that started the run would be lost.
		...(work.isDue ? [engine.poke(roundTarget)] : []),
		...busy.map((relayer) => {
			const target = laneTarget({ chainId, relayer });
			return engine.poke(target, { dedupeKey: `${target.key}:${occasion}` });
		}),
		...(work.hasUnattested
			? [
					engine.poke(
						{ object: "attestation", key: String(chainId) },
						{ dedupeKey: `${chainId}:${occasion}` },
					),
				]
			: []),
	]);
}

type OpenWork = {
	/** True if a round has something to do. */
	isDue: boolean;
	/** True if jobs wait for any lane of the chain. */
	hasQueued: boolean;
	hasUnattested: boolean;
	/** The relayers with a transaction that is not mined, in lower case. */
	relayers: Set<string>;
};

/** Reads which work of this chain is not done yet, and whether swaps are due. */
async function readOpenWork(db: Database, chainId: number): Promise<OpenWork> {
	const { rows } = await db.query<{
		is_due: boolean;
		queued: boolean;
		unattested: boolean;
		relayers: Buffer[];
	}>(
		`select ${isAnyDue} as is_due, exists (select from jobs where chain_id = $1 and state = 'queued') as queued,
			exists (select from jobs where chain_id = $1 and state = 'unattested') as unattested,
			array(select distinct relayer from lane_transactions
				where chain_id = $1 and state in ('signed', 'broadcast')) as relayers`,
		[chainId],
	);
	const [row] = rows;
	return {
		isDue: row?.is_due ?? false,
		hasQueued: row?.queued ?? false,
		hasUnattested: row?.unattested ?? false,
		relayers: new Set(row?.relayers.map((relayer) => bytesToHex(relayer))),
	};
}
