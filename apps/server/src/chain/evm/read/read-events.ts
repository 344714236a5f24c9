import { type LogPart, moneyEventTopics, ourContracts, readLogs, type SubjectsOf } from "@geoswap/protocol";
import { formatLog, type Hash, type Hex, type Log, numberToHex, type RpcLog } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { type ContractEvent, decodeEvents } from "./decode-events.ts";

/**
 * Blocks whose events are read: one block by its hash, since a number could be answered from another fork, or a range
 * of final blocks.
 */
type Blocks = { blockHash: Hash } | { fromBlock: number; toBlock: number };

/**
 * Reads the events of our contracts that move money or decide an order, with the blocks that they are in. If
 * `subjectsOf` is given, events of other subjects are left out of a block with more events than a node returns.
 */
export async function readEvents(
	{ client, deployment }: EvmChain,
	{
		topics = Object.values(moneyEventTopics()),
		subjects,
		subjectsOf,
		isSplit,
		...blocks
	}: Blocks & {
		/** First topics of the events to read; all of them if absent. */
		topics?: readonly Hex[];
		subjects?: readonly Hex[];
		subjectsOf?: SubjectsOf | undefined;
		/** Returns whether to request less after this error. If absent, every error leads to smaller requests. */
		isSplit?: (error: unknown) => boolean;
	},
): Promise<{
	events: EventInBlock[] /** False if events of other subjects may be missing. */;
	isComplete: boolean;
}> {
	const { escrows, vaults } = ourContracts(deployment);
	const range = "blockHash" in blocks ? { fromBlock: 0, toBlock: 0 } : blocks;
	const read = async (part: LogPart): Promise<Log<bigint, number, false>[]> => {
		const where =
			"blockHash" in blocks
				? { blockHash: blocks.blockHash }
				: { fromBlock: numberToHex(part.fromBlock), toBlock: numberToHex(part.toBlock) };
		const wanted = [[...part.topics], ...(part.subjects ? [[...part.subjects]] : [])];
		const filter = { ...where, address: [...escrows, ...vaults], topics: wanted };
		const logs = (await client.request({ method: "eth_getLogs", params: [filter] })) as RpcLog[];
		return logs.map((log) => formatLog(log)) as Log<bigint, number, false>[];
	};
	const part = { ...range, topics, ...(subjects && { subjects }) };
	const { logs, isComplete } = await readLogs(part, {
		read,
		...(subjectsOf && { subjectsOf }),
		...(isSplit && { isSplit }),
	});
	const events = [...Map.groupBy(logs, ({ blockNumber }) => blockNumber)]
		.sort(([one], [other]) => Number(one - other))
		.flatMap(([number, inBlock]) =>
			decodeEvents(deployment, inBlock).map((event) => ({
				...event,
				blockNumber: Number(number),
				blockHash: inBlock[0]?.blockHash as Hash,
			})),
		);
	return { events, isComplete };
}

export type EventInBlock = ContractEvent & { blockNumber: number; blockHash: Hash };
