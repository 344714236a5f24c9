import { connectChain } from "../src/chain/evm/connect-chain.ts";
import { connectSolana } from "../src/chain/solana/connect-solana.ts";
import { evmWorkerChain, solanaWorkerChain, type WorkerChain } from "../src/process/connect-worker-chains.ts";
import { hideDeposits, honest, type Lie, misplaceDeposits } from "./lie.ts";
import { attesterNames, type ChainName, type ProviderName } from "./plan.ts";
import { createSimNode } from "./sim-node.ts";
import type { SimProcess } from "./sim-process.ts";
import type { SimSwap } from "./sim-swap.ts";
import type { World } from "./world.ts";
import type { createWorldRecord } from "./world-record.ts";

/**
 * Returns how processes of a world connect to its chains. Each connection goes through a node of its own, which fails or
 * lies as the world's troubles say.
 */
export function connectSimChains({
	chains,
	evm,
	solana,
	relayers,
	config,
	scheduler,
	random,
	troubles,
	figures,
	swaps,
	noteSent,
	tell,
}: Pick<
	World,
	| "chains"
	| "evm"
	| "solana"
	| "relayers"
	| "config"
	| "scheduler"
	| "random"
	| "troubles"
	| "figures"
	| "tell"
> & {
	swaps: () => readonly SimSwap[];
	noteSent: ReturnType<typeof createWorldRecord>["noteSent"];
}) {
	/**
	 * Each attester has one provider, and only the first attester's lies. Solana's first provider never lies to workers.
	 */
	const lieOf = (
		name: ChainName,
		of: "workers" | "attesters",
		process: SimProcess | undefined,
		provider: ProviderName,
	): Lie => {
		if (of === "attesters" && process?.name !== attesterNames[0]) return honest;
		if (of === "attesters" || provider === "second") return hideDeposits(name === "solana" ? name : "evm");
		return name === "solana" ? honest : misplaceDeposits(swaps);
	};
	const nodeOf = (
		name: ChainName,
		of: "workers" | "attesters",
		process: SimProcess | undefined,
		provider: ProviderName = "first",
	) =>
		createSimNode({
			chain: chains[name],
			process,
			scheduler,
			random,
			// An attester has one provider, regardless of which of the two the fault is for.
			faultOf: () =>
				troubles.rpc(name, of, provider) ??
				(of === "attesters" ? troubles.rpc(name, of, "second") : undefined),
			lie: lieOf(name, of, process, provider),
			twist: (...call) => (of === "workers" && name !== "solana" ? troubles.workerNodes : honest)(...call),
			figures,
			onBroadcast: (params) => {
				if (process) noteSent({ name, chain: chains[name], process: process.name, params });
				if (!process || !troubles.dieAtBroadcast.delete(process.name)) return;
				tell(process.name, "dies after a broadcast");
				process.die();
			},
		});
	const rpcUrl = "http://node.invalid";
	const bothOf = <T>(make: (name: "east" | "west") => T) => ({ east: make("east"), west: make("west") });
	const connectAll = (
		process: SimProcess | undefined,
		of: "workers" | "attesters",
		provider?: ProviderName,
	) => ({
		evm: bothOf((name) => {
			const { chainId, deployment } = evm[name];
			const transport = nodeOf(name, of, process, provider).evm;
			return connectChain({ chainId, rpcUrl, deployment, transport });
		}),
		solana: connectSolana({
			rpcUrl,
			deployment: solana.deployment,
			transport: nodeOf("solana", of, process, provider).solana,
		}),
	});
	/** Connects a worker through both providers of each chain. */
	const connectWorker = (process: SimProcess): WorkerChain[] => {
		const first = connectAll(process, "workers");
		const second = connectAll(process, "workers", "second");
		return config.chains.map((terms) => {
			if (terms.kind === "solana") {
				const { keys } = solana;
				return solanaWorkerChain({
					config: terms,
					chain: first.solana,
					keys,
					agreeing: [
						{ host: "first", chain: first.solana },
						{ host: "second", chain: second.solana },
					],
				});
			}
			const name = terms.chainId === evm.east.chainId ? "east" : "west";
			return evmWorkerChain({
				config: terms,
				chain: first.evm[name],
				accounts: relayers[name],
				agreeing: [
					{ host: "first", chain: first.evm[name] },
					{ host: "second", chain: second.evm[name] },
				],
			});
		});
	};
	return { nodeOf, connectAll, connectWorker };
}
