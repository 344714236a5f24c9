import { type AttesterSet, attesterSetHash, type Deployment } from "@geoswap/protocol";
import type { Address } from "viem";
import { ConfigError } from "../../config/config-error.ts";

type HashedSet = Deployment["chains"][number]["attesterSet"];

/** A deployment with other attesters, and the sets that open orders still reference. */
type Replaced = { deployment: Deployment; retired: AttesterSet[] };

/**
 * Replaces an old attester by a new one in the set of every chain that has the old one, including Solana. Throws if
 * no chain has it, or if a set would contain the new one twice.
 */
export function replaceAttester(
	deployment: Deployment,
	{ from, to }: { from: Address; to: Address },
): Replaced {
	const retired = new Map<string, AttesterSet>();
	const replaceIn = <Entry extends { attesterSet: HashedSet }>(chainId: number, entry: Entry): Entry => {
		const { hash, ...set } = entry.attesterSet;
		if (!set.attesters.includes(from)) return entry;
		if (set.attesters.includes(to))
			throw new ConfigError("--new", `${to} is in the attester set of chain ${chainId} already`);
		retired.set(hash, set);
		const others = set.attesters.filter((attester) => attester !== from);
		const attesters = [...others, to].toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
		const changed = { threshold: set.threshold, attesters };
		return { ...entry, attesterSet: { ...changed, hash: attesterSetHash(changed) } };
	};
	const { solana } = deployment;
	const replaced = {
		...deployment,
		chains: deployment.chains.map((chain) => replaceIn(chain.chainId, chain)),
		...(solana && { solana: { ...solana, program: replaceIn(solana.chainId, solana.program) } }),
	};
	if (retired.size === 0) throw new ConfigError("--old", `${from} is in no chain's attester set`);
	return { deployment: replaced, retired: [...retired.values()] };
}
