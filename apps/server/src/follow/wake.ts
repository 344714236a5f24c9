import type { Address, Hex } from "viem";
import type { Engine } from "../durable/durable.ts";
import type { Database } from "../store/database.ts";
import { clearSignals, readDueSignals } from "../store/due-signals.ts";
import { readOpenWork } from "../store/open-work.ts";

const signalsAtOnce = 200;

/** Raises the signals of those who wait for what happened, and pokes the lanes and attestations that have work. */
export async function wake({
	pool,
	engine,
	chainId,
	relayers,
	occasion,
	orderIds,
}: {
	pool: Database;
	engine: Engine;
	chainId: number;
	relayers: readonly Address[];
	/** What happened, by a name that nothing else has: one poke for each is enough. */
	occasion: string;
	orderIds: readonly Hex[];
}): Promise<void> {
	const due = await readDueSignals(pool, { chainId, orderIds });
	for (let i = 0; i < due.length; i += signalsAtOnce) {
		const some = due.slice(i, i + signalsAtOnce);
		await Promise.all(some.map((signalId) => engine.raise(signalId)));
		await clearSignals(pool, some);
	}

	const work = await readOpenWork(pool, chainId);
	const busy = work.hasQueued
		? relayers
		: relayers.filter((relayer) => work.relayers.has(relayer.toLowerCase()));
	await Promise.all([
		...busy.map((relayer) => {
			const key = `${chainId}:${relayer.toLowerCase()}`;
			return engine.poke({ object: "lane", key }, { dedupeKey: `${key}:${occasion}` });
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
