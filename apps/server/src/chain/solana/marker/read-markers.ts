import { markerAddress, type SolanaAddress } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { SolanaChain, SolanaCommitment } from "../connect-solana.ts";
import { readAccounts } from "../read/read-accounts.ts";
import { nativeMint } from "./marker-instructions.ts";

export type MarkerOwner = "vault" | "escrow";

/** Reads the owners of the orders' markers; undefined if there is no marker. Lamports alone do not make one. */
export async function readMarkers(
	chain: SolanaChain,
	{
		base,
		orderIds,
		commitment,
	}: { base: SolanaAddress; orderIds: readonly Hex[]; commitment: SolanaCommitment },
): Promise<(MarkerOwner | undefined)[]> {
	const addresses = await Promise.all(orderIds.map((orderId) => markerAddress({ base, orderId })));
	return readMarkerOwners(chain, { addresses, commitment });
}

/** Reads the owners of the markers at these addresses. */
export async function readMarkerOwners(
	chain: SolanaChain,
	{ addresses, commitment }: { addresses: readonly SolanaAddress[]; commitment: SolanaCommitment },
): Promise<(MarkerOwner | undefined)[]> {
	const { vault, escrow } = chain.deployment;
	const { accounts } = await readAccounts(chain, addresses, { commitment });
	return accounts.map((account) => {
		if (account?.token?.mint !== nativeMint) return undefined;
		if (account.token.owner === vault) return "vault";
		return account.token.owner === escrow ? "escrow" : undefined;
	});
}
