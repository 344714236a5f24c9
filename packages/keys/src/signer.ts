import type { AttestationMessage, Heartbeat, Order, ReceiptMessage, SolanaAddress } from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import type { KeyName } from "./signer-error.ts";

/**
 * Everything that a key of the service signs on an EVM chain. It is the whole content and not only its hash, so that a
 * signer outside this process can check it.
 */
export type EvmPayload =
	/** A serialized transaction without its signature. */
	| { kind: "transaction"; unsigned: Hex }
	| { kind: "attestation"; message: AttestationMessage }
	| { kind: "heartbeat"; message: Heartbeat }
	/** A statement about an ended swap. It moves nothing. */
	| { kind: "receipt"; message: ReceiptMessage };

/** A signature with a low `s`, the only form that the chains accept. */
export type EvmSignature = { r: Hex; s: Hex; yParity: 0 | 1 };

export type SignOptions = {
	/** Ends the wait for a signer that does not respond. */
	signal?: AbortSignal | undefined;
	/** The order that a message on Solana releases or refunds, because the message has only the order's address. */
	order?: Order | undefined;
};

/** A part of signers that check payloads. It shows that the key signs, without a signature for the caller. */
type Checking = { check?: (options?: SignOptions) => Promise<void> };

/** A key that this process can use and need not be able to read. */
export type EvmSigner = Checking & {
	kind: "evm";
	name: KeyName;
	address: Address;
	sign: (payload: EvmPayload, options?: SignOptions) => Promise<EvmSignature>;
};

/** A key of Solana. It signs the message of a transaction, and returns the 64 bytes of the signature. */
export type SolanaSigner = Checking & {
	kind: "solana";
	name: KeyName;
	address: SolanaAddress;
	sign: (message: Uint8Array, options?: SignOptions) => Promise<Uint8Array>;
};
