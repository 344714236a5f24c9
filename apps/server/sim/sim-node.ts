import type { RpcTransport } from "@solana/kit";
import { custom, HttpRequestError, RpcRequestError, type Transport } from "viem";
import { honest, type Lie } from "./lie.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { RpcFailure, type SimChain } from "./sim-chain.ts";
import { never, type SimProcess } from "./sim-process.ts";

/** A fault between a process and the chain at this moment. */
export type NodeFault = "down" | "slow" | "stale" | "lies" | undefined;

/** A process's connection to a chain, with latency, sometimes down, and never over a real network. */
export type SimNode = { evm: Transport; solana: RpcTransport };

const latencyMs = { least: 5, most: 40 };
const slowMs = { least: 1_000, most: 9_000 };
/** Milliseconds after which a call to a silent node times out. */
const timeoutMs = 10_000;
const url = "http://node.invalid";

export function createSimNode({
	chain,
	process,
	scheduler,
	random,
	faultOf,
	lie = honest,
	twist = honest,
	onBroadcast,
	figures,
}: {
	chain: SimChain;
	/** Undefined for an observer outside of the world, which is answered immediately and truthfully. */
	process: SimProcess | undefined;
	scheduler: Scheduler;
	random: SeededRandom;
	faultOf: () => NodeFault;
	/** The node's answers while it lies. */
	lie?: Lie;
	/** Changes every answer, or throws in its place. */
	twist?: Lie;
	/** Called when a node took a transaction, before the result reaches the process. */
	onBroadcast?: (params: readonly unknown[]) => void;
	figures?: { calls: number; wallMs: number };
}): SimNode {
	const answer = async (method: string, params: readonly unknown[], isBehind = false): Promise<unknown> => {
		const startedAt = performance.now();
		try {
			return await chain.request(method, params, { isBehind });
		} finally {
			if (figures) {
				figures.calls++;
				figures.wallMs += performance.now() - startedAt;
			}
		}
	};

	async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
		if (!process) return answer(method, params);
		process.touch(method);
		const fault = faultOf();
		const isUnheard = fault === "down" && random.chance(0.3);
		const { least, most } = fault === "slow" ? slowMs : latencyMs;
		const takesMs = isUnheard ? timeoutMs : random.between(least, most);
		await process.hear(scheduler.sleep(takesMs, `${process.name} ${method}`));
		if (fault === "down") {
			// The transaction may still have arrived.
			if (isUnheard && isBroadcast(method) && random.chance(0.5)) await attempt(() => answer(method, params));
			throw new Unreachable();
		}
		const result = await attempt(async () => {
			const answered = await answer(method, params, fault === "stale");
			const shown = fault === "lies" ? lie(method, params, answered) : answered;
			return twist(method, params, shown);
		});
		if (isBroadcast(method)) onBroadcast?.(params);
		process.touch(`${method} answered`);
		if (!process.isAlive()) return never();
		if ("error" in result) throw result.error;
		return result.value;
	}

	return {
		evm: custom(
			{
				request: async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => {
					try {
						return await ask(method, params);
					} catch (error) {
						throw asEvmError(error, method);
					}
				},
			},
			{ retryCount: 0 },
		),
		solana: async <TResponse>({ payload }: Parameters<RpcTransport>[0]) => {
			const { id, method, params } = payload as { id: unknown; method: string; params: readonly unknown[] };
			try {
				return { jsonrpc: "2.0", id, result: await ask(method, params) } as TResponse;
			} catch (error) {
				if (!(error instanceof RpcFailure)) throw error;
				const { code, message, data } = error;
				return { jsonrpc: "2.0", id, error: { code, message, data } } as TResponse;
			}
		},
	};
}

class Unreachable extends Error {
	override name = "Unreachable";

	constructor() {
		super("the node does not answer");
	}
}

function asEvmError(error: unknown, method: string): unknown {
	if (error instanceof RpcFailure) {
		const { code, message, data } = error;
		return new RpcRequestError({ body: { method }, error: { code, message, data }, url });
	}
	if (error instanceof Unreachable)
		return new HttpRequestError({ body: { method }, details: error.message, url });
	return error;
}

function isBroadcast(method: string): boolean {
	return method === "eth_sendRawTransaction" || method === "sendTransaction";
}

async function attempt(run: () => Promise<unknown>): Promise<{ value: unknown } | { error: unknown }> {
	try {
		return { value: await run() };
	} catch (error) {
		return { error };
	}
}
