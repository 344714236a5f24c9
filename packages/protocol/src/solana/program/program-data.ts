import { getAddressDecoder, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import { sha256 } from "viem";
import type { SolanaAddress } from "../solana-address.ts";
import type { ProgramDeployment } from "./program-deployment.ts";

/** Solana's upgradeable loader, which stores and runs programs. */
export const programLoader = "BPFLoaderUpgradeab1e11111111111111111111111" as SolanaAddress;

/** The bytes before the code. */
const headerBytes = 45;

/** The code of a program as the chain has it, when it was last changed, and the key that may replace it. */
export type ProgramData = { slot: bigint; upgradeAuthority: SolanaAddress | null; code: Uint8Array };

/** Returns the address of the account that holds a program's code. */
export async function programDataAddress(program: SolanaAddress): Promise<SolanaAddress> {
	const seeds = [getAddressEncoder().encode(program)];
	return (await getProgramDerivedAddress({ programAddress: programLoader, seeds }))[0];
}

/** Decodes an account of the loader; undefined if it does not hold a program's code. */
export function decodeProgramData(data: Uint8Array): ProgramData | undefined {
	if (data[0] !== 3 || data.length < headerBytes) return undefined;
	const upgradeAuthority = data[12] === 1 ? getAddressDecoder().decode(data, 13) : null;
	const slot = new DataView(data.buffer, data.byteOffset).getBigUint64(4, true);
	return { slot, upgradeAuthority, code: data.subarray(headerBytes) };
}

/** Returns how a program differs from what the deployment publishes about it; undefined if it does not. */
export function programProblem(
	{ slot, upgradeAuthority, code }: ProgramData,
	published: Pick<ProgramDeployment, "upgradeAuthority" | "deployedAtSlot" | "code">,
): string | undefined {
	if (upgradeAuthority !== published.upgradeAuthority) {
		const may = (authority: SolanaAddress | null) => (authority === null ? "no key may" : `${authority} may`);
		return `${may(upgradeAuthority)} replace the program, but by the deployment ${may(published.upgradeAuthority)}`;
	}
	// The upgrade authority could install code that writes false records, and then install the published code again.
	if (upgradeAuthority !== null && slot !== BigInt(published.deployedAtSlot)) {
		return `the program was changed in slot ${slot}, but by the deployment it was last changed in slot ${published.deployedAtSlot}`;
	}
	const { bytes, sha256: hash } = published.code;
	// Anyone can lengthen a program's account by zeros, which changes nothing about the program.
	const isSame =
		code.length >= bytes &&
		sha256(code.subarray(0, bytes)) === hash &&
		code.subarray(bytes).every((byte) => byte === 0);
	return isSame ? undefined : "the program's code is not the published one";
}
