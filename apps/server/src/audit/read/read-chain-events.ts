import { type Amount, geoEscrowAbi, geoVaultAbi, type Order, toWord } from "@geoswap/protocol";
import { type Address, BaseError, type Hex, type Log, parseEventLogs, RpcRequestError } from "viem";
import type { AuditedChain } from "./audited-chain.ts";

/** The events of a chain up to a block. Every event has the chain and the block it happened in. */
export type ChainEvents = {
	opened: At<{ orderId: Hex; order: Order }>[];
	released: At<{ orderId: Hex; paid: boolean }>[];
	refunded: At<{ orderId: Hex; paid: boolean }>[];
	credited: At<{ escrow: Address; token: Address; amount: Amount }>[];
	claimed: At<{ escrow: Address; beneficiary: Address; token: Address; amount: Amount }>[];
	filled: At<{
		orderId: Hex;
		delivered: bigint;
		/** Undefined on Solana, where each transaction of a fee payer is compared with the books anyway. */
		transaction?: Hex;
	}>[];
	voided: At<{ orderId: Hex }>[];
};
type At<T> = T & { chainId: number; block: number };

/** The most blocks that most nodes return logs for at once. */
const blocksAtOnce = 5_000;

/**
 * Reads all events of our contracts since they were deployed, or since a block, straight from the chain. The `Opened`
 * event of a token that the deployment does not list is skipped, because anyone can open as many such orders as they
 * pay for. It is kept if the order is one of the service's own swaps: their asset may have been delisted since.
 */
export async function readChainEvents(
	chain: AuditedChain,
	{
		fromBlock = chain.deployment.deployedAtBlock,
		toBlock,
		isSwap,
	}: {
		/** The first block to read. Earlier events are known. */
		fromBlock?: number | undefined;
		toBlock: number;
		/** Returns whether the books have a swap with this order. */
		isSwap: (orderId: Hex) => boolean;
	},
): Promise<ChainEvents> {
	const events = noEvents();
	for (let from = fromBlock; from <= toBlock; from += blocksAtOnce) {
		const to = Math.min(from + blocksAtOnce - 1, toBlock);
		await Promise.all([
			addEscrowEvents(chain, { from, to, events, isSwap }),
			addVaultEvents(chain, { from, to, events }),
		]);
	}
	return events;
}

/** Returns the logs of a range of blocks. If the node refuses to list so many, asks for halves, down to one block. */
async function logsOf(
	chain: AuditedChain,
	{ address, from, to }: { address: Address[]; from: number; to: number },
): Promise<Log<bigint, number, false>[]> {
	try {
		return await chain.client.getLogs({ address, fromBlock: BigInt(from), toBlock: BigInt(to) });
	} catch (error) {
		const isRefused = error instanceof BaseError && error.walk((one) => one instanceof RpcRequestError);
		if (!isRefused || from === to) throw error;
		const middle = Math.floor((from + to) / 2);
		return [
			...(await logsOf(chain, { address, from, to: middle })),
			...(await logsOf(chain, { address, from: middle + 1, to })),
		];
	}
}

export function noEvents(): ChainEvents {
	return { opened: [], released: [], refunded: [], credited: [], claimed: [], filled: [], voided: [] };
}

type Span = { from: number; to: number; events: ChainEvents };

async function addEscrowEvents(
	chain: AuditedChain,
	{ from, to, events, isSwap }: Span & { isSwap: (orderId: Hex) => boolean },
): Promise<void> {
	const { chainId, escrows, deployment } = chain;
	const listed = new Set(deployment.assets.map(({ address }) => toWord(address)));
	const logs = await logsOf(chain, { address: escrows, from, to });
	for (const { eventName, args, address: escrow, blockNumber } of parseEventLogs({
		abi: geoEscrowAbi,
		logs,
	})) {
		const at = { chainId, block: Number(blockNumber) };
		if (eventName === "Opened") {
			const { orderId, wallet, terms } = args;
			if (!listed.has(terms.inputToken) && !isSwap(orderId)) continue;
			const order = {
				...terms,
				originChainId: BigInt(chainId),
				escrow: toWord(escrow),
				wallet: toWord(wallet),
			};
			events.opened.push({ ...at, orderId, order });
		} else if (eventName === "Released") events.released.push({ ...at, ...args });
		else if (eventName === "Refunded") events.refunded.push({ ...at, ...args });
		else if (eventName === "Credited") events.credited.push({ ...at, ...args, escrow });
		else if (eventName === "Claimed") events.claimed.push({ ...at, ...args, escrow });
	}
}

async function addVaultEvents(chain: AuditedChain, { from, to, events }: Span): Promise<void> {
	const { chainId, vaults } = chain;
	const logs = await logsOf(chain, { address: vaults, from, to });
	for (const { eventName, args, blockNumber, transactionHash } of parseEventLogs({
		abi: geoVaultAbi,
		logs,
	})) {
		const at = { chainId, block: Number(blockNumber) };
		if (eventName === "Filled") events.filled.push({ ...at, ...args, transaction: transactionHash });
		else if (eventName === "Voided") events.voided.push({ ...at, ...args });
	}
}
