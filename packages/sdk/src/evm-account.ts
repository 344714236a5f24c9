import type { Address, Hex } from "viem";

/**
 * The interface of a wallet on an EVM chain. A viem local account has it, and so have the accounts of most vendors. One
 * of `signMessage` and `sign` is enough for a wallet that is delegated, and `sign` alone for any.
 */
export type EvmAccount = {
	address: Address;
	/** `personal_sign` (EIP-191) over 32 raw bytes. */
	signMessage?: ((args: { message: { raw: Hex } }) => Promise<Hex>) | undefined;
	/** EIP-7702. Asked for once on each chain, with the wallet's first swap from it. */
	signAuthorization?:
		| ((args: { chainId: number; address: Address; nonce: number }) => Promise<SignedAuthorization>)
		| undefined;
	/** Signs a hash as it is. Used only if one of the others is missing, or does not return the wallet's signature. */
	sign?: ((args: { hash: Hex }) => Promise<Hex>) | undefined;
};

type SignedAuthorization = { yParity?: number | undefined; r: Hex; s: Hex };
