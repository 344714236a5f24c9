import type { Payload } from "@geoswap/keys/payload";
import type { ReceiptMessage } from "@geoswap/protocol";
import { judgeAttestation, judgeHeartbeat } from "./policy/judge-attester.ts";
import { judgeRelayer } from "./policy/judge-relayer.ts";
import { judgeSolana } from "./policy/judge-solana.ts";
import { judgeTreasurer } from "./policy/judge-treasurer.ts";
import type { Judgement } from "./policy/judgement.ts";
import { refuse } from "./policy/refusal.ts";
import type { SigningKey } from "./signing-key.ts";

/** Returns what a payload does, by the rules for its key. Throws a `Refusal` if the key does not sign it. */
export async function judgePayload(key: SigningKey, payload: Payload): Promise<Judgement> {
	if (key.use === "relayer" && payload.kind === "transaction")
		return judgeRelayer(payload.unsigned, key.rules);
	if (key.use === "treasurer" && payload.kind === "transaction")
		return judgeTreasurer(payload.unsigned, key.rules);
	if (key.use === "attester" && payload.kind === "attestation")
		return judgeAttestation(payload.message, key.rules);
	if (key.use === "attester" && payload.kind === "heartbeat")
		return judgeHeartbeat(payload.message, key.rules);
	if (key.use === "receipts" && payload.kind === "receipt") return judgeReceipt(payload.message);
	if (key.use === "solana" && payload.kind === "message")
		return judgeSolana({ message: Buffer.from(payload.message, "base64"), order: payload.order }, key.rules);
	return refuse("wrong-kind", `the key ${key.name} signs no ${payload.kind}`);
}

/**
 * Returns what a receipt states. The signer does not compare it with the chains. A verifier of the receipt does, and
 * refuses a receipt that they contradict.
 */
function judgeReceipt({ swapId, status, orderId }: ReceiptMessage): Judgement {
	return { kind: "receipt", charges: [], payouts: [], about: { swapId, status, orderId } };
}
