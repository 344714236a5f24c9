import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import type { SolanaAddress } from "@geoswap/protocol";
import { getAddressDecoder } from "@solana/kit";

/** Development key pairs of 64 bytes, private half first. Everyone can derive them. */
export type SolanaDevnetKeys = {
	feePayers: Uint8Array[];
	/** The keys that own the program's vault and pay orders from it. */
	vaultOwner: Uint8Array;
	operator: Uint8Array;
	/** Wallets that hold tokens and not one lamport. */
	wallets: Uint8Array[];
	/** Keys outside the service. They hold SOL, for tests that act as a third party. */
	strangers: Uint8Array[];
};

/** Keys with which only the chain itself signs. */
export type SolanaDevnetActors = {
	usdc: Uint8Array;
	usdt: Uint8Array;
	mintAuthority: Uint8Array;
	faucet: Uint8Array;
	/** The key whose address the program has. */
	program: Uint8Array;
};

/** The seed of all keys. It is public, so anyone can take what the keys hold on a real cluster. */
const developmentSeed = "geoswap devnet: public development keys, never use them on a cluster";

const feePayerCount = 2;
const strangerCount = 2;
const walletCount = 10;

let derived: (SolanaDevnetKeys & { actors: SolanaDevnetActors }) | undefined;

export function deriveSolanaDevnetKeys(): SolanaDevnetKeys & { actors: SolanaDevnetActors } {
	derived ??= {
		feePayers: several("fee payer", feePayerCount),
		vaultOwner: keyPair("vault owner"),
		operator: keyPair("operator"),
		wallets: several("wallet", walletCount),
		strangers: several("stranger", strangerCount),
		actors: {
			usdc: keyPair("mint USDC"),
			usdt: keyPair("mint USDT"),
			mintAuthority: keyPair("mint authority"),
			faucet: keyPair("faucet"),
			program: keyPair("program"),
		},
	};
	return derived;
}

/** Returns the addresses of all these keys, which a server must refuse on any cluster but the devnet's. */
export function developmentSolanaAddresses(): SolanaAddress[] {
	const { feePayers, wallets, strangers, actors, ...single } = deriveSolanaDevnetKeys();
	const several = [feePayers, wallets, strangers, Object.values(actors), Object.values(single)];
	return several.flat().map(solanaAddressOfKey);
}

export function solanaAddressOfKey(key: Uint8Array): SolanaAddress {
	return getAddressDecoder().decode(key.subarray(32));
}

function several(name: string, count: number): Uint8Array[] {
	return Array.from({ length: count }, (_, index) => keyPair(`${name} ${index}`));
}

/** The bytes that PKCS #8 puts before the 32 bytes of an Ed25519 key. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

function keyPair(name: string): Uint8Array {
	const secret = createHash("sha256").update(`${developmentSeed}/${name}`).digest();
	const privateKey = createPrivateKey({
		key: Buffer.concat([pkcs8Prefix, secret]),
		format: "der",
		type: "pkcs8",
	});
	const { x } = createPublicKey(privateKey).export({ format: "jwk" });
	return new Uint8Array(Buffer.concat([secret, Buffer.from(x ?? "", "base64url")]));
}
