import type { TypedDataJson } from "@geoswap/protocol";
import type { Address, Hex } from "viem";

/**
 * The interface of a wallet on an EVM chain. A viem local account has it, and so have the accounts of most vendors. One
 * of `signTypedData`, `signMessage` and `sign` is enough for a wallet that is delegated, and `sign` alone for any.
 */
export type EvmAccount = {
	address: Address;
	/** EIP-712. Preferred for orders, because a user or a policy can read them. The message has no bigint. */
	signTypedData?: ((typedData: TypedDataJson) => Promise<Hex>) | undefined;
	/** `personal_sign` (EIP-191) over 32 raw bytes. Used for orders by a wallet that cannot sign typed data. */
	signMessage?: ((args: { message: { raw: Hex } }) => Promise<Hex>) | undefined;
	/** EIP-7702. Called once on each chain, with the wallet's first swap from it. */
	signAuthorization?:
		| ((args: { chainId: number; address: Address; nonce: number }) => Promise<SignedAuthorization>)
		| undefined;
	/** Signs a hash as it is. Used only if another method is missing or does not return the wallet's signature. */
	sign?: ((args: { hash: Hex }) => Promise<Hex>) | undefined;
};

type SignedAuthorization = { yParity?: number | undefined; r: Hex; s: Hex };
