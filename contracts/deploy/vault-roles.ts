import { geoVaultAbi } from "@geoswap/protocol";
import { type Hex, toFunctionSelector } from "viem";

/** The AccessManager's own admin role, whose members grant all others. */
export const adminRole = 0n;

type VaultFunction = Extract<(typeof geoVaultAbi)[number], { type: "function" }>["name"];

export type VaultRole = { id: bigint; label: string; functions: readonly VaultFunction[] };

/** The roles of a vault. Together they have all its restricted functions, so that the admin has none of them. */
export const vaultRoles = {
	operator: { id: 1n, label: "OPERATOR", functions: ["fill", "fillMany", "void", "voidMany"] },
	guardian: { id: 2n, label: "GUARDIAN", functions: ["pause"] },
	treasury: { id: 3n, label: "TREASURY", functions: ["withdraw", "claimCredit"] },
	treasurer: { id: 4n, label: "TREASURER", functions: ["trade", "send", "bridge"] },
	config: { id: 5n, label: "CONFIG", functions: ["setCap", "setFeed"] },
	resume: { id: 6n, label: "RESUME", functions: ["unpause"] },
} as const satisfies Record<string, VaultRole>;

/** Roles whose scheduled operations the guardian cancels. */
export const guardedRoles = [vaultRoles.treasury, vaultRoles.config] as const;

export function selectorsOf(functions: readonly VaultFunction[]): Hex[] {
	return functions.map((name) => {
		const item = geoVaultAbi.find((entry) => entry.type === "function" && entry.name === name);
		if (item?.type !== "function") throw new Error(`the vault has no function ${name}`);
		return toFunctionSelector(item);
	});
}
