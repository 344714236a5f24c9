import { type Address, type Hex, numberToHex, zeroAddress } from "viem";
import { RpcFailure } from "../sim-chain.ts";
import { blockGasLimit } from "./block-gas-limit.ts";
import type { BlockTerms, SimEvm } from "./create-evm.ts";
import type { EvmBlock } from "./evm-blocks.ts";
import { lower } from "./lower.ts";
import { parseAuthorization, type RpcAuthorization } from "./parse-raw-transaction.ts";
import { rpcBlock, rpcLogs, rpcReceipt, rpcTransaction } from "./rpc-block.ts";
import { type RunnableCall, runCall, type TransactionOutcome } from "./run-transaction.ts";
import { createStateOverlay, type StateOverlay, stateKey } from "./state-overlay.ts";
import type { TransactionPool } from "./transaction-pool.ts";
import type { VersionedState } from "./versioned-state.ts";

export type RpcWorld = {
	chainId: number;
	blocks: readonly EvmBlock[];
	finalized: number;
	/** Base fee of the next block. */
	baseFee: bigint;
	state: VersionedState;
	pool: TransactionPool;
	evm: SimEvm;
	send: (raw: Hex) => Hex;
};

type CallObject = {
	from?: Address;
	to?: Address;
	value?: Hex;
	data?: Hex;
	input?: Hex;
	gas?: Hex;
	authorizationList?: RpcAuthorization[];
};
type StateOverrides = Record<Address, { code?: Hex; balance?: Hex; nonce?: Hex }>;
type SimulatedBlocks = {
	blockStateCalls: {
		calls?: CallObject[];
		stateOverrides?: StateOverrides;
		blockOverrides?: { time?: Hex };
	}[];
};
type LogFilter = {
	address?: Address | Address[];
	topics?: (Hex | Hex[] | null)[];
	fromBlock?: string;
	toBlock?: string;
	blockHash?: Hex;
};

const simulatedGas = 50_000_000n;

/** Answers one JSON-RPC call as a complete node would. Calls that run code are answered with a promise. */
export function answerRpc(
	world: RpcWorld,
	{ method, params }: { method: string; params: readonly unknown[] },
): unknown {
	const { chainId, blocks, state, pool } = world;
	const account = () => lower(params[0] as string);
	const numberAt = (key: string, tag: unknown) => (state.read(key, heightOf(world, tag)) ?? 0n) as bigint;
	switch (method) {
		case "eth_chainId":
			return numberToHex(chainId);
		case "net_version":
			return String(chainId);
		case "eth_blockNumber":
			return numberToHex(blocks.length - 1);
		case "eth_gasPrice":
			return numberToHex(world.baseFee + 1_000_000_000n);
		case "eth_maxPriorityFeePerGas":
			return numberToHex(1_000_000_000n);
		case "eth_feeHistory":
			// There are no tips here, so the service offers its minimum.
			return { oldestBlock: numberToHex(0), baseFeePerGas: [], gasUsedRatio: [], reward: [] };
		case "eth_getBlockByNumber": {
			const block = blocks[numberOf(world, params[0])];
			return block ? rpcBlock(block, { chainId, isFull: params[1] === true }) : null;
		}
		case "eth_getBlockByHash": {
			const block = blockByHash(world, params[0]);
			return block ? rpcBlock(block, { chainId, isFull: params[1] === true }) : null;
		}
		case "eth_getLogs":
			return filteredLogs(world, params[0] as LogFilter);
		case "eth_getTransactionReceipt": {
			const place = minedPlace(world, params[0]);
			return place ? rpcReceipt(place.block, place.index) : null;
		}
		case "eth_getTransactionByHash": {
			const place = minedPlace(world, params[0]);
			const mined = place?.block.mined[place.index];
			if (place && mined) return rpcTransaction(mined.transaction, { chainId, ...place });
			const waiting = pool.find(String(params[0]));
			return waiting ? rpcTransaction(waiting, { chainId }) : null;
		}
		case "eth_getTransactionCount":
			if (params[1] === "pending") return numberToHex(pool.pendingNonce(account()));
			return numberToHex(numberAt(stateKey.nonce(account()), params[1]));
		case "eth_getBalance":
			return numberToHex(numberAt(stateKey.native(account()), params[1]));
		case "eth_getCode": {
			const code = state.read(stateKey.code(account()), heightOf(world, params[1]));
			return code === undefined || code === "" ? "0x" : code;
		}
		case "eth_call": {
			const overrides = params[2] as StateOverrides | undefined;
			return call(world, params[0] as CallObject, params[1], overrides).then(({ data }) => data);
		}
		case "eth_estimateGas": {
			return call(world, params[0] as CallObject, params[1]).then(({ gasUsed }) =>
				numberToHex((gasUsed * 5n) / 4n),
			);
		}
		case "eth_simulateV1":
			return simulate(world, params[0] as SimulatedBlocks, params[1]);
		case "eth_sendRawTransaction":
			return world.send(params[0] as Hex);
		default:
			throw new RpcFailure(-32_601, `the method ${method} does not exist/is not available`);
	}
}

/** Returns the block number of a tag; -1 or too high if there is no such block. */
function numberOf({ blocks, finalized }: RpcWorld, tag: unknown): number {
	if (tag === undefined || tag === "latest" || tag === "pending") return blocks.length - 1;
	if (tag === "finalized" || tag === "safe") return finalized;
	return tag === "earliest" ? 0 : Number(tag);
}

function heightOf(world: RpcWorld, tag: unknown): number {
	const height =
		typeof tag === "object" && tag !== null
			? (blocksOfParam(world, tag)?.number ?? -1)
			: numberOf(world, tag);
	if (!world.blocks[height]) throw new RpcFailure(-32_000, "header not found");
	return height;
}

function blockByHash({ blocks }: RpcWorld, hash: unknown): EvmBlock | undefined {
	// Callers nearly always request new blocks.
	for (let i = blocks.length - 1; i >= 0; i--) if (blocks[i]?.hash === hash) return blocks[i];
	return undefined;
}

function blocksOfParam(world: RpcWorld, param: unknown): EvmBlock | undefined {
	if (typeof param === "object" && param !== null) {
		return blockByHash(world, (param as { blockHash?: Hex }).blockHash);
	}
	const isHash = typeof param === "string" && param.length === 66;
	return isHash ? blockByHash(world, param) : world.blocks[numberOf(world, param)];
}

function minedPlace({ blocks }: RpcWorld, hash: unknown): { block: EvmBlock; index: number } | undefined {
	for (let i = blocks.length - 1; i >= 0; i--) {
		const block = blocks[i] as EvmBlock;
		const index = block.mined.findIndex(({ transaction }) => transaction.hash === hash);
		if (index !== -1) return { block, index };
	}
	return undefined;
}

function filteredLogs(world: RpcWorld, filter: LogFilter): unknown[] {
	const addresses = filter.address && [filter.address].flat().map(lower);
	return logBlocks(world, filter).flatMap((block) =>
		rpcLogs(block).filter(
			({ address, topics }) =>
				(!addresses || addresses.includes(address)) &&
				(filter.topics ?? []).every(
					(wanted, i) => wanted === null || [wanted].flat().includes(topics[i] as Hex),
				),
		),
	);
}

function logBlocks(world: RpcWorld, { blockHash, fromBlock, toBlock }: LogFilter): readonly EvmBlock[] {
	if (blockHash === undefined) {
		return world.blocks
			.slice(numberOf(world, fromBlock), numberOf(world, toBlock) + 1)
			.filter(({ mined }) => mined.length > 0);
	}
	const block = blockByHash(world, blockHash);
	if (!block) throw new RpcFailure(-32_000, "unknown block");
	return [block];
}

function runnable(given: CallObject): RunnableCall {
	return {
		from: lower(given.from ?? zeroAddress),
		to: given.to && lower(given.to),
		value: BigInt(given.value ?? 0n),
		data: given.data ?? given.input ?? "0x",
		gas: given.gas === undefined ? simulatedGas : BigInt(given.gas),
		authorizations: (given.authorizationList ?? []).map(parseAuthorization),
	};
}

function overlayAt({ state }: RpcWorld, height: number): StateOverlay {
	return createStateOverlay((key) => state.read(key, height));
}

function override(overlay: StateOverlay, overrides: StateOverrides): void {
	for (const [address, { code, balance, nonce }] of Object.entries(overrides)) {
		const at = lower(address);
		if (code !== undefined) overlay.set(stateKey.code(at), code === "0x" ? "" : code.toLowerCase());
		if (balance !== undefined) overlay.set(stateKey.native(at), BigInt(balance));
		if (nonce !== undefined) overlay.set(stateKey.nonce(at), BigInt(nonce));
	}
}

/** Throws an `RpcFailure` with the revert data if the call fails. */
async function call(
	world: RpcWorld,
	given: CallObject,
	tag: unknown,
	overrides: StateOverrides = {},
): Promise<TransactionOutcome> {
	const height = heightOf(world, tag);
	const { timestamp, baseFee } = world.blocks[height] as EvmBlock;
	const block: BlockTerms = { number: BigInt(height), timestamp: BigInt(timestamp), baseFee };
	const overlay = overlayAt(world, height);
	override(overlay, overrides);
	const outcome = await runCall({ call: runnable(given), block, state: overlay, evm: world.evm });
	if (!outcome.isSuccess) throw new RpcFailure(3, "execution reverted", outcome.data);
	return outcome;
}

/** Simulates blocks that could follow, without fees, nonces or signatures of their senders. */
async function simulate(
	world: RpcWorld,
	{ blockStateCalls }: SimulatedBlocks,
	tag: unknown,
): Promise<unknown[]> {
	const { chainId, evm } = world;
	const height = heightOf(world, tag);
	const overlay = overlayAt(world, height);
	let parent = world.blocks[height] as EvmBlock;
	const simulated: unknown[] = [];
	for (const { calls = [], stateOverrides = {}, blockOverrides = {} } of blockStateCalls) {
		override(overlay, stateOverrides);
		const block: EvmBlock = {
			...parent,
			number: parent.number + 1,
			parentHash: parent.hash,
			timestamp: blockOverrides.time === undefined ? parent.timestamp + 1 : Number(blockOverrides.time),
			baseFee: 0n,
			mined: [],
		};
		parent = block;
		const terms: BlockTerms = {
			number: BigInt(block.number),
			timestamp: BigInt(block.timestamp),
			baseFee: 0n,
		};
		let logs = 0;
		const results: unknown[] = [];
		for (const [i, given] of calls.entries()) {
			const outcome = await runCall({ call: runnable(given), block: terms, state: overlay, evm });
			const place = {
				blockHash: block.hash,
				blockNumber: numberToHex(block.number),
				transactionHash: block.hash,
				transactionIndex: numberToHex(i),
				removed: false,
			};
			const gasUsed = numberToHex(outcome.gasUsed);
			if (!outcome.isSuccess) {
				const error = { code: 3, message: "execution reverted", data: outcome.data };
				results.push({ returnData: outcome.data, logs: [], gasUsed, status: "0x0", error });
				continue;
			}
			results.push({
				returnData: outcome.data,
				logs: outcome.logs.map((log) => ({ ...log, ...place, logIndex: numberToHex(logs++) })),
				gasUsed,
				status: "0x1",
			});
		}
		simulated.push({
			...rpcBlock(block, { chainId, isFull: false }),
			gasLimit: numberToHex(blockGasLimit),
			calls: results,
		});
	}
	return simulated;
}
