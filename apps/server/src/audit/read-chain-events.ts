import { geoEscrowAbi, geoVaultAbi, type Order, toWord } from "@geoswap/protocol";
import { type Address, type Hex, parseEventLogs } from "viem";
import type { AuditedChain } from "./audited-chain.ts";

/** What a chain says happened, up to a block. Every event has the chain and the block it happened in. */
export type ChainEvents = {
	opened: At<{ orderId: Hex; order: Order }>[];
	released: At<{ orderId: Hex; paid: boolean }>[];
	refunded: At<{ orderId: Hex; paid: boolean }>[];
	credited: At<{ escrow: Address; token: Address; amount: bigint }>[];
	claimed: At<{ escrow: Address; beneficiary: Address; token: Address; amount: bigint }>[];
	filled: At<{ orderId: Hex; delivered: bigint }>[];
	voided: At<{ orderId: Hex }>[];
};
type At<T> = T & { chainId: number; block: number };

/** As many blocks as most nodes answer for at once. */
const blocksAtOnce = 5_000;

/** All events of our contracts since they were deployed, or since a block, straight from the chain. */
export async function readChainEvents(
	chain: AuditedChain,
	{
		fromBlock = chain.deployment.deployedAtBlock,
		toBlock,
	}: {
		/** What was before is known. */
		fromBlock?: number | undefined;
		toBlock: number;
	},
): Promise<ChainEvents> {
	const events = noEvents();
	for (let from = fromBlock; from <= toBlock; from += blocksAtOnce) {
		const to = Math.min(from + blocksAtOnce - 1, toBlock);
		await Promise.all([
			addEscrowEvents(chain, { from, to, events }),
			addVaultEvents(chain, { from, to, events }),
		]);
	}
	return events;
}

export function noEvents(): ChainEvents {
	return { opened: [], released: [], refunded: [], credited: [], claimed: [], filled: [], voided: [] };
}

type Span = { from: number; to: number; events: ChainEvents };

async function addEscrowEvents(chain: AuditedChain, { from, to, events }: Span): Promise<void> {
	const { client, chainId, escrows } = chain;
	const range = { fromBlock: BigInt(from), toBlock: BigInt(to) };
	const logs = await client.getLogs({ address: escrows, ...range });
	for (const { eventName, args, address: escrow, blockNumber } of parseEventLogs({
		abi: geoEscrowAbi,
		logs,
	})) {
		const at = { chainId, block: Number(blockNumber) };
		if (eventName === "Opened") {
			const { orderId, wallet, terms } = args;
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
	const { client, chainId, vaults } = chain;
	const range = { fromBlock: BigInt(from), toBlock: BigInt(to) };
	const logs = await client.getLogs({ address: vaults, ...range });
	for (const { eventName, args, blockNumber } of parseEventLogs({ abi: geoVaultAbi, logs })) {
		const at = { chainId, block: Number(blockNumber) };
		if (eventName === "Filled") events.filled.push({ ...at, ...args });
		else if (eventName === "Voided") events.voided.push({ ...at, ...args });
	}
}
