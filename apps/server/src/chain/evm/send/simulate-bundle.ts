import { geoEscrowAbi, geoVaultAbi } from "@geoswap/protocol";
import { type Address, decodeErrorResult, type Hex, type Log, type SignedAuthorization } from "viem";
import { entryPoint09Abi } from "viem/account-abstraction";
import type { EvmChain } from "../chain-client.ts";
import { type ContractEvent, decodeEvents } from "../read/decode-events.ts";

/** The most gas that one transaction may have. */
export const maxTransactionGas = 2n ** 24n;

export type BundleSimulation =
	| { succeeds: true; gasUsed: bigint; events: ContractEvent[] }
	/** `opIndex` is set if the EntryPoint says which op it refused. */
	| { succeeds: false; reason: string; opIndex: number | undefined };

/**
 * Simulates a transaction on the chain as it is now. Only its events show what was done: the transaction succeeds even
 * if an op or an item of a batch fails.
 */
export async function simulateBundle(
	{ client, deployment }: EvmChain,
	{
		from,
		to,
		data,
		authorizationList,
	}: { from: Address; to: Address; data: Hex; authorizationList?: SignedAuthorization[] | undefined },
): Promise<BundleSimulation> {
	const call = { account: from, to, data, gas: maxTransactionGas };
	const [block] = await client.simulateBlocks({
		blocks: [{ calls: [authorizationList ? { ...call, authorizationList } : call] }],
	});
	const result = block?.calls[0];
	if (!result) throw new Error("the chain returned no simulation");
	if (result.status !== "success") return { succeeds: false, ...refusal(result.data) };
	const logs = (result.logs ?? []) as Log<bigint, number, false>[];
	return { succeeds: true, gasUsed: result.gasUsed, events: decodeEvents(deployment, logs) };
}

const errorAbi = [...entryPoint09Abi, ...geoVaultAbi, ...geoEscrowAbi];

function refusal(data: Hex): { reason: string; opIndex: number | undefined } {
	try {
		const { errorName, args } = decodeErrorResult({ abi: errorAbi, data });
		if (errorName !== "FailedOp" && errorName !== "FailedOpWithRevert") {
			return { reason: errorName, opIndex: undefined };
		}
		const [opIndex, reason] = args as readonly [bigint, string];
		return { reason, opIndex: Number(opIndex) };
	} catch {
		return { reason: data === "0x" ? "reverted without a reason" : data.slice(0, 10), opIndex: undefined };
	}
}
