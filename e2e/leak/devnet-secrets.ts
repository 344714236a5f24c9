import { deriveDevnetKeys, deriveSolanaDevnetKeys } from "@geoswap/devnet";
import { hexToBytes } from "viem";
import type { SecretKey } from "./find-key-material.ts";

const evm = deriveDevnetKeys();
const solana = deriveSolanaDevnetKeys();

/** The keys of the relayers, the treasurer and the attesters that a stack uses. */
export const evmSecrets: SecretKey[] = [
	...evm.relayers.slice(0, 2).map((key, i) => ({ name: `relayer-${i}`, bytes: hexToBytes(key) })),
	{ name: "treasurer", bytes: hexToBytes(evm.treasurer) },
	...evm.attesters.slice(0, 3).map((key, i) => ({ name: `attester-${i}`, bytes: hexToBytes(key) })),
];

/** The private halves of Solana's keys. */
export const solanaSecrets: SecretKey[] = [
	...solana.feePayers.map((key, i) => ({ name: `fee-payer-${i}`, bytes: key.slice(0, 32) })),
	{ name: "operator", bytes: solana.operator.slice(0, 32) },
];

/** The names of Solana's fee payers. */
export const feePayerNames: readonly string[] = solana.feePayers.map((_, i) => `fee-payer-${i}`);
