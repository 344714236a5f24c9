import type { Address, Hex } from "viem";

/** The interface of a wallet on an EVM chain. A viem local account has it, and any remote signer can. */
export type EvmAccount = {
	address: Address;
	/** `personal_sign` (EIP-191) over 32 raw bytes. */
	signMessage: (args: { message: { raw: Hex } }) => Promise<Hex>;
	/** EIP-7702. Asked for once on each chain, with the wallet's first swap from it. */
	signAuthorization?:
		| ((args: { chainId: number; address: Address; nonce: number }) => Promise<SignedAuthorization>)
		| undefined;
};

type SignedAuthorization = { yParity?: number | undefined; r: Hex; s: Hex };
