import { fromSolanaWord, markerAddress } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { SolanaTestChain } from "./solana-chain.ts";

/** Returns the owner of an order's marker, on the vault's side or on the escrow's. Undefined if there is none. */
export async function solanaMarker(
	{ rpc, deployment }: SolanaTestChain,
	{ side, orderId }: { side: "vault" | "escrow"; orderId: string },
): Promise<"vault" | "escrow" | undefined> {
	const address = await markerAddress({ base: deployment[side], orderId: orderId as Hex });
	const { value } = await rpc.getAccountInfo(address, { commitment: "confirmed", encoding: "base64" }).send();
	// Someone may have sent lamports there: it is a marker only if it is a token account.
	const data = value ? Buffer.from(value.data[0], "base64") : undefined;
	if (!data || data.length === 0) return undefined;
	const owner = fromSolanaWord(bytesToHex(data.subarray(32, 64)));
	if (owner === deployment.vault) return "vault";
	if (owner === deployment.escrow) return "escrow";
	throw new Error(`the marker of ${orderId} is owned by ${owner}`);
}
