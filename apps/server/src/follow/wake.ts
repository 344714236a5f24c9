import type { Address } from "viem";
import type { Database } from "../database/database.ts";
import type { Engine } from "../durable/engine.ts";
import { laneTarget, roundTarget } from "../durable/poke-targets.ts";
import { readOpenWork } from "./open-work.ts";

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
		// This poke has no name: during a run, a poke with the name of the one that started the run would be lost.
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
