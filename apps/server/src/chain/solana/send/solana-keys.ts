import type { KeyPairSigner } from "@solana/kit";

export type SolanaKeys = { feePayers: KeyPairSigner[]; escrow: KeyPairSigner; vault: KeyPairSigner };
