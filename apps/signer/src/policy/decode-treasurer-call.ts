import { geoVaultAbi } from "@geoswap/protocol";
import {
	type Abi,
	type Address,
	decodeAbiParameters,
	decodeFunctionData,
	encodeAbiParameters,
	encodeFunctionData,
	type Hex,
	parseAbi,
} from "viem";
import { Refusal, refuse } from "./refusal.ts";

/** What a call moves out of the vault. The vault makes each move id once. */
type Moved = { moveId: Hex; token: Address; amount: bigint };

/** A call that the lane of a treasurer makes. */
export type TreasurerCall =
	| (Moved & { kind: "trade"; toToken: Address; minOut: bigint; poolFee: number; secondPoolFee: number })
	| (Moved & { kind: "send"; to: Address })
	| (Moved & { kind: "bridge"; route: Address; maxFee: bigint })
	/** Has Circle's contract mint what was burned on another chain. The message says to whom, and Circle signs it. */
	| { kind: "mint" };

const abi = [
	...geoVaultAbi,
	...parseAbi(["function receiveMessage(bytes message, bytes attestation) returns (bool)"]),
];

/** Returns the call that a treasurer makes. Refuses calls that no lane makes, or that a lane encodes differently. */
export function decodeTreasurerCall(data: Hex): TreasurerCall {
	try {
		const { functionName, args } = decodeFunctionData({ abi, data });
		// Bytes that the decoder skips, such as a tail or a pointer into another argument, are not in its result.
		expectSame(encodeFunctionData({ abi: abi as Abi, functionName, args }), data);
		switch (functionName) {
			case "trade": {
				const [moveId, token, toToken, amount, minOut, poolFee, secondPoolFee] = args;
				return { kind: "trade", moveId, token, toToken, amount, minOut, poolFee, secondPoolFee };
			}
			case "send": {
				const [moveId, token, to, amount] = args;
				return { kind: "send", moveId, token, to, amount };
			}
			case "bridge": {
				const [moveId, token, route, amount, burn] = args;
				return { kind: "bridge", moveId, token, route, amount, ...decodeBurn(burn) };
			}
			case "receiveMessage":
				return { kind: "mint" };
			default:
				return refuse("malformed", `no lane of a treasurer calls ${functionName}`);
		}
	} catch (error) {
		if (error instanceof Refusal) throw error;
		return refuse("malformed", `the call ${data.slice(0, 10)} is none that a treasurer's lane makes`);
	}
}

/** What a bridge hands to its route: the maximum fee, and how final the burn must be. */
const burnTypes = [{ type: "uint256" }, { type: "uint32" }] as const;

function decodeBurn(burn: Hex): { maxFee: bigint } {
	const terms = decodeAbiParameters(burnTypes, burn);
	expectSame(encodeAbiParameters(burnTypes, terms), burn);
	return { maxFee: terms[0] };
}

function expectSame(encoded: Hex, given: Hex): void {
	if (encoded !== given.toLowerCase()) refuse("malformed", "the call has bytes that no lane writes");
}
