import type { SolanaDeployment } from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, getBase58Encoder, type KeyPairSigner } from "@solana/kit";
import type { solanaRoles } from "../../src/signer/open-solana-keys.ts";

export type SolanaKeyName = (typeof solanaRoles)[keyof typeof solanaRoles];

/** Returns the keys of a devnet as key pairs, with which a test can sign anything. */
export async function solanaKeysOf(
	variables: Readonly<Record<SolanaKeyName, string>>,
	{ feePayers }: Pick<SolanaDeployment, "feePayers">,
): Promise<{ feePayers: KeyPairSigner[]; escrow: KeyPairSigner; vault: KeyPairSigner }> {
	const keyOf = (text: string) => createKeyPairSignerFromBytes(getBase58Encoder().encode(text));
	const payers = await Promise.all(variables.GEOSWAP_SOLANA_FEE_PAYER_KEYS.split(",").map(keyOf));
	return {
		feePayers: feePayers.flatMap((address) => payers.find((key) => key.address === address) ?? []),
		escrow: await keyOf(variables.GEOSWAP_SOLANA_ESCROW_KEY),
		vault: await keyOf(variables.GEOSWAP_SOLANA_VAULT_KEY),
	};
}
