import {
	decodePrepare,
	instructionNumbers,
	type Order,
	type OrderAccount,
	orderAddress,
	orderId,
} from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import type { SolanaChain } from "../connect-solana.ts";
import { fromSignature, type ListedSignature, listSignatures } from "../read/list-signatures.ts";
import { type Landed, readLanded } from "../read/read-landed.ts";

const pageSize = 1_000;
const maxPages = 20;
/**
 * The maximum number of transactions that are read. Each costs a stranger the fee of a transaction while the order can
 * be opened.
 */
const maxReads = 1_000;
/** How far the time of a block may differ from the time by which the program judges deadlines. */
const maxClockLagSeconds = 60n;

/**
 * Returns the terms of an order, which its account does not have, from the final transaction that prepared it.
 * Undefined if the node does not list that transaction, or if strangers hide it among too many of theirs.
 */
export async function readPreparedOrder(
	chain: SolanaChain,
	{ orderId: id, openDeadline }: Pick<OrderAccount, "orderId" | "openDeadline">,
): Promise<Order | undefined> {
	const { program } = chain.deployment;
	const address = await orderAddress(program.address, id);
	let failure: unknown;
	for (const signature of await listInTime()) {
		// A stranger's transaction that cannot be read must not hide the one that is searched.
		const landed = await readLanded(chain, fromSignature(signature), "finalized").catch((err: unknown) => {
			failure = err;
			return undefined;
		});
		const order = landed && preparedIn(landed);
		if (order) return order;
	}
	if (failure) throw failure;
	return undefined;

	/** Lists the transactions that can have prepared and opened the order. */
	async function listInTime(): Promise<Signature[]> {
		const listed: Signature[] = [];
		let before: Signature | undefined;
		for (let pages = 0; pages < maxPages && listed.length < maxReads; pages++) {
			const page = await listSignatures(chain, { address, commitment: "finalized", before, limit: pageSize });
			if (page.length === 0) break;
			listed.push(...page.filter(isInTime).map(({ signature }) => signature));
			before = page.at(-1)?.signature;
		}
		return listed.slice(0, maxReads);
	}

	function isInTime({ isFailed, timestamp }: ListedSignature): boolean {
		const isLate = timestamp !== undefined && BigInt(timestamp) > openDeadline + maxClockLagSeconds;
		return !isFailed && !isLate;
	}

	/** Returns the order if it is prepared by an instruction of this transaction. */
	function preparedIn({ message }: Landed): Order | undefined {
		for (const { program: called, accounts, data } of message.instructions) {
			if (called !== program.address || data[0] !== instructionNumbers.prepare || accounts[1] !== address)
				continue;
			const order = decodePrepare({ addresses: accounts, data }, program.address);
			if (orderId(order) === id) return order;
		}
		return undefined;
	}
}
