import { createPublicClient, http, type PublicClient } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import {
	probeSimulation,
	type SimulationMethod,
	simulationMethods,
} from "../../chain/evm/simulate/find-simulator.ts";
import { sayWhy } from "../check/finding.ts";
import type { Fact } from "./fact.ts";

/** An ability of a node, named by its method if it is one. */
type NodeMethod = SimulationMethod | "eth_feeHistory" | "finalized" | "batch";

export type MethodFacts = Record<NodeMethod, Fact<boolean>>;

/** The best method to simulate with, if the node has one. */
export type SimulationFact = Fact<{ method: SimulationMethod; takesAuthorizations: boolean } | undefined>;

type Asked = Pick<EvmChain, "chainId"> & { client: PublicClient; url: string };

/** Tries each method that the service uses and that not every node has. */
export async function probeMethods({ url, ...node }: Asked): Promise<{
	methods: MethodFacts;
	simulation: SimulationFact;
}> {
	const { client } = node;
	const simulating = {} as Record<SimulationMethod, Fact<boolean>>;
	let simulation: SimulationFact = { value: undefined, how: "the node has no method to simulate by" };
	for (const method of simulationMethods) {
		const probed = await probeSimulation(node as Pick<EvmChain, "chainId" | "client">, method).catch(
			(error: unknown) => ({ reason: sayWhy(error) }),
		);
		if ("reason" in probed) {
			simulating[method] = { value: false, how: probed.reason };
			continue;
		}
		simulating[method] = { value: true, how: "ran code that was set by state override" };
		const { takesAuthorizations } = probed;
		if (!simulation.value) {
			const how = `the first that works of ${simulationMethods.join(", ")}`;
			simulation = { value: { method, takesAuthorizations }, how };
		}
	}
	const methods: MethodFacts = {
		...simulating,
		eth_feeHistory: await answers(() => client.getFeeHistory({ blockCount: 4, rewardPercentiles: [20] })),
		finalized: await answers(() => client.getBlock({ blockTag: "finalized" })),
		batch: await answers(() => askInOneRequest(url)),
	};
	return { methods, simulation };
}

async function answers(ask: () => Promise<unknown>): Promise<Fact<boolean>> {
	try {
		await ask();
		return { value: true, how: "the node answered" };
	} catch (error) {
		return { value: false, how: sayWhy(error) };
	}
}

/** viem sends calls made in the same moment as one request. */
async function askInOneRequest(url: string): Promise<void> {
	const client = createPublicClient({ transport: http(url, { batch: { batchSize: 2 }, retryCount: 0 }) });
	await Promise.all([client.getChainId(), client.getBlockNumber({ cacheTime: 0 })]);
}
