import { digestOfPayload } from "@geoswap/keys/digest-of-payload";
import type { EvmSigner } from "@geoswap/keys/signer";
import { type LocalAccount, parseSignature } from "viem";

/** Returns a signer that signs with an account whose key the test has. */
export function signerOfAccount(account: LocalAccount): EvmSigner {
	return {
		kind: "evm",
		name: { reference: "env:TEST", backend: "env" },
		address: account.address,
		async sign(payload) {
			const signature = await account.sign?.({ hash: digestOfPayload(payload) });
			if (!signature) throw new Error(`${account.address} cannot sign hashes`);
			const { r, s, yParity } = parseSignature(signature);
			return { r, s, yParity: yParity === 0 ? 0 : 1 };
		},
	};
}
