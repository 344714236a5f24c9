import { geoAccountAbi } from "@geoswap/protocol";
import { type Address, decodeAbiParameters, encodeFunctionResult, type Hex, zeroAddress } from "viem";
import { decodeCall, type EvmContract, lower, Revert, revertWith } from "./evm-call.ts";
import { recoverPackedSigner } from "./recover-signer.ts";

const batchParameters = [
	{
		type: "tuple[]",
		components: [
			{ name: "to", type: "address" },
			{ name: "value", type: "uint256" },
			{ name: "data", type: "bytes" },
		],
	},
] as const;

const selectors = new Set<string>(["0xe9ae5c53", "0x1626ba7e"]);

/**
 * GeoAccount as the code of a wallet that is delegated to it. Checking the op's signature is left to the EntryPoint.
 */
export function createSimAccount({ entryPoint }: { entryPoint: Address }): EvmContract {
	return (context, { from, to: wallet, data }) => {
		// It accepts any unknown call and does nothing, like a wallet without code.
		if (!selectors.has(data.slice(0, 10))) return "0x";
		const call = decodeCall(geoAccountAbi, data);
		if (call.functionName === "isValidSignature") {
			const isValid = recoverPackedSigner(...call.args) === wallet;
			return encodeFunctionResult({
				abi: geoAccountAbi,
				functionName: "isValidSignature",
				result: isValid ? "0x1626ba7e" : "0xffffffff",
			});
		}
		if (call.functionName !== "execute") throw new Revert();
		if (from !== lower(entryPoint) && from !== wallet) {
			throw revertWith(geoAccountAbi, "AccountUnauthorized", [from]);
		}
		const [mode, executionData] = call.args;
		// The mode is a batch that reverts as a whole; bytes 2 to 5 and after 10 are ignored.
		if (!mode.startsWith("0x0100") || mode.slice(14, 22) !== "00000000") {
			throw revertWith(geoAccountAbi, "UnsupportedExecutionMode");
		}
		for (const { to, value, data: inner } of decodeBatch(executionData)) {
			context.gas.used += 3_000n;
			const target = to === zeroAddress ? wallet : lower(to);
			try {
				context.call({ from: wallet, to: target, value, data: inner });
			} catch (error) {
				const isSilent = error instanceof Revert && error.data === "0x";
				throw isSilent ? revertWith(geoAccountAbi, "FailedCall") : error;
			}
		}
		return "0x";
	};
}

const batches = new Map<Hex, readonly { to: Address; value: bigint; data: Hex }[]>();

function decodeBatch(executionData: Hex): readonly { to: Address; value: bigint; data: Hex }[] {
	const known = batches.get(executionData);
	if (known) return known;
	try {
		const [calls] = decodeAbiParameters(batchParameters, executionData);
		if (batches.size >= 2_000) batches.clear();
		batches.set(executionData, calls);
		return calls;
	} catch {
		throw new Revert();
	}
}
