import type { SolanaAddress, Wei } from "@geoswap/protocol";
import { getBase64Encoder } from "@solana/kit";
import { requestChain } from "../../request-chain.ts";
import type { SolanaChain, SolanaCommitment } from "../connect-solana.ts";

/** An account that exists, with all its bytes. `program` owns it. */
export type WholeAccount = { lamports: Wei; program: SolanaAddress; data: Uint8Array };

/** The state of the chain that a reading is of. */
export type ReadAt = {
	commitment: SolanaCommitment;
	/** A node that has not reached this slot does not answer. */
	minSlot?: number;
};

/** Reads up to a hundred accounts at one slot, whole. Only for addresses at which no caller can choose the size. */
export async function readWholeAccounts(
	{ chainId, rpc }: SolanaChain,
	addresses: readonly SolanaAddress[],
	{ commitment, minSlot }: ReadAt,
): Promise<(WholeAccount | undefined)[]> {
	const { value } = await requestChain(
		chainId,
		rpc
			.getMultipleAccounts([...addresses], {
				commitment,
				encoding: "base64",
				...(minSlot === undefined ? {} : { minContextSlot: BigInt(minSlot) }),
			})
			.send(),
	);
	if (value.length !== addresses.length) {
		throw new Error("the chain answered for other accounts than requested");
	}
	return value.map((account) =>
		account === null
			? undefined
			: {
					lamports: account.lamports,
					program: account.owner,
					data: new Uint8Array(getBase64Encoder().encode(account.data[0])),
				},
	);
}
