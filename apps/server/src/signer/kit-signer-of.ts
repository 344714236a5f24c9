import type { SignatureBytes, TransactionPartialSigner } from "@solana/kit";
import type { SolanaSigner } from "./signer.ts";

/** Returns the signer in the form that kit's transactions take. */
export function kitSignerOf({ address, sign }: SolanaSigner): TransactionPartialSigner {
	return {
		address,
		signTransactions: (transactions, { abortSignal } = {}) =>
			Promise.all(
				transactions.map(async ({ messageBytes }) => {
					const signature = await sign(new Uint8Array(messageBytes), { signal: abortSignal });
					return { [address]: signature as SignatureBytes };
				}),
			),
	};
}
