import {
	type Address,
	compactSignatureToSignature,
	type Hex,
	isAddressEqual,
	parseCompactSignature,
	recoverMessageAddress,
	serializeSignature,
	slice,
} from "viem";
import { notItsSignature } from "./sign-with.ts";

const halfOfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Throws unless the signature is the wallet's over the hash, in a form that the service takes. */
export async function expectOwnSignature(
	signature: Hex,
	{ hash, wallet }: { hash: Hex; wallet: Address },
): Promise<void> {
	const signer = await recover(hash, signature).catch((cause: unknown) => {
		throw notItsSignature(wallet, cause);
	});
	if (!isAddressEqual(signer, wallet)) throw notItsSignature(wallet);
}

async function recover(hash: Hex, given: Hex): Promise<Address> {
	const isCompact = given.length === 130;
	const signature = isCompact
		? serializeSignature(compactSignatureToSignature(parseCompactSignature(given)))
		: given;
	// Contracts refuse an s in the upper half: otherwise each signature would have a second form.
	if (BigInt(slice(signature, 32, 64)) > halfOfOrder) throw new RangeError("s is in the upper half");
	return recoverMessageAddress({ message: { raw: hash }, signature });
}
