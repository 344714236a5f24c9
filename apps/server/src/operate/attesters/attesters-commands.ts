import { existsSync } from "node:fs";
import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import { deploymentSchema, formatDeployment } from "@geoswap/protocol";
import { type Address, getAddress, type Hex, isAddress } from "viem";
import { attesterSetOfChain } from "../../config/chain-config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readConfig } from "../../config/read-config.ts";
import type { Database } from "../../database/database.ts";
import { writeWhole } from "../chain/config-file.ts";
import { readAsAuditor } from "../swaps/read-as-auditor.ts";
import { replaceAttester } from "./replace-attester.ts";

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

/** Writes the deployment file with the new attester, and prints the retired sets for `earlierAttesterSets`. */
export function attestersReplaceCommand({
	deployment: path,
	old,
	new: fresh,
	out,
	json = false,
}: {
	deployment: string;
	old: string;
	new: string;
	out: string;
	json?: boolean;
}): void {
	const addresses = { from: expectAddress("--old", old), to: expectAddress("--new", fresh) };
	const { deployment, retired } = replaceAttester(parseJsonFile(deploymentSchema, path), addresses);
	if (existsSync(out)) throw new ConfigError("--out", `${out} exists already; choose another name`);
	writeWhole(out, formatDeployment(deployment));
	const told = [
		`${out} has the new attester. Add these sets to earlierAttesterSets of the service, of each attester and of the`,
		`remote signer, until no swap under way names them:\n${JSON.stringify(retired, null, "\t")}`,
	];
	console.log(json ? JSON.stringify({ file: out, earlierAttesterSets: retired }) : told.join("\n"));
}

function expectAddress(option: string, text: string): Address {
	// Only the checksum reveals a wrong digit.
	if (!isAddress(text, { strict: true }) || getAddress(text) !== text)
		throw new ConfigError(option, `${text} is not an address with its checksum`);
	return text;
}
