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

/** Returns where the service's response differs from the pinned file. No swap is signed by that response. */
function differences({ chains, solana }: Deployment, chain: ChainEntry): string[] {
	if (chain.kind === "solana") {
		return solana?.chainId === chain.chainId
			? differing(chain.chainId, chain.contracts, {
					escrow: solana.program.address,
					vault: solana.program.vault,
				})
			: ["the file does not have this chain"];
	}
	const pinned = chains.find(({ chainId }) => chainId === chain.chainId);
	if (!pinned) return ["the file does not have this chain"];
	const { delegate, typedDelegate, escrow, vault } = pinned.contracts;
	return differing(chain.chainId, chain.contracts, {
		delegate,
		typedDelegate,
		escrow,
		vault,
		attesterSet: pinned.attesterSet.hash,
	});
}

function differing(chainId: number, told: Record<string, string>, pinned: Record<string, string>): string[] {
	return Object.entries(pinned)
		.filter(([field, value]) => !isSameAddress(chainId, value, String(told[field])))
		.map(([field, value]) => `${field} is ${told[field]}, not ${value}`);
}

function liveness({ live, paused }: ChainEntry): string {
	return paused === undefined ? (live ? "live" : "not quoted now") : `paused: ${paused}`;
}
