import type { Hex } from "viem";
import { attesterSetOfChain } from "../../config/chain-config.ts";
import { readConfig } from "../../config/read-config.ts";
import type { Database } from "../../database/database.ts";
import { readAsAuditor } from "../swaps/read-as-auditor.ts";

type ListedSet = {
	hash: Hex;
	attesters: readonly string[];
	threshold: number;
	isCurrent: boolean;
	unended: number;
};

/** Lists attester sets with the number of swaps that still need them. Returns the exit code: 3 if a retired set is needed. */
export async function attestersSetsCommand({
	config: path,
	json = false,
}: {
	config: string;
	json?: boolean;
}): Promise<number> {
	const config = readConfig(path);
	const current = config.chains.map(attesterSetOfChain);
	const counts = await readAsAuditor(countUnendedBySet);
	const known = new Map([...config.earlierAttesterSets, ...current].map((set) => [set.hash, set]));
	const sets = [...known.values()].map(
		({ hash, attesters, threshold }): ListedSet => ({
			hash,
			attesters,
			threshold,
			isCurrent: current.some((set) => set.hash === hash),
			unended: counts.get(hash) ?? 0,
		}),
	);
	for (const line of json ? [JSON.stringify(sets)] : sets.map(describe)) console.log(line);
	return sets.some(({ isCurrent, unended }) => !isCurrent && unended > 0) ? 3 : 0;
}

/** Counts the swaps that have not ended, by the hash of their order's attester set. */
async function countUnendedBySet(db: Database): Promise<Map<string, number>> {
	const { rows } = await db.query<{ set: string; count: number }>(
		`select order_terms->>'attesterSet' as set, count(*)::int as count
		from swaps where ended_at is null group by 1`,
	);
	return new Map(rows.map(({ set, count }) => [set, count]));
}

function describe({ hash, attesters, threshold, isCurrent, unended }: ListedSet): string {
	const state = isCurrent ? "current" : "retired";
	return `${hash}  ${state}  ${unended} swaps under way  ${threshold} of ${attesters.join(", ")}`;
}
