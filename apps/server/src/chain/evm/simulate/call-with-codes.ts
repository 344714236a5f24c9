import { type Address, type Hex, numberToHex } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import type { AccountCode, AccountSlot, SimulatedCall } from "./simulation.ts";

type AccountOverride = { code?: Hex; stateDiff?: Record<Hex, Hex> };

/**
 * Makes an `eth_call` while accounts have other code and storage. Unlike viem's `call`, throws the node's error as it
 * is.
 */
export function callWithCodes(
	{ client }: Pick<EvmChain, "client">,
	{ from, to, data, gas, slots = [] }: Pick<SimulatedCall, "from" | "to" | "data" | "gas" | "slots">,
	codes: readonly AccountCode[],
): Promise<Hex> {
	return client.request({
		method: "eth_call",
		params: [{ from, to, data, gas: numberToHex(gas) }, "latest", overridesOf(codes, slots)],
	});
}

/** Returns state overrides as nodes take them. */
export function overridesOf(
	codes: readonly AccountCode[],
	slots: readonly AccountSlot[],
): Record<Address, AccountOverride> {
	const overrides: Record<Address, AccountOverride> = {};
	for (const { address, code } of codes) overrides[address] = { code };
	for (const { address, slot, value } of slots) {
		const { stateDiff, ...rest } = overrides[address] ?? {};
		overrides[address] = { ...rest, stateDiff: { ...stateDiff, [slot]: value } };
	}
	return overrides;
}
