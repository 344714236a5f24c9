import { encodeFunctionResult, type Hex, multicall3Abi, parseAbi, zeroAddress } from "viem";
import { decodeCall, type EvmContract, lower, Revert, revertWith } from "./evm-call.ts";
import { stateKey } from "./state-overlay.ts";

const errorAbi = parseAbi(["error Error(string)"]);

/** Multicall3, as far as viem and we use it. */
export const simMulticall: EvmContract = (context, { to: self, data }) => {
	const call = decodeCall(multicall3Abi, data);
	switch (call.functionName) {
		case "aggregate3": {
			const [calls] = call.args;
			const result = calls.map(({ target, allowFailure, callData }) => {
				try {
					const returnData = context.call({ from: self, to: lower(target), value: 0n, data: callData });
					return { success: true, returnData };
				} catch (error) {
					if (!(error instanceof Revert)) throw error;
					if (!allowFailure) throw revertWith(errorAbi, "Error", ["Multicall3: call failed"]);
					return { success: false, returnData: error.data };
				}
			});
			return encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result });
		}
		case "getEthBalance":
			return word(context.state.number(stateKey.balance(zeroAddress, lower(call.args[0]))));
		case "getCurrentBlockTimestamp":
			return word(context.timestamp);
		default:
			throw new Revert();
	}
};

function word(value: bigint): Hex {
	return `0x${value.toString(16).padStart(64, "0")}`;
}
