import type { EvmSigner, SolanaSigner } from "@geoswap/keys/signer";
import type { AttesterRules } from "./policy/judge-attester.ts";
import type { RelayerRules } from "./policy/judge-relayer.ts";
import type { SolanaRules } from "./policy/judge-solana.ts";
import type { TreasurerRules } from "./policy/judge-treasurer.ts";

/** Of a key that sends transactions on an EVM chain. */
type OfSender = {
	signer: EvmSigner;
	/** The lowest nonce that was unused before this signer had the key. */
	firstNonce: number;
};

/** A key of the remote signer, with the clients that may use it and the rules for what it signs. */
export type SigningKey = { name: string; clients: readonly string[] } & (
	| ({ use: "relayer"; rules: RelayerRules } & OfSender)
	| ({ use: "treasurer"; rules: TreasurerRules } & OfSender)
	| { use: "attester"; signer: EvmSigner; rules: AttesterRules }
	| { use: "receipts"; signer: EvmSigner }
	| { use: "solana"; signer: SolanaSigner; rules: SolanaRules }
);
