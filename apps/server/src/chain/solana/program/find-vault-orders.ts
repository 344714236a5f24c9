import { decodeOrderAccount, type OrderAccount, programAccountSizes } from "@geoswap/protocol";
import { type Base58EncodedBytes, getBase64Encoder } from "@solana/kit";
import { requestChain } from "../../request-chain.ts";
import type { SolanaChain } from "../connect-solana.ts";

/** The place of the vault in an order's account. */
const vaultOffset = 144n;

/**
 * Returns all accounts of orders that began in the program and name our vault, at a final slot not before `minSlot`.
 * Anyone can create such accounts, at their own rent.
 */
export async function findVaultOrders(
	{ chainId, rpc, deployment: { program } }: SolanaChain,
	{ minSlot }: { minSlot: number },
): Promise<OrderAccount[]> {
	const vault = program.vault as string as Base58EncodedBytes;
	const found = await requestChain(
		chainId,
		rpc
			.getProgramAccounts(program.address, {
				commitment: "finalized",
				encoding: "base64",
				minContextSlot: BigInt(minSlot),
				filters: [
					{ dataSize: BigInt(programAccountSizes.order) },
					{ memcmp: { offset: vaultOffset, bytes: vault, encoding: "base58" } },
				],
			})
			.send(),
	);
	return found.flatMap(({ account: { owner, data } }) => {
		const order = decodeOrderAccount(new Uint8Array(getBase64Encoder().encode(data[0])));
		// A node may return more than was requested.
		return owner === program.address && order?.vault === program.vault ? [order] : [];
	});
}
