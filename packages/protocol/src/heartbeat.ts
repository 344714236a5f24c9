import type { TypedDataDefinition } from "viem";

/** That an attester was alive at a moment, and how far it saw a chain. */
export type Heartbeat = { chainId: number; finalizedNumber: number; signedAtUnixSeconds: number };

const types = {
	Heartbeat: [
		{ name: "finalizedNumber", type: "uint256" },
		{ name: "signedAt", type: "uint256" },
	],
} as const;

/** The EIP-712 message of a heartbeat. Its domain is no contract's: it decides nothing on any chain. */
export function heartbeatTypedData({
	chainId,
	finalizedNumber,
	signedAtUnixSeconds,
}: Heartbeat): TypedDataDefinition<typeof types, "Heartbeat"> {
	return {
		domain: { name: "GeoAttester", version: "1", chainId },
		types,
		primaryType: "Heartbeat",
		message: { finalizedNumber: BigInt(finalizedNumber), signedAt: BigInt(signedAtUnixSeconds) },
	};
}
