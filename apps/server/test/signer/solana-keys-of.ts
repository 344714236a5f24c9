import type { solanaKeyVariables } from "@geoswap/devnet";
import type { SolanaDeployment } from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, getBase58Encoder, type KeyPairSigner } from "@solana/kit";

export type SolanaKeyName = keyof ReturnType<typeof solanaKeyVariables>;

/** Returns the keys of a devnet as key pairs, with which a test can sign anything. */
export async function solanaKeysOf(
	variables: Readonly<Record<SolanaKeyName, string>>,
	{ feePayers }: Pick<SolanaDeployment, "feePayers">,
): Promise<{ feePayers: KeyPairSigner[]; operator: KeyPairSigner }> {
	const keyOf = (text: string) => createKeyPairSignerFromBytes(getBase58Encoder().encode(text));
	const payers = await Promise.all(variables.GEOSWAP_SOLANA_FEE_PAYER_KEYS.split(",").map(keyOf));
	return {
		feePayers: feePayers.flatMap((address) => payers.find((key) => key.address === address) ?? []),
		operator: await keyOf(variables.GEOSWAP_SOLANA_OPERATOR_KEY),
	};
}
