import type { Address, Hex, Log, StateOverride } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { overridesOf } from "./call-with-codes.ts";
import type { AccountCode, AccountSlot, Simulate } from "./simulation.ts";

/** Returns a function that simulates by `eth_simulateV1`, which returns logs and the gas used. */
export function simulateBySimulateV1({ client }: Pick<EvmChain, "client">): Simulate {
	return async ({ from, to, data, gas, authorizationList, codes = [], slots = [] }) => {
		const call = { account: from, to, data, gas };
		const [block] = await client.simulateBlocks({
			blocks: [
				{
					calls: [authorizationList ? { ...call, authorizationList } : call],
					stateOverrides: overridesByAccount(codes, slots),
				},
			],
		});
		const result = block?.calls[0];
		if (!result) throw new Error("the chain returned no simulation");
		if (result.status !== "success") return { succeeds: false, data: result.data };
		return { succeeds: true, gasUsed: result.gasUsed, logs: (result.logs ?? []) as Log[] };
	};
}

function overridesByAccount(codes: readonly AccountCode[], slots: readonly AccountSlot[]): StateOverride {
	return Object.entries(overridesOf(codes, slots)).map(([address, { code, stateDiff }]) => ({
		address: address as Address,
		...(code && { code }),
		...(stateDiff && {
			stateDiff: Object.entries(stateDiff).map(([slot, value]) => ({ slot: slot as Hex, value })),
		}),
	}));
}
