import {
	compactSignatureToSignature,
	type Hex,
	isAddressEqual,
	parseCompactSignature,
	recoverAddress,
	serializeSignature,
	slice,
} from "viem";
import type { EvmAccount } from "./evm-account.ts";
import { notItsSignature, signWith } from "./sign-with.ts";

const halfOfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Returns the wallet's signature over a digest, of 65 bytes. The wallet's own method for such a digest is asked first:
 * vendors' policies treat a bare hash apart. `sign` is asked only if that method is missing or its signature is not the
 * wallet's over the digest. If the wallet refuses, it is not asked in another way.
 */
export async function signDigest(
	account: Pick<EvmAccount, "address" | "sign">,
	{
		digest,
		native,
		signal,
	}: {
		digest: Hex;
		/** Undefined if the wallet has no such method. It may return undefined if its answer is no signature. */
		native: (() => Promise<Hex | undefined>) | undefined;
		signal?: AbortSignal | undefined;
	},
): Promise<Hex> {
	let cause: unknown;
	for (const sign of [native, account.sign && (async () => account.sign?.({ hash: digest }))]) {
		const signed = sign && (await signWith(sign, { signal }));
		if (!signed) continue;
		try {
			return await ownSignature(signed, { digest, wallet: account.address });
		} catch (error) {
			cause = error;
		}
	}
	throw notItsSignature(account.address, cause);
}

/** Returns the signature in 65 bytes. Throws unless it is the wallet's over the digest, as contracts take it. */
async function ownSignature(
	given: Hex,
	{ digest, wallet }: { digest: Hex; wallet: EvmAccount["address"] },
): Promise<Hex> {
	const isCompact = given.length === 130;
	const signature = isCompact
		? serializeSignature(compactSignatureToSignature(parseCompactSignature(given)))
		: given;
	// Contracts refuse an s in the upper half: otherwise each signature would have a second form.
	if (BigInt(slice(signature, 32, 64)) > halfOfOrder) throw new RangeError("s is in the upper half");
	const signer = await recoverAddress({ hash: digest, signature });
	if (!isAddressEqual(signer, wallet)) throw new RangeError(`it is a signature of ${signer}`);
	return signature;
}
