import type { SolanaAddress, SolanaDeployment } from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, getBase58Encoder, type KeyPairSigner } from "@solana/kit";
import type { SolanaKeys } from "../chain/solana/send/solana-keys.ts";
import { ConfigError } from "./config-error.ts";

/** One variable for each role, so that each key can be stored, given and rotated by itself. */
export const solanaKeyNames = [
	"GEOSWAP_SOLANA_FEE_PAYER_KEYS",
	"GEOSWAP_SOLANA_ESCROW_KEY",
	"GEOSWAP_SOLANA_VAULT_KEY",
] as const;
export type SolanaKeyName = (typeof solanaKeyNames)[number];

/**
 * Parses the keys of the deployment, each the 64 bytes of a key pair in base58. They must be exactly those that the
 * deployment names. Fee payers are separated by commas, and are returned in the deployment's order.
 */
export async function parseSolanaKeys(
	texts: Readonly<Record<SolanaKeyName, string>>,
	deployment: SolanaDeployment,
): Promise<SolanaKeys> {
	const keysOf = (name: SolanaKeyName) => parseKeysOf(name, texts[name], deployment);
	return {
		feePayers: await keysOf("GEOSWAP_SOLANA_FEE_PAYER_KEYS"),
		escrow: only(await keysOf("GEOSWAP_SOLANA_ESCROW_KEY")),
		vault: only(await keysOf("GEOSWAP_SOLANA_VAULT_KEY")),
	};
}

const addressesOf: Record<SolanaKeyName, (deployment: SolanaDeployment) => readonly SolanaAddress[]> = {
	GEOSWAP_SOLANA_FEE_PAYER_KEYS: ({ feePayers }) => feePayers,
	GEOSWAP_SOLANA_ESCROW_KEY: ({ escrow }) => [escrow],
	GEOSWAP_SOLANA_VAULT_KEY: ({ vault }) => [vault],
};

/** Parses the keys of one role. */
export async function parseKeysOf(
	name: SolanaKeyName,
	text: string,
	deployment: SolanaDeployment,
): Promise<KeyPairSigner[]> {
	const signers = await Promise.all(text.split(",").map((key) => parseKey(name, key.trim())));
	const keys = addressesOf[name](deployment).map((address) => {
		const signer = signers.find((one) => one.address === address);
		if (!signer) throw new ConfigError(name, `has no key for ${address}, which the deployment names`);
		return signer;
	});
	if (signers.length !== keys.length) {
		throw new ConfigError(name, "has a key twice, or a key that the deployment does not name");
	}
	return keys;
}

function only([key]: KeyPairSigner[]): KeyPairSigner {
	if (!key) throw new Error("there is a key for each address");
	return key;
}

async function parseKey(name: SolanaKeyName, text: string): Promise<KeyPairSigner> {
	// The text is never quoted: it may be a key even if something is wrong with it.
	if (!/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) {
		throw new ConfigError(name, "must be the 64 bytes of a key pair in base58");
	}
	try {
		return await createKeyPairSignerFromBytes(getBase58Encoder().encode(text));
	} catch {
		throw new ConfigError(name, "has a key that is not the 64 bytes of a key pair");
	}
}
