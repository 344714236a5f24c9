import { geoVaultAbi } from "@geoswap/protocol";
import { type Address, encodeFunctionData, zeroAddress } from "viem";
import type { Call } from "./send-as.ts";

/** The kinds of caps on what a treasurer's key can do, as the vault numbers them. */
const capKinds = { trade: 1, send: 2, bridge: 3 } as const;

/** Returns the call with which a member of CONFIG sets one of a vault's caps. */
export function setCap(
	vault: Address,
	{
		kind,
		token,
		to = zeroAddress,
		perHour,
	}: { kind: keyof typeof capKinds; token: Address; to?: Address; perHour: bigint },
): Call {
	const args = [capKinds[kind], token, to, perHour] as const;
	return { to: vault, data: encodeFunctionData({ abi: geoVaultAbi, functionName: "setCap", args }) };
}
