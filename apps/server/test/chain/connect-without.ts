import { startLyingNode, type TestChain } from "@geoswap/devnet";
import { connectChain, type EvmChain } from "../../src/chain/evm/connect-chain.ts";

/** An ability that not every node has. */
export type Ability = "eth_simulateV1" | "overrides in eth_call" | "debug_traceCall";

/** Connects to a chain through a node that lacks some abilities. Calls that need them are answered as such nodes do. */
export async function connectWithout(
	{ chainId, rpcUrl, deployment }: TestChain,
	lacks: readonly Ability[],
): Promise<{ chain: EvmChain; calls: { method: string }[]; stop: () => Promise<void> }> {
	const node = await startLyingNode({ targetUrl: rpcUrl });
	node.liar = ({ method, params }) => {
		if (lacks.includes(method as Ability)) {
			return { error: { code: -32_601, message: `the method ${method} does not exist/is not available` } };
		}
		if (method === "eth_call" && params.length > 2 && lacks.includes("overrides in eth_call")) {
			return { error: { code: -32_602, message: "too many arguments, want at most 2" } };
		}
		return undefined;
	};
	return {
		chain: connectChain({ chainId, rpcUrl: node.url, deployment }),
		calls: node.calls,
		stop: node.stop,
	};
}
