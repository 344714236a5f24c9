import { deterministicDeployment } from "@geoswap/contracts";
import type { Address, Hex } from "viem";
import type { DevnetChain } from "./devnet-chain.ts";
import { sendAs } from "./send-as.ts";

/** Deploys with CREATE2, so that the address depends on the code and the salt, not on earlier transactions. */
export async function deployCode(
	chain: DevnetChain,
	from: Address,
	initCode: Hex,
	salt?: Hex,
): Promise<Address> {
	const { address, to, data } = deterministicDeployment(initCode, salt);
	await sendAs(chain, from, { to, data });
	return address;
}
