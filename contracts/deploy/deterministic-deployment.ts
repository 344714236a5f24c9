import { type Address, concat, getCreate2Address, type Hex, toHex } from "viem";

/** The deployer that is at this address on every chain, put there by a transaction that anyone can send. */
export const deterministicDeployer: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** One salt for all: what differs between contracts is their creation code. */
const geoswapSalt: Hex = toHex("geoswap", { size: 32 });

export type DeterministicDeployment = { address: Address; to: Address; data: Hex };

/** Where this creation code ends up, on any chain and whoever sends it, and the call that puts it there. */
export function deterministicDeployment(initCode: Hex, salt: Hex = geoswapSalt): DeterministicDeployment {
	return {
		address: getCreate2Address({ from: deterministicDeployer, salt, bytecode: initCode }),
		to: deterministicDeployer,
		data: concat([salt, initCode]),
	};
}
