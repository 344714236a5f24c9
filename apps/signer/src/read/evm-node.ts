import { type Address, createPublicClient, http, type PublicClient } from "viem";

/** The address of Multicall3 on every chain that has it. */
export const multicall3Address: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** A call to a node must end well before the client's timeout. */
export const nodeTimeoutMs = 2_000;
/** The signer reads states and prices, whose size no third party can choose. */
const maxAnswerBytes = 1024 * 1024;

/** The signer's own node of an EVM chain. */
export type EvmNode = {
	chainId: number;
	client: Pick<PublicClient, "getChainId" | "multicall" | "readContract">;
};

/** Connects to a node, which is only read. */
export function connectEvmNode({ chainId, rpcUrl }: { chainId: number; rpcUrl: string }): EvmNode {
	const transport = http(rpcUrl, {
		retryCount: 1,
		timeout: nodeTimeoutMs,
		maxResponseBodySize: maxAnswerBytes,
	});
	return { chainId, client: createPublicClient({ transport, cacheTime: 0 }) };
}
