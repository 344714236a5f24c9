import type { ChainEntry, Deployment } from "@geoswap/protocol";
import { getChains } from "@geoswap/sdk";
import { type Call, openContext } from "../context.ts";
import type { Line } from "../output.ts";
import { isSameAddress, simplified } from "../pinned-assets.ts";

export async function chainsCommand(call: Call): Promise<void> {
	const { config, client, output } = await openContext(call);
	const { chains } = await getChains(client);
	const compared = chains.map((chain) => ({
		...chain,
		differs: differences(config.pins, chain),
		hasRpc: config.rpc[chain.chainId] !== undefined,
	}));
	await output.result(
		{ chains: compared },
		compared.flatMap((chain): Line[] => [
			`${String(chain.chainId).padEnd(10)} ${simplified(chain.name).padEnd(20)} ${chain.kind.padEnd(7)} ${liveness(chain)}`,
			...delegateLines(chain),
			...chain.differs.map((what): Line => ["", `DIFFERS from the deployment file: ${what}`]),
			...(chain.hasRpc
				? []
				: [["", "no endpoint; add one with geoswap init --rpc <chain>=<url>"] satisfies Line]),
		]),
	);
}

function delegateLines(chain: ChainEntry): Line[] {
	if (chain.kind !== "evm") return [];
	const { delegate, typedDelegate } = chain.contracts;
	return [
		["", `delegate ${delegate}`],
		["", `delegate for typed data only ${typedDelegate}`],
	];
}

/** A field of the service's response that differs from the pinned file. */
type Difference = { field: string; told: string; pinned: string };

/** Returns where the service's response differs from the pinned file. No swap is signed by that response. */
export function differences(
	pins: Deployment,
	chain: ChainEntry,
	describe = ({ field, told, pinned }: Difference) => `${field} is ${told}, not ${pinned}`,
): string[] {
	const pinned = pinnedFields(pins, chain);
	if (!pinned) return ["the file does not have this chain"];
	const told: Record<string, string> = { ...chain.contracts };
	const name = { field: "name", told: String(chain.name), pinned: pinned.name };
	const contracts = Object.entries(pinned.contracts)
		.map(([field, value]): Difference => ({ field, told: String(told[field]), pinned: value }))
		.filter((one) => !isSameAddress(chain.chainId, one.pinned, one.told));
	return [...(simplified(name.told) === simplified(name.pinned) ? [] : [name]), ...contracts].map(describe);
}

function pinnedFields(
	{ chains, solana }: Deployment,
	{ chainId, kind }: ChainEntry,
): { name: string; contracts: Record<string, string> } | undefined {
	if (kind === "solana") {
		if (solana?.chainId !== chainId) return undefined;
		const { name, program } = solana;
		return { name, contracts: { escrow: program.address, vault: program.vault } };
	}
	const pinned = chains.find((one) => one.chainId === chainId);
	if (!pinned) return undefined;
	const { delegate, typedDelegate, escrow, vault } = pinned.contracts;
	return {
		name: pinned.name,
		contracts: { delegate, typedDelegate, escrow, vault, attesterSet: pinned.attesterSet.hash },
	};
}

function liveness({ live, paused }: ChainEntry): string {
	return paused === undefined ? (live ? "live" : "not quoted now") : `paused: ${paused}`;
}
