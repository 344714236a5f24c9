import type { Milliseconds, Seconds } from "@geoswap/protocol";
import { createPublicClient, http, type PublicClient, webSocket } from "viem";
import { sayWhy } from "../check/finding.ts";
import { type Fact, measure } from "./fact.ts";
import { measureBlockSeconds, measureFinality } from "./measure-blocks.ts";
import { type FeeModelMeasurement, measureFeeModel } from "./measure-fee-model.ts";
import { measureLogRange } from "./measure-log-range.ts";
import { type MethodFacts, probeMethods, type SimulationFact } from "./probe-methods.ts";

type Maybe<T> = Fact<T | undefined>;

/** Facts about an endpoint of a chain, each with how it was measured. Undefined means unknown. */
export type EndpointFacts = {
	chainId: Fact<number>;
	clientVersion: Maybe<string>;
	methods: MethodFacts;
	simulation: SimulationFact;
	logRangeBlocks: Maybe<number>;
	latencyMs: Maybe<{ p50: Milliseconds; p95: Milliseconds }>;
	blockSeconds: Maybe<Seconds>;
	finality: Maybe<{ blocks: number; seconds: Seconds }>;
	/** Undefined if no websocket URL was given. */
	newHeads: Maybe<boolean>;
	feeModel: Maybe<FeeModelMeasurement["value"]> & Partial<Pick<FeeModelMeasurement, "receipts">>;
};

/** Measures an endpoint. Throws if it is of another chain, or does not answer. Changes nothing on the chain. */
export async function probeEndpoint({
	url,
	chainId,
	webSocketUrl,
	timeoutMs = 10_000,
	nowMs = performance.now.bind(performance),
}: {
	url: string;
	chainId: number;
	webSocketUrl?: string | undefined;
	timeoutMs?: Milliseconds;
	nowMs?: () => Milliseconds;
}): Promise<EndpointFacts> {
	const client = createPublicClient({
		transport: http(url, { timeout: timeoutMs, retryCount: 2 }),
		cacheTime: 0,
	});
	const actual = await client.getChainId();
	if (actual !== chainId) {
		throw new Error(`the endpoint is chain ${actual}, not ${chainId}; give an endpoint of this chain`);
	}
	// One after the other, because public endpoints limit concurrent requests, and latency is that of an idle
	// connection.
	const latencyMs = await measure(() => measureLatency(client, nowMs));
	const blockSeconds = await measure(() => measureBlockSeconds(client));
	return {
		chainId: { value: actual, how: "eth_chainId" },
		clientVersion: await measure(async () => ({
			value: await client.request({ method: "web3_clientVersion" }),
			how: "web3_clientVersion",
		})),
		...(await probeMethods({ url, chainId, client })),
		logRangeBlocks: await measure(() => measureLogRange(client)),
		latencyMs,
		blockSeconds,
		finality: await measure(() => measureFinality(client)),
		newHeads: webSocketUrl
			? await readNewHeads(webSocketUrl, { timeoutMs: timeoutMs + 3_000 * (blockSeconds.value ?? 0) })
			: { value: undefined, how: "no websocket URL was given" },
		feeModel: await measure(() => measureFeeModel(client)),
	};
}

const calls = 20;

/** Measures how long the node takes to return its newest block, one call after the other. */
async function measureLatency(
	client: PublicClient,
	nowMs: () => Milliseconds,
): Promise<Fact<{ p50: Milliseconds; p95: Milliseconds }>> {
	const tookMs: number[] = [];
	for (let i = 0; i < calls; i++) {
		const startMs = nowMs();
		await client.getBlock({ blockTag: "latest" });
		tookMs.push(nowMs() - startMs);
	}
	tookMs.sort((a, b) => a - b);
	const at = (share: number) => Math.round(tookMs[Math.ceil(share * calls) - 1] ?? 0);
	return {
		value: { p50: at(0.5), p95: at(0.95) },
		how: `${calls} calls of eth_getBlockByNumber, one after the other`,
	};
}

/** Subscribes to new blocks by websocket and waits for one. */
async function readNewHeads(
	webSocketUrl: string,
	{ timeoutMs }: { timeoutMs: Milliseconds },
): Promise<Fact<boolean>> {
	const client = createPublicClient({
		transport: webSocket(webSocketUrl, { reconnect: false, retryCount: 0, timeout: timeoutMs }),
	});
	let timer: NodeJS.Timeout | undefined;
	try {
		const number = await new Promise<bigint>((resolve, reject) => {
			timer = setTimeout(() => reject(new Error(`no block within ${timeoutMs / 1_000} s`)), timeoutMs);
			client.transport
				.subscribe({
					params: ["newHeads"],
					onData: ({ result }) => resolve(BigInt(result.number)),
					onError: reject,
				})
				.catch(reject);
		});
		return { value: true, how: `eth_subscribe to newHeads gave block ${number}` };
	} catch (error) {
		return { value: false, how: sayWhy(error) };
	} finally {
		clearTimeout(timer);
		await client.transport
			.getRpcClient()
			.then((rpc) => rpc.close())
			.catch(() => {});
	}
}
