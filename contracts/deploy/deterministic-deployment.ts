import { type Address, concat, getCreate2Address, type Hex, toHex } from "viem";

/** The CREATE2 deployer, at this address on every chain. Anyone can send the transaction that puts it there. */
export const deterministicDeployer: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** One salt for all contracts, because their creation code differs. */
const geoswapSalt: Hex = toHex("geoswap", { size: 32 });

export type DeterministicDeployment = { address: Address; to: Address; data: Hex };

/**
 * Returns the address of this creation code, the same on any chain and for any sender, and the call that deploys it.
 */
export function deterministicDeployment(initCode: Hex, salt: Hex = geoswapSalt): DeterministicDeployment {
	return {
		address: getCreate2Address({ from: deterministicDeployer, salt, bytecode: initCode }),
		to: deterministicDeployer,
		data: concat([salt, initCode]),
	};
}
