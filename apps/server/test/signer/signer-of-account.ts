import { type LocalAccount, parseSignature } from "viem";
import { digestOfPayload } from "../../src/signer/digest-of-payload.ts";
import type { EvmSigner } from "../../src/signer/signer.ts";

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
