import { type Address, numberToHex, type PublicClient } from "viem";
import { sayWhy } from "../check/finding.ts";
import type { Fact } from "./fact.ts";

/** The largest range to try, since no reader of the service requests a larger one. */
const maxBlocks = 10_000n;
/** An address without logs, so that limits on the number of results do not matter. */
const nobody: Address = "0x000000000000000000000000000000000000dEaD";

/** Finds the largest range of `eth_getLogs` that the node accepts, by halving. */
export async function measureLogRange(client: PublicClient): Promise<Fact<number>> {
	const head = await client.getBlockNumber({ cacheTime: 0 });
	let blocks = head + 1n < maxBlocks ? head + 1n : maxBlocks;
	let refusal = "";
	for (; blocks >= 1n; blocks /= 2n) {
		const [fromBlock, toBlock] = [head - blocks + 1n, head].map((number) => numberToHex(number));
		try {
			await client.request({
				method: "eth_getLogs",
				params: [{ address: nobody, fromBlock, toBlock } as never],
			});
			const how = `eth_getLogs over the newest ${blocks} blocks was answered`;
			return { value: Number(blocks), how: refusal === "" ? how : `${how}; over twice as many: ${refusal}` };
		} catch (error) {
			refusal = sayWhy(error);
		}
	}
	return { value: 0, how: `eth_getLogs over one block was refused: ${refusal}` };
}
