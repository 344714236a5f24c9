import type { AttestationMessage, Deployment, Heartbeat } from "@geoswap/protocol";
import { isSolana, ourContracts, toSolanaWord } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Judgement } from "./judgement.ts";
import { refuse } from "./refusal.ts";

/** The maximum number of orders in one attestation. */
const maxOrders = 50;

/** The rules for an attester's key. */
export type AttesterRules = {
	deployment: Deployment;
	nowMs: () => number;
};

/** Returns what an attestation states. Refuses one for an escrow that is not the service's. */
export function judgeAttestation(
	{ kind, originChainId, escrow, orderIds }: AttestationMessage,
	{ deployment }: AttesterRules,
): Judgement {
	if (!escrowsOn(deployment, originChainId).includes(escrow.toLowerCase())) {
		refuse("not-ours", `${escrow} is not our escrow on chain ${originChainId}`);
	}
	if (orderIds.length > maxOrders)
		refuse("malformed", `${orderIds.length} orders are more than ${maxOrders}`);
	return {
		kind: "attestation",
		charges: [],
		payouts: [],
		decisions: orderIds.map((id) => ({
			end: kind === "Release" ? "release" : "return",
			orderId: id.toLowerCase() as Hex,
		})),
		about: { attestation: kind, chainId: originChainId, escrow, orderIds },
	};
}

/** Returns the service's escrows on a chain in lower case: contracts, or the program on Solana. */
function escrowsOn({ chains, solana }: Deployment, chainId: number): string[] {
	if (isSolana(chainId)) return solana?.program ? [toSolanaWord(solana.program.address)] : [];
	const chain = chains.find((one) => one.chainId === chainId);
	return chain ? ourContracts(chain).escrows.map((escrow) => escrow.toLowerCase()) : [];
}

/** How far a heartbeat's time may be from the signer's clock. One for a later time would outlive the attester. */
const clockSeconds = 120;

/** Returns what a heartbeat states. Refuses one for a chain that is not the service's, or for another time than now. */
export function judgeHeartbeat(
	{ chainId, finalizedNumber, signedAtUnixSeconds }: Heartbeat,
	{ deployment, nowMs }: AttesterRules,
): Judgement {
	const isOurs = isSolana(BigInt(chainId))
		? deployment.solana !== undefined
		: deployment.chains.some((chain) => chain.chainId === chainId);
	if (!isOurs) refuse("not-ours", `chain ${chainId} is not ours`);
	if (Math.abs(nowMs() / 1_000 - signedAtUnixSeconds) > clockSeconds)
		refuse("malformed", "the heartbeat's time is not now: compare the clocks of attester and signer");
	return {
		kind: "heartbeat",
		charges: [],
		payouts: [],
		about: { chainId, finalizedNumber, signedAtUnixSeconds },
	};
}
