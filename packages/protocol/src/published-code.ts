import type { Hex } from "viem";
import { geoEscrowCode } from "./code/geo-escrow-code.ts";
import { geoVaultCode } from "./code/geo-vault-code.ts";

/** The runtime code of a contract with its immutables set to zero, and the byte offsets of each immutable. */
export type PublishedCode = { runtimeCode: Hex; immutables: Readonly<Record<string, readonly number[]>> };

/**
 * Each version of a contract that was ever published, the newest first. A version that is deployed anywhere stays
 * listed, because attesters sign only for contracts with one of these codes, and earlier vaults still receive releases.
 */
export const publishedCodes: Record<"escrow" | "vault", readonly [PublishedCode, ...PublishedCode[]]> = {
	escrow: [geoEscrowCode],
	vault: [geoVaultCode],
};
