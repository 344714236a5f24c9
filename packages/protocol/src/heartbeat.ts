import type { TypedDataDefinition } from "viem";

/** An attester's statement that it was alive at a time, and of the last finalized block that it had read on a chain. */
export type Heartbeat = { chainId: number; finalizedNumber: number; signedAtUnixSeconds: number };

const types = {
	Heartbeat: [
		{ name: "finalizedNumber", type: "uint256" },
		{ name: "signedAt", type: "uint256" },
	],
} as const;

/** Returns the EIP-712 message of a heartbeat. Its domain names no contract, as it decides nothing on any chain. */
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
