import { attesterSetHash, type ProgramDeployment } from "@geoswap/protocol";
import { getAddress, numberToHex, toHex } from "viem";

const attesterSet = { threshold: 1, attesters: [getAddress(numberToHex(7, { size: 20 }))] };

/** Returns a program whose code cannot be changed, with one attester by default, for tests that need no chain. */
export function testProgram(
	given: Pick<ProgramDeployment, "address" | "vault" | "operator"> & Partial<ProgramDeployment>,
): ProgramDeployment {
	return {
		upgradeAuthority: null,
		deployedAtSlot: 0,
		code: { bytes: 1, sha256: toHex(1n, { size: 32 }) },
		attesterSet: { ...attesterSet, hash: attesterSetHash(attesterSet) },
		...given,
	};
}
