import {
	type Address,
	compactSignatureToSignature,
	type Hex,
	isAddressEqual,
	parseCompactSignature,
	parseSignature,
	recoverAddress,
	serializeSignature,
	slice,
} from "viem";
import { notItsSignature, signWith } from "./sign-with.ts";

const halfOfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** A method of the wallet, and the digest that it signs. It returns undefined if the result is no signature. */
export type Way = { digest: Hex; sign: () => Promise<Hex | undefined> };

/**
 * Returns the wallet's signature, of 65 bytes, by the first of these ways that gives one. The next way is tried only if
 * the signature is not the wallet's over the digest. If the wallet refuses, no other way is tried, because vendors'
 * policies treat a bare hash differently.
 */
export async function signDigest(
	wallet: Address,
	ways: readonly Way[],
	{ signal }: { signal?: AbortSignal | undefined },
): Promise<Hex> {
	let cause: unknown;
	for (const { digest, sign } of ways) {
		const signed = await signWith(sign, { signal });
		if (!signed) continue;
		try {
			return await ownSignature(signed, { digest, wallet });
		} catch (error) {
			cause = error;
		}
	}
	throw notItsSignature(wallet, cause);
}

/**
 * Returns the signature in 65 bytes with v 27 or 28. Throws unless it is the wallet's over the digest, as contracts
 * accept it.
 */
async function ownSignature(given: Hex, { digest, wallet }: { digest: Hex; wallet: Address }): Promise<Hex> {
	const isCompact = given.length === 130;
	const signature = serializeSignature(
		isCompact ? compactSignatureToSignature(parseCompactSignature(given)) : parseSignature(given),
	);
	// Contracts refuse an s in the upper half, since each signature would otherwise have a second form.
	if (BigInt(slice(signature, 32, 64)) > halfOfOrder) throw new RangeError("s is in the upper half");
	const signer = await recoverAddress({ hash: digest, signature });
	if (!isAddressEqual(signer, wallet)) throw new RangeError(`it is a signature of ${signer}`);
	return signature;
}
