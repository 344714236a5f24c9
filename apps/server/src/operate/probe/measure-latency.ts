import type { Milliseconds } from "@geoswap/protocol";
import type { PublicClient } from "viem";
import type { Fact } from "./fact.ts";

const calls = 20;

/** Measures how long the node takes to return its newest block, one call after the other. */
export async function measureLatency(
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
