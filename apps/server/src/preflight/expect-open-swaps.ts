import { addressOfWord, formatAddress, ourContracts, toSolanaWord, toWord } from "@geoswap/protocol";
import { getAddress, type Hex } from "viem";
import type { ChainConfig } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Database } from "../database/database.ts";
import { attesterSetOf } from "../swap/decide/swap-policy.ts";

/** The kinds of contracts, attester sets and tokens that a swap's order or op can contain. */
type Part = "escrow" | "vault" | "delegate" | "attester set" | "token";
/** A part that open swaps name, or one of their chains, and the number of these swaps. */
type Needed = { chain: string; swaps: number } & ({ part: Part; name: Hex } | { part: "chain"; name: "" });
type Listing = Pick<Config, "chains" | "deployment" | "earlierAttesterSets">;

/**
 * Throws if the configuration lacks a contract or an attester set that open swaps name, because they could not end
 * without it. A worker also needs their chains and tokens. An API starts without these, because that is how an
 * operator stops quotes of a chain or a token while its open swaps continue.
 */
export async function expectOpenSwaps(
	db: Database,
	config: Listing,
	{ role }: { role: "api" | "worker" },
): Promise<void> {
	const problems = (await readNeeded(db))
		.filter(({ part }) => role === "worker" || (part !== "chain" && part !== "token"))
		.flatMap((needed) => problemOf(needed, config));
	if (problems.length > 0) throw new ConfigError("the configuration", problems.join("\n"));
}

async function readNeeded(db: Database): Promise<Needed[]> {
	const { rows } = await db.query<Needed>(
		`select part, chain, lower(name) as name, count(distinct s.id)::int as swaps
		from swaps s cross join lateral (values
			('chain', s.order_terms->>'originChainId', ''),
			('chain', s.order_terms->>'destinationChainId', ''),
			('escrow', s.order_terms->>'originChainId', s.order_terms->>'escrow'),
			('vault', s.order_terms->>'originChainId', s.order_terms->>'originVault'),
			('vault', s.order_terms->>'destinationChainId', s.order_terms->>'destinationVault'),
			('delegate', s.order_terms->>'originChainId', s.op->>'delegate'),
			('attester set', s.order_terms->>'originChainId', s.order_terms->>'attesterSet'),
			('token', s.order_terms->>'originChainId', s.order_terms->>'inputToken'),
			('token', s.order_terms->>'destinationChainId', s.order_terms->>'outputToken')
		) as needed (part, chain, name)
		where s.ended_at is null and name is not null
		group by part, chain, lower(name) order by chain, part, lower(name)`,
	);
	return rows;
}

/** Returns what to do about a missing part, as a list of one. The list is empty if nothing is missing. */
function problemOf({ part, chain: id, name, swaps }: Needed, config: Listing): string[] {
	const chain = config.chains.find(({ chainId }) => String(chainId) === id);
	const open = swaps === 1 ? "1 open swap needs" : `${swaps} open swaps need`;
	const waiting = "or keep the earlier files until they have ended";
	if (part === "chain")
		return chain ? [] : [`${open} chain ${id}, which is not configured; put it back, ${waiting}`];
	// A chain that is missing as a whole is reported separately.
	if (!chain) return [];
	const isListed =
		part === "attester set"
			? attesterSetOf(config, name) !== undefined
			: namesOn(chain)[part].some((one) => one.toLowerCase() === name);
	if (isListed) return [];
	const written = describe(name, { part, id });
	return [
		`${open} the ${part} ${written} of chain ${id}, which is not listed; put it into ${listOf(part, chain)}, ${waiting}`,
	];
}

/** Returns the contracts and tokens that are listed on a chain, in the form in which swaps name them. */
function namesOn(chain: ChainConfig): Record<Exclude<Part, "attester set">, readonly Hex[]> {
	if (chain.kind === "solana") {
		const { program, assets } = chain.deployment;
		return {
			escrow: [toSolanaWord(program.address)],
			vault: [toSolanaWord(program.vault)],
			// An op on Solana names no delegate.
			delegate: [],
			token: assets.map(({ address }) => toSolanaWord(address)),
		};
	}
	const { contracts, assets } = chain.deployment;
	const { escrows, vaults } = ourContracts(chain.deployment);
	return {
		escrow: escrows.map(toWord),
		vault: vaults.map(toWord),
		delegate: [contracts.delegate, contracts.typedDelegate, ...contracts.earlierDelegates],
		token: assets.map(({ address }) => toWord(address)),
	};
}

/** Returns where to list a part that must be kept for open swaps. */
function listOf(part: Part, { kind }: ChainConfig): string {
	if (part === "attester set") return "earlierAttesterSets";
	if (part === "token") return "the assets of the deployment file";
	if (kind === "solana") return "solana.program of the deployment file";
	const lists = { delegate: "earlierDelegates", escrow: "earlierEscrows", vault: "earlierVaults" };
	return `${lists[part]} of the deployment file`;
}

/**
 * Formats a hash unchanged, and an address in its chain's notation. Ops contain addresses, and orders contain words.
 */
function describe(name: Hex, { part, id }: { part: Part; id: string }): string {
	if (part === "attester set") return name;
	if (part === "delegate") return getAddress(name);
	const chainId = Number(id);
	return formatAddress(chainId, addressOfWord(chainId, name));
}
