import type { Log } from "viem";
import type { EvmChain } from "../chain-client.ts";
import type { Simulate } from "./simulation.ts";

/** Returns a function that simulates by `eth_simulateV1`, which returns logs and the gas used. */
export function simulateBySimulateV1({ client }: Pick<EvmChain, "client">): Simulate {
	return async ({ from, to, data, gas, authorizationList, codes = [] }) => {
		const call = { account: from, to, data, gas };
		const [block] = await client.simulateBlocks({
			blocks: [
				{
					calls: [authorizationList ? { ...call, authorizationList } : call],
					stateOverrides: [...codes],
				},
			],
		});
		const result = block?.calls[0];
		if (!result) throw new Error("the chain returned no simulation");
		if (result.status !== "success") return { succeeds: false, data: result.data };
		return { succeeds: true, gasUsed: result.gasUsed, logs: (result.logs ?? []) as Log[] };
	};
}
