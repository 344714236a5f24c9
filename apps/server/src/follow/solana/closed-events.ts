import { type SolanaDeployment, toSolanaWord, type Wei } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Landed } from "../../chain/solana/read/read-landed.ts";
import type { SlotEvent } from "./apply-slots.ts";

/** Returns an event for each marker that a transaction closed: the chain does not keep accounts without lamports. */
export function closedEvents({
	deployment,
	landed,
	markerLamports,
}: {
	deployment: SolanaDeployment;
	landed: Landed;
	/** The lamports of each marker according to the books. */
	markerLamports: ReadonlyMap<Hex, bigint>;
}): SlotEvent[] {
	return closedAccounts(landed).map(({ address, lamports }) => ({
		name: "MarkerClosed",
		data: { address, lamports: String(lamports), booked: String(markerLamports.get(address) ?? 0n) },
		orderId: undefined,
		contract: toSolanaWord(deployment.vault),
	}));
}

export function closedAccounts({ isFailed, lamports }: Landed): { address: Hex; lamports: Wei }[] {
	if (isFailed) return [];
	return [...lamports].flatMap(([address, { before, after }]) =>
		before > 0n && after === 0n ? [{ address: toSolanaWord(address), lamports: before }] : [],
	);
}
