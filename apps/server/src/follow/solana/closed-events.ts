import { type SolanaDeployment, toSolanaWord } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Landed } from "../../chain/solana/read/read-landed.ts";
import type { SlotEvent } from "./apply-slots.ts";

/** The markers that a transaction closed: accounts that hold nothing any more, which the chain does not keep. */
export function closedEvents({
	deployment,
	landed,
	markerLamports,
}: {
	deployment: SolanaDeployment;
	landed: Landed;
	/** What the books say that each marker holds. */
	markerLamports: ReadonlyMap<Hex, bigint>;
}): SlotEvent[] {
	return closedAccounts(landed).map(({ address, lamports }) => ({
		name: "MarkerClosed",
		data: { address, lamports: String(lamports), booked: String(markerLamports.get(address) ?? 0n) },
		orderId: undefined,
		contract: toSolanaWord(deployment.vault),
	}));
}

export function closedAccounts({ isFailed, lamports }: Landed): { address: Hex; lamports: bigint }[] {
	if (isFailed) return [];
	return [...lamports].flatMap(([address, { before, after }]) =>
		before > 0n && after === 0n ? [{ address: toSolanaWord(address), lamports: before }] : [],
	);
}
