import { type LocalAccount, serializeTransaction } from "viem";
import { toAccount } from "viem/accounts";
import type { EvmSigner } from "./signer.ts";

/** Returns the signer as a viem account. It signs transactions only. */
export function accountOfSigner(signer: EvmSigner): LocalAccount {
	const refuse = async (): Promise<never> => {
		throw new Error(`${signer.address} signs transactions only`);
	};
	return toAccount({
		address: signer.address,
		signMessage: refuse,
		signTypedData: refuse,
		async signTransaction(transaction, { serializer = serializeTransaction } = {}) {
			const { r, s, yParity } = await signer.sign({
				kind: "transaction",
				unsigned: await serializer(transaction),
			});
			return serializer(transaction, { r, s, yParity, v: BigInt(27 + yParity) });
		},
	});
}
