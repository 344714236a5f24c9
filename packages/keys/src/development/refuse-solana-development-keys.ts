import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import type { SolanaAddress, SolanaDeployment } from "@geoswap/protocol";
import { getAddressDecoder } from "@solana/kit";
import { ConfigError } from "../config/config-error.ts";
import { isDevelopmentCluster } from "./is-development-chain.ts";

/** The seed of the devnet's keys. On a real cluster, anyone can take what they hold. */
const developmentSeed = "geoswap devnet: public development keys, never use them on a cluster";
const checkedKeysPerRole = 16;
let known: Set<SolanaAddress> | undefined;

/**
 * Throws if a publicly known key would be used on a cluster that does not exist on this machine only. Also throws for
 * a mint with the address of such a key, because anyone could have created it, with any number of tokens.
 */
export function refuseSolanaDevelopmentKeys({
	genesisHash,
	feePayers,
	program,
	assets,
}: Pick<SolanaDeployment, "genesisHash" | "feePayers" | "program"> & {
	assets: readonly Pick<SolanaDeployment["assets"][number], "address">[];
}): void {
	if (isDevelopmentCluster({ genesisHash })) return;
	known ??= new Set(developmentAddresses());
	const mints = assets.map(({ address }) => address);
	const { address, operator, upgradeAuthority } = program;
	const used = [...feePayers, address, operator, upgradeAuthority, ...mints].find(
		(one) => one !== null && known?.has(one),
	);
	if (used) {
		throw new ConfigError(
			"the deployment's solana",
			`${used} belongs to a development key, which is public; use a secret key on this cluster`,
		);
	}
}

function developmentAddresses(): SolanaAddress[] {
	const numbered = ["fee payer", "wallet", "stranger"].flatMap((role) =>
		Array.from({ length: checkedKeysPerRole }, (_, index) => `${role} ${index}`),
	);
	const keys = ["vault owner", "operator"];
	const actors = ["mint USDC", "mint USDT", "mint authority", "faucet", "program"];
	return [...numbered, ...keys, ...actors].map(developmentAddress);
}

/** The bytes that PKCS #8 puts before the 32 bytes of an Ed25519 key. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

function developmentAddress(name: string): SolanaAddress {
	const privateKey = createPrivateKey({
		key: Buffer.concat([pkcs8Prefix, sha256(`${developmentSeed}/${name}`)]),
		format: "der",
		type: "pkcs8",
	});
	const { x } = createPublicKey(privateKey).export({ format: "jwk" });
	return getAddressDecoder().decode(Buffer.from(x ?? "", "base64url"));
}

function sha256(text: string): Buffer {
	return createHash("sha256").update(text).digest();
}
