import type { Order } from "@geoswap/protocol";
import type { SignatureBytes, TransactionPartialSigner } from "@solana/kit";
import type { SolanaSigner } from "./signer.ts";

/** A signer in kit's form, which also accepts the order that a transaction ends. */
export type KitSigner = TransactionPartialSigner & { forOrder: (order: Order) => TransactionPartialSigner };

/** Returns the signer in the form that kit's transactions accept. */
export function kitSignerOf(signer: SolanaSigner): KitSigner {
	return { ...withOrder(signer, undefined), forOrder: (order) => withOrder(signer, order) };
}

function withOrder({ address, sign }: SolanaSigner, order: Order | undefined): TransactionPartialSigner {
	return {
		address,
		signTransactions: (transactions, { abortSignal } = {}) =>
			Promise.all(
				transactions.map(async ({ messageBytes }) => {
					const signature = await sign(new Uint8Array(messageBytes), { signal: abortSignal, order });
					return { [address]: signature as SignatureBytes };
				}),
			),
	};
}
