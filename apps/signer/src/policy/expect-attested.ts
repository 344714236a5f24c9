import { isLowS } from "@geoswap/keys/signature/is-low-s";
import { recoverAddress } from "@geoswap/keys/signature/recover-address";
import type { Bundle } from "@geoswap/protocol";
import { attestationDigest, attestationMessage, attesterSetHash } from "@geoswap/protocol";
import { type Hex, isHex, size, slice } from "viem";
import { refuse } from "./refusal.ts";

/** Refuses a release or refund that too few attesters of one set have signed. The escrow checks the same. */
export function expectAttested(
	{
		kind,
		orders,
		attestation,
	}: Pick<Extract<Bundle, { kind: "release" | "refund" }>, "kind" | "orders" | "attestation">,
	{ attesterSets }: { attesterSets: ReadonlySet<Hex> },
): void {
	const { threshold, attesters, signatures } = attestation;
	if (!attesterSets.has(hashOf(threshold, attesters))) refuse("not-ours", "the attester set is not ours");
	if (BigInt(signatures.length) < threshold) refuse("bad-signature", "too few attesters have signed");
	const digest = attestationDigest(attestationMessage(kind === "release" ? "Release" : "Refund", orders));
	let previous = 0n;
	for (const signature of signatures) {
		const signer = isPlain(signature) ? recoverAddress({ hash: digest, signature }) : undefined;
		const isAttester = attesters.some((attester) => attester.toLowerCase() === signer?.toLowerCase());
		// The escrow requires the signers in ascending order, so that none counts twice.
		if (!signer || !isAttester || BigInt(signer) <= previous)
			refuse("bad-signature", "a signature is not that of an attester of the set");
		previous = BigInt(signer);
	}
}

function isPlain(signature: Hex): boolean {
	if (!isHex(signature) || size(signature) !== 65 || !isLowS(slice(signature, 32, 64))) return false;
	return [27, 28].includes(Number(slice(signature, 64)));
}

function hashOf(threshold: bigint, attesters: readonly Hex[]): Hex {
	try {
		return attesterSetHash({ threshold: Number(threshold), attesters });
	} catch {
		return refuse("malformed", "the attester set could never decide anything");
	}
}
