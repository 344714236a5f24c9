import type { Milliseconds } from "@geoswap/protocol";
import { connectChain, type EvmChain } from "../chain/evm/connect-chain.ts";
import { evmNodePool } from "../chain/evm/evm-node-pool.ts";
import type { OnNodeChange } from "../chain/node-pool/create-node-client.ts";
import { watchHeads } from "../chain/node-pool/watch-heads.ts";
import type { OnChainCall } from "../chain/request-chain.ts";
import { connectSolana, type SolanaChain, solanaNodePool } from "../chain/solana/connect-solana.ts";
import { type EvmChainConfig, firstUrl, nodesFor, type SolanaChainConfig } from "../config/chain-config.ts";
import type { Log } from "../telemetry/log.ts";
import type { NodeMetrics } from "../telemetry/node-metrics.ts";

/** The timeout of a call to a node. */
const timeoutMs: Milliseconds = 10_000;

export type NodeWatching = {
	/** Called after every call to a chain, regardless of the nodes that got it. */
	onCall?: OnChainCall | undefined;
	/** Undefined if nothing is counted. */
	nodeMetrics?: NodeMetrics | undefined;
	/** Ends subscriptions to blocks, and metrics of the nodes. */
	signal: AbortSignal;
	log: Log;
};

/** Connects an EVM chain through all its nodes. */
export function connectEvmNodes(
	config: EvmChainConfig,
	{ batchSize, onCall, ...watching }: NodeWatching & { batchSize?: number },
): EvmChain {
	const { chainId, nodes } = config;
	const { pool, transport } = evmNodePool({
		chainId,
		nodes,
		timeoutMs,
		batchSize,
		...watch(chainId, watching),
	});
	watching.nodeMetrics?.watch(chainId, pool.readings, watching.signal);
	const urls = nodesFor("read", config).flatMap(({ webSocketUrl }) => webSocketUrl ?? []);
	const { signal } = watching;
	const news = urls.length > 0 ? watchHeads({ urls, seen: pool.seenHead, signal }) : undefined;
	return connectChain({ ...config, rpcUrl: firstUrl(config), transport, news, onCall });
}

/** Connects Solana through all its nodes. */
export function connectSolanaNodes(
	config: SolanaChainConfig,
	{ onCall, ...watching }: NodeWatching,
): SolanaChain {
	const { chainId, nodes, deployment } = config;
	const { pool, transport } = solanaNodePool({
		genesisHash: deployment.genesisHash,
		nodes,
		timeoutMs,
		...watch(chainId, watching),
	});
	watching.nodeMetrics?.watch(chainId, pool.readings, watching.signal);
	return connectSolana({ ...config, rpcUrl: firstUrl(config), transport, onCall });
}

function watch(chainId: number, { nodeMetrics, log }: Pick<NodeWatching, "nodeMetrics" | "log">) {
	const countRest = nodeMetrics?.rested(chainId);
	const onChange: OnNodeChange = ({ host, reason, restMs }) => {
		if (reason) countRest?.({ host, reason });
		if (reason === "other chain")
			log.error({ chainId, host }, "a node belongs to another chain and is not used");
		else if (reason) log.warn({ chainId, host, reason, restMs }, "a node is not used for a while");
		else log.info({ chainId, host }, "a node answers again");
	};
	return { onChange, onCall: nodeMetrics?.counted(chainId) };
}
