import type { RpcLog } from "./evm/rpc-block.ts";
import type { Lie } from "./lie.ts";
import type { HostileNodes } from "./plan.ts";
import { RpcFailure } from "./sim-chain.ts";

type LogFilter = { blockHash?: string };

const answers: Record<HostileNodes, (filter: LogFilter, logs: readonly RpcLog[]) => unknown> = {
	/** As if a stranger had filled every block with one log less than the node's maximum. */
	cap: (_, logs) => (logs.length > 1 ? refuse("query returned more than 1 results") : logs),
	/** Every node leaves out the same logs, those of half of all orders, each time. */
	omit: (_, logs) => logs.filter(({ topics }) => !isPicked(topics[1], "01234567")),
	/** The logs of one block in eight are not returned at all. */
	mute: ({ blockHash }, logs) => {
		const blocks = [blockHash, ...logs.map((log) => log.blockHash)];
		return blocks.some((hash) => isPicked(hash, "03")) ? refuse("the response size exceeds a limit") : logs;
	},
};

export function hostileNodes(kind: HostileNodes): Lie {
	return (method, [filter], truth) =>
		method === "eth_getLogs" ? answers[kind](filter as LogFilter, truth as RpcLog[]) : truth;
}

function refuse(message: string): never {
	throw new RpcFailure(-32_005, message);
}

/** Returns whether a hash ends with one of these digits. */
function isPicked(hash: string | undefined, digits: string): boolean {
	return hash !== undefined && digits.includes(hash.slice(-1));
}
