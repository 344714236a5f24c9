import type { SolanaAddress } from "@geoswap/protocol";
import { getBase58Encoder } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { askChain } from "../../ask-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";
import { readLanded } from "../read/read-landed.ts";

/** Anyone may name the address in their transactions, but hardly so often that the one we seek is not among these. */
const signaturesLookedAt = 50;

/** Returns the final transaction that took the last lamport from an address, if it is one of the newest. */
export async function findCloseTransaction(
	chain: SolanaChain,
	address: SolanaAddress,
): Promise<Hex | undefined> {
	const { chainId, rpc } = chain;
	const found = await askChain(
		chainId,
		rpc.getSignaturesForAddress(address, { commitment: "finalized", limit: signaturesLookedAt }).send(),
	);
	for (const { signature, err } of found) {
		if (err !== null) continue;
		const hash = bytesToHex(new Uint8Array(getBase58Encoder().encode(signature)));
		const change = (await readLanded(chain, hash, "finalized"))?.lamports.get(address);
		if (change && change.before > 0n && change.after === 0n) return hash;
	}
	return undefined;
}
