import type { SolanaAddress, SolanaDeployment } from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, getBase58Encoder, type KeyPairSigner } from "@solana/kit";
import { ConfigError } from "../../config-error.ts";

export type SolanaKeys = { feePayers: KeyPairSigner[]; escrow: KeyPairSigner; vault: KeyPairSigner };

const variable = "GEOSWAP_SOLANA_KEYS";

/**
 * The keys in `feePayer:<base58>,…,escrow:<base58>,vault:<base58>`, each the 64 bytes of a key pair. They must be
 * exactly those of the deployment. Fee payers come in the deployment's order.
 */
export async function parseSolanaKeys(text: string, deployment: SolanaDeployment): Promise<SolanaKeys> {
	const entries = await Promise.all(text.split(",").map((entry) => parseEntry(entry.trim())));
	const signerOf = (role: string, address: SolanaAddress): KeyPairSigner => {
		const entry = entries.find((one) => one.role === role && one.signer.address === address);
		if (!entry)
			throw new ConfigError(variable, `has no ${role} key for ${address}, which the deployment names`);
		return entry.signer;
	};
	const keys = {
		feePayers: deployment.feePayers.map((address) => signerOf("feePayer", address)),
		escrow: signerOf("escrow", deployment.escrow),
		vault: signerOf("vault", deployment.vault),
	};
	if (entries.length !== keys.feePayers.length + 2) {
		throw new ConfigError(variable, "has a key twice, or one that the deployment does not name");
	}
	return keys;
}

async function parseEntry(entry: string): Promise<{ role: string; signer: KeyPairSigner }> {
	const [, role, secret] = /^(feePayer|escrow|vault):([1-9A-HJ-NP-Za-km-z]+)$/.exec(entry) ?? [];
	// What is wrong is never quoted: it may be a key all the same.
	if (!role || !secret) {
		throw new ConfigError(variable, "must be feePayer:<key>,…,escrow:<key>,vault:<key> with keys in base58");
	}
	try {
		return { role, signer: await createKeyPairSignerFromBytes(getBase58Encoder().encode(secret)) };
	} catch {
		throw new ConfigError(variable, `the ${role} key is not the 64 bytes of a key pair`);
	}
}
