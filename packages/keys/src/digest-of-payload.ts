import { attestationDigest, heartbeatTypedData, receiptTypedData } from "@geoswap/protocol";
import { type Hex, hashTypedData, keccak256 } from "viem";
import type { EvmPayload } from "./signer.ts";

/** Returns the 32 bytes that are signed for a payload. */
export function digestOfPayload(payload: EvmPayload): Hex {
	switch (payload.kind) {
		case "transaction":
			return keccak256(payload.unsigned);
		case "attestation":
			return attestationDigest(payload.message);
		case "heartbeat":
			return hashTypedData(heartbeatTypedData(payload.message));
		case "receipt":
			return hashTypedData(receiptTypedData(payload.message));
	}
}
