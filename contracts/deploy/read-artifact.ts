import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Abi, Hex } from "viem";

export type Artifact = { abi: Abi; bytecode: Hex };

/**
 * Reads an artifact that `pnpm generate` made. It is read at run time, because the code, not a copy of it, decides the
 * addresses.
 */
export function readArtifact(
	name:
		| "GeoAccount"
		| "GeoEscrow"
		| "GeoVault"
		| "CctpRoute"
		| "DevToken"
		| "DevTokenWithoutReturn"
		| "DevFeed"
		| "DevDeposit"
		| "DevBlocklist"
		| "DevHollowToken"
		| "DevFlood"
		| "DevMessenger"
		| "DevTransmitter",
): Artifact {
	return read(join(import.meta.dirname, "../artifacts", `${name}.json`));
}

/** Reads OpenZeppelin's own build of the AccessManager. */
export function readAccessManagerArtifact(): Artifact {
	const require = createRequire(import.meta.url);
	return read(require.resolve("@openzeppelin/contracts/build/contracts/AccessManager.json"));
}

function read(path: string): Artifact {
	const { abi, bytecode } = JSON.parse(readFileSync(path, "utf8"));
	return { abi, bytecode };
}
