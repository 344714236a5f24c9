import { hexToBytes, numberToHex } from "viem";
import { publicKeyToAddress } from "viem/accounts";
import type { DigestKey } from "./digest-key.ts";
import { digestOfPayload } from "./digest-of-payload.ts";
import { hexOfSignature } from "./hex-of-signature.ts";
import { recoverAddress } from "./signature/recover-address.ts";
import type { EvmSignature, EvmSigner } from "./signer.ts";
import { SignerError } from "./signer-error.ts";

/** The order of the curve. */
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * Makes a signer of a key that signs digests. Each signature is checked against the key's address before it is
 * returned, because the wrong signature of a device must never get a broken transaction into the journal.
 */
export function evmSignerOf(key: DigestKey): EvmSigner {
	const address = publicKeyToAddress(key.publicKey);
	return {
		kind: "evm",
		name: key.name,
		address,
		async sign(payload, options = {}) {
			const hash = digestOfPayload(payload);
			const { r, s } = await key.signDigest(hexToBytes(hash), options);
			const problem = `what it returned is not a signature of ${address}`;
			if (!isScalar(r) || !isScalar(s)) throw new SignerError(key.name, problem, { isRetryable: true });
			const rs = {
				r: numberToHex(r, { size: 32 }),
				s: numberToHex(s > curveOrder / 2n ? curveOrder - s : s, { size: 32 }),
			};
			for (const yParity of [0, 1] as const) {
				const signature: EvmSignature = { ...rs, yParity };
				if (recoverAddress({ hash, signature: hexOfSignature(signature) }) === address) return signature;
			}
			throw new SignerError(key.name, problem, { isRetryable: true });
		},
	};
}

function isScalar(number: bigint): boolean {
	return number > 0n && number < curveOrder;
}
