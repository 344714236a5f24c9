import { type Hex, numberToHex } from "viem";
import type { EvmChain } from "../chain-client.ts";
import type { AccountCode, SimulatedCall } from "./simulation.ts";

/** Makes an `eth_call` while accounts have other code. Unlike viem's `call`, throws the node's error as it is. */
export function callWithCodes(
	{ client }: Pick<EvmChain, "client">,
	{ from, to, data, gas }: Pick<SimulatedCall, "from" | "to" | "data" | "gas">,
	codes: readonly AccountCode[],
): Promise<Hex> {
	return client.request({
		method: "eth_call",
		params: [{ from, to, data, gas: numberToHex(gas) }, "latest", overridesOf(codes)],
	});
}

/** Returns state overrides as nodes take them. */
export function overridesOf(codes: readonly AccountCode[]): Record<Hex, { code: Hex }> {
	return Object.fromEntries(codes.map(({ address, code }) => [address, { code }]));
}
