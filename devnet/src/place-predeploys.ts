import { type Address, getContractAddress, type Hex } from "viem";
import { readMulticall3, readPredeploy } from "./contract-code.ts";
import { deployCode } from "./deploy-code.ts";
import { type DevnetChain, multicall3Address } from "./devnet-chain.ts";
import { sendAs } from "./send-as.ts";

const permit2Address: Address = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
const permit2Salt: Hex = "0x0000000000000000000000000000000000000000d3af2663da51c10215000000";

/** Places the contracts that every real chain has at a known address: Permit2 and Multicall3. */
export async function placePredeploys(chain: DevnetChain, from: Address): Promise<{ permit2: Address }> {
	const { testClient, publicClient } = chain;
	// The file is creation code. If it were placed as it is, Permit2 would accept any signature.
	const permit2 = await deployCode(chain, from, readPredeploy(permit2Address), permit2Salt);
	if (permit2 !== permit2Address)
		throw new Error(`Permit2 was deployed to the unexpected address ${permit2}`);

	const nonce = await publicClient.getTransactionCount({ address: from });
	await sendAs(chain, from, { data: await readMulticall3() });
	const built = await publicClient.getCode({ address: getContractAddress({ from, nonce: BigInt(nonce) }) });
	await testClient.setCode({ address: multicall3Address, bytecode: built ?? "0x" });
	return { permit2 };
}
