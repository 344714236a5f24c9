import { createRequire } from "node:module";
import { type Address, bytesToHex, getAddress, type Hex, numberToHex } from "viem";

export const gasPriceOracleAddress: Address = "0x420000000000000000000000000000000000000F";
export const l1BlockAddress: Address = "0x4200000000000000000000000000000000000015";

export type Predeploy = { address: Address; code: Hex; storage: { index: Hex; value: Hex }[] };

/** Reads GasPriceOracle and L1Block as OP-stack chains have them since Isthmus, from the package of Hardhat's node. */
export function opStackPredeploys(): Predeploy[] {
	// The package is a native module of many megabytes, so only a test that needs it loads it.
	const { opGenesisState, OpHardfork } = createRequire(import.meta.url)(
		"@nomicfoundation/edr",
	) as typeof import("@nomicfoundation/edr");
	return opGenesisState(OpHardfork.Isthmus)
		.map(({ address, code, storage = [] }) => ({
			address: getAddress(bytesToHex(address)),
			code: bytesToHex(code ?? new Uint8Array()),
			storage: storage.map(({ index, value }) => ({ index: word(index), value: word(value) })),
		}))
		.filter(({ address }) => address === gasPriceOracleAddress || address === l1BlockAddress);
}

function word(value: bigint): Hex {
	return numberToHex(value, { size: 32 });
}
