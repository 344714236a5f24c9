import {
	fromWord,
	geoEscrowAbi,
	moneyEventTopics,
	type Order,
	orderId,
	orderToJson,
} from "@geoswap/protocol";
import { BlockNotFoundError } from "viem";
import type { DepositSight, ToldDeposit } from "../../deposit-sight.ts";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";
import { type Block, readBlock } from "./read-block.ts";
import { readEvents } from "./read-events.ts";

/**
 * Checks a deposit that another provider reported. This provider must have the same block, and in it the same event
 * with all terms of the order. Throws if the provider does not answer.
 */
export async function readDeposit(chain: EvmChain, deposit: ToldDeposit): Promise<DepositSight> {
	// The provider's head is read first, so a deposit that it returns after that is at least as deep.
	const [latest, finalized] = await Promise.all([readBlock(chain, "latest"), readBlock(chain, "finalized")]);
	if (latest.number < deposit.blockNumber) return { verdict: "behind" };
	const block = await readBlockThatMayLack(chain, deposit.blockNumber);
	if (!block) return { verdict: "behind" };
	if (block.hash !== deposit.blockHash) {
		return { verdict: "differs", how: `block ${deposit.blockNumber} is ${block.hash}` };
	}
	const topics = [moneyEventTopics().Opened];
	const { events } = await readEvents(chain, { blockHash: block.hash, topics, subjects: [deposit.orderId] });
	const opened = events.find(({ name, orderId }) => name === "Opened" && orderId === deposit.orderId);
	if (opened?.name !== "Opened") return { verdict: "differs", how: "the block has no such deposit" };
	if (opened.transactionHash !== deposit.transactionHash) {
		return { verdict: "differs", how: `the deposit is in transaction ${opened.transactionHash}` };
	}
	const told: Record<string, unknown> = orderToJson(deposit.order);
	const changed = Object.entries(opened.data.order).flatMap(([name, value]) =>
		told[name] === value ? [] : [name],
	);
	if (changed.length > 0) return { verdict: "differs", how: `the order has another ${changed.join(", ")}` };
	return { verdict: "agrees", headNumber: latest.number, finalizedNumber: finalized.number };
}

/**
 * Returns undefined if the block is missing, as a node at the same URL may be behind the one that reported the head.
 */
async function readBlockThatMayLack(chain: EvmChain, number: number): Promise<Block | undefined> {
	return readBlock(chain, number).catch((error: unknown) => {
		if (error instanceof BlockNotFoundError) return undefined;
		throw error;
	});
}

/** Returns whether the order was ever opened, regardless of what happened to it later. */
export async function readWasOpened({ chainId, client }: EvmChain, order: Order): Promise<boolean> {
	const state = await requestChain(
		chainId,
		client.readContract({
			address: fromWord(order.escrow),
			abi: geoEscrowAbi,
			functionName: "orderState",
			args: [orderId(order)],
		}),
	);
	return state !== 0;
}
