import { type Bundle, encodeBundle, geoEscrowAbi, geoVaultAbi } from "@geoswap/protocol";
import { type Address, decodeFunctionData, type Hex } from "viem";
import { Refusal, refuse } from "./refusal.ts";

/** Returns the call that a relayer makes. Refuses calls that no lane makes, or that a lane encodes differently. */
export function decodeRelayerCall({ to, data }: { to: Address; data: Hex }): Bundle {
	const bundle = readBundle(to, data);
	// Bytes that the decoder skips, such as a tail or a pointer into another argument, are not in its result.
	if (encodeAgain(bundle) !== data.toLowerCase())
		refuse("malformed", "the call has bytes that no lane writes");
	return bundle;
}

function encodeAgain(bundle: Bundle): Hex | undefined {
	try {
		return encodeBundle(bundle).data;
	} catch {
		return undefined;
	}
}

const abi = [...geoVaultAbi, ...geoEscrowAbi];

function readBundle(to: Address, data: Hex): Bundle {
	try {
		const { functionName, args } = decodeFunctionData({ abi, data });
		switch (functionName) {
			case "openMany":
				return { kind: "open", escrow: to, openings: [...args[0]] };
			case "fillMany":
				return { kind: "fill", vault: to, fills: [...args[0]] };
			case "voidMany":
				return { kind: "void", vault: to, orders: [...args[0]] };
			case "releaseMany":
				return { kind: "release", escrow: to, orders: [...args[0]], attestation: args[1] };
			case "refundMany":
				return { kind: "refund", escrow: to, orders: [...args[0]], attestation: args[1] };
			case "refund":
				return { kind: "late-refund", escrow: to, order: args[0] };
			default:
				return refuse("malformed", `no lane calls ${functionName}`);
		}
	} catch (error) {
		if (error instanceof Refusal) throw error;
		return refuse("malformed", `the call ${data.slice(0, 10)} is none that a lane makes`);
	}
}
