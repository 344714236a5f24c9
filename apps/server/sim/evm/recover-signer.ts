import { createRequire } from "node:module";
import { type Address, type Hex, keccak256 } from "viem";

/**
 * The curve that viem itself signs with. viem exports only an async interface to it, and a chain here answers
 * synchronously.
 */
type Curve = {
	Signature: new (
		r: bigint,
		s: bigint,
	) => {
		addRecoveryBit: (bit: number) => {
			recoverPublicKey: (hash: string) => { toHex: (isCompressed: boolean) => string };
		};
	};
};
const requireOfViem = createRequire(createRequire(import.meta.url).resolve("viem"));
const { secp256k1 } = requireOfViem("@noble/curves/secp256k1") as { secp256k1: Curve };

const halfOfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const maxSigners = 20_000;
const signers = new Map<string, Address | undefined>();

/** Returns the signer of the hash, in lower case; undefined if the signature is invalid or has a high s. */
export function recoverSigner(
	hash: Hex,
	{ r, s, yParity }: { r: bigint; s: bigint; yParity: number },
): Address | undefined {
	const key = `${hash}:${r}:${s}:${yParity}`;
	if (signers.size > maxSigners) signers.clear();
	if (!signers.has(key)) signers.set(key, recover(hash, { r, s, yParity }));
	return signers.get(key);
}

function recover(
	hash: Hex,
	{ r, s, yParity }: { r: bigint; s: bigint; yParity: number },
): Address | undefined {
	if (s > halfOfOrder) return undefined;
	try {
		const publicKey = recoverPublicKey(hash, { r, s, yParity });
		return `0x${keccak256(`0x${publicKey.slice(4)}`).slice(-40)}`;
	} catch {
		return undefined;
	}
}

/** Returns the signer's public key, uncompressed. Throws if the signature is invalid. */
export function recoverPublicKey(
	hash: Hex,
	{ r, s, yParity }: { r: bigint; s: bigint; yParity: number },
): Hex {
	const signature = new secp256k1.Signature(r, s).addRecoveryBit(yParity);
	return `0x${signature.recoverPublicKey(hash.slice(2)).toHex(false)}`;
}
