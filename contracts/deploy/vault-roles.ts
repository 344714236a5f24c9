import { geoVaultAbi } from "@geoswap/protocol";
import { type Hex, toFunctionSelector } from "viem";

/** The AccessManager's own admin role, whose members grant all others. */
export const adminRole = 0n;

type VaultFunction = Extract<(typeof geoVaultAbi)[number], { type: "function" }>["name"];

export type VaultRole = { id: bigint; label: string; functions: readonly VaultFunction[] };

export const operatorRole: VaultRole = {
	id: 1n,
	label: "OPERATOR",
	functions: ["fill", "fillMany", "void", "voidMany"],
};
export const guardianRole: VaultRole = { id: 2n, label: "GUARDIAN", functions: ["pause"] };
export const treasuryRole: VaultRole = { id: 3n, label: "TREASURY", functions: ["withdraw", "claimCredit"] };

/** The restricted functions that no role is given: they stay the admin's. */
export const adminFunctions: readonly VaultFunction[] = ["unpause", "setOutflowCap"];

export function selectorsOf(functions: readonly VaultFunction[]): Hex[] {
	return functions.map((name) => {
		const item = geoVaultAbi.find((entry) => entry.type === "function" && entry.name === name);
		if (item?.type !== "function") throw new Error(`the vault has no function ${name}`);
		return toFunctionSelector(item);
	});
}
