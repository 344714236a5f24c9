import type { Milliseconds } from "@geoswap/protocol";
import { createPublicClient, webSocket } from "viem";
import { sayWhy } from "../check/finding.ts";
import type { Fact } from "./fact.ts";

/** Subscribes to new blocks by websocket and waits for one. */
export async function readNewHeads(
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
