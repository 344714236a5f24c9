import {
	fromWord,
	geoEscrowAbi,
	geoVaultAbi,
	moneyEventTopics,
	type Order,
	orderId,
	readLogs,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import {
	type Address,
	createPublicClient,
	erc20Abi,
	formatLog,
	type Hash,
	type Hex,
	http,
	isAddressEqual,
	isHash,
	type Log,
	numberToHex,
	type PublicClient,
	parseEventLogs,
	TransactionNotFoundError,
	toEventSelector,
	zeroAddress,
} from "viem";
import { readEscrowState, readVaultState } from "./read-order-state.ts";
import { ReceiptError } from "./receipt-error.ts";
import { RpcError } from "./rpc-error.ts";
import type { ShownFact } from "./shown-fact.ts";

const timeoutMs = 20_000;

/**
 * Reads one EVM chain for the checks of a receipt. Every method throws a ReceiptError if the chain contradicts the
 * receipt. Events are requested one by one, by contract, event and order, because anyone can put more logs into a block
 * or a transaction than a node returns.
 */
export type EvmWitness = {
	/** Checks that the transaction opened the order. */
	opened(field: string, txHash: string): Promise<ShownFact>;
	/** Returns that the order was opened, or undefined if the escrow does not have it. */
	openedBySome(): Promise<ShownFact | undefined>;
	/** Checks that the transaction delivered exactly this amount to the recipient. */
	delivered(field: string, txHash: string, amount: bigint): Promise<ShownFact>;
	/** Checks that the vault did not deliver the order's output. */
	notDelivered(): Promise<void>;
	/** Checks that the transaction gave the whole input back to the wallet. */
	refunded(field: string, txHash: string): Promise<ShownFact>;
	/** Checks that the order was never opened and cannot be any more. */
	neverOpened(): Promise<ShownFact>;
};

/** A transaction that is in a block. */
type Mined = { txHash: Hash; blockNumber: number; isFinal: boolean };

/** Connects to a node. Throws if it does not respond or is on another chain. */
export async function openEvmWitness(
	order: Order,
	{ chainId, rpcUrl }: { chainId: number; rpcUrl: string },
): Promise<EvmWitness> {
	const client = createPublicClient({ transport: http(rpcUrl, { timeout: timeoutMs, retryCount: 2 }) });
	const found = await ask(chainId, () => client.getChainId());
	if (found !== chainId) throw new RpcError(chainId, `is a node of chain ${found}`, { next: "fix_request" });
	const id = orderId(order);
	const topics = moneyEventTopics();
	const escrow = () => fromWord(order.escrow);
	/** The block in which the order was opened, or zero until that was checked. */
	let openedAt = 0;

	async function find(field: string, txHash: string): Promise<Mined> {
		if (!isHash(txHash)) throw new ReceiptError(field, `is not a transaction of chain ${chainId}`);
		const [blockNumber, finalNumber] = await ask(chainId, () =>
			Promise.all([blockOf(client, txHash), finalizedNumber(client)]),
		);
		if (blockNumber === undefined) {
			throw new ReceiptError(field, `names ${txHash}, which chain ${chainId} does not have`);
		}
		return { txHash, blockNumber: Number(blockNumber), isFinal: blockNumber <= finalNumber };
	}

	/** Reads a contract's logs of one event about one subject: the event's first indexed field. */
	async function read(
		address: Address,
		{ event, subject, from, to }: { event: Hex; subject: Hex; from: number; to: number },
	): Promise<Log[]> {
		const part = { fromBlock: from, toBlock: to, topics: [event], subjects: [subject] };
		const { logs } = await ask(chainId, () =>
			readLogs(part, {
				read: (some) =>
					requestLogs(client, {
						address,
						from: some.fromBlock,
						to: some.toBlock,
						topics: [some.topics, some.subjects ?? null],
					}),
			}),
		);
		return logs.sort(byPlace);
	}

	/** Reads an order's logs of one event in the block of a transaction, and returns those of the transaction. */
	async function readOwn(
		{ txHash, blockNumber: block }: Mined,
		{ address, event, subject = id }: { address: Address; event: Hex; subject?: Hex },
	): Promise<Log[]> {
		const logs = await read(address, { event, subject, from: block, to: block });
		return logs.filter(({ transactionHash }) => transactionHash === txHash);
	}

	/** Expects that the token's transfers to an owner add up to at least the amount. Native payments leave no such trace. */
	async function expectTransfer(
		field: string,
		{ txHash, blockNumber: block }: Mined,
		{ token, from, to, amount }: { token: Address; from?: Address; to: Address; amount: bigint },
	): Promise<void> {
		if (token === zeroAddress) return;
		const filter = [[transferTopic], from ? [toWord(from)] : null, [toWord(to)]];
		const logs = await ask(chainId, () =>
			requestLogs(client, { address: token, from: block, to: block, topics: filter }).catch(
				// The block has more transfers to the owner than the node returns. The transaction has fewer.
				async () => (await client.getTransactionReceipt({ hash: txHash })).logs,
			),
		);
		const own = logs.filter(({ transactionHash }) => transactionHash === txHash);
		const received = parseEventLogs({ abi: erc20Abi, logs: own, eventName: "Transfer" })
			.filter(({ address, args }) => isAddressEqual(address, token) && isAddressEqual(args.to, to))
			.reduce((sum, { args }) => sum + args.value, 0n);
		if (received >= amount) return;
		throw new ReceiptError(field, `moved ${received} of ${token} to ${to}, and not ${amount}`);
	}

	/**
	 * Reads a state at the last final block. If that block precedes the transaction, or if the node does not have it or
	 * has pruned its state, reads the state at the newest block.
	 */
	function stateAfter<State>(
		readState: (client: PublicClient, order: Order, at: { blockNumber: bigint }) => Promise<State>,
		least = 0,
	): Promise<{ state: State; timestamp: bigint; isFinal: boolean }> {
		const readAt = async (blockTag: "finalized" | "latest") => {
			const { number: blockNumber, timestamp } = await client.getBlock({ blockTag });
			// One endpoint may use several nodes, some of which do not have the block yet.
			if (blockNumber < least) throw new RangeError(`block ${blockNumber} is before block ${least}`);
			const state = await readState(client, order, { blockNumber });
			return { state, timestamp, isFinal: blockTag === "finalized" };
		};
		return ask(chainId, () => readAt("finalized").catch(() => readAt("latest")));
	}

	/**
	 * Expects that the transaction paid out the credit that the order's refund became. A claim pays out everything that
	 * its beneficiary is owed of a token, so the first claim after the refund is the right one.
	 */
	async function readClaim(field: string, mined: Mined): Promise<Address> {
		const wallet = fromWord(order.wallet);
		const token = fromWord(order.inputToken);
		const [claim] = claimsOf(
			await readOwn(mined, { address: escrow(), event: topics.Claimed, subject: toWord(wallet) }),
		);
		const refusal = `did not refund the order ${id} from the escrow ${escrow()}`;
		if (!claim) throw new ReceiptError(field, refusal);
		const span = { from: openedAt, to: mined.blockNumber };
		const [credit] = parseEventLogs({
			abi: geoEscrowAbi,
			logs: await read(escrow(), { event: topics.Credited, subject: id, ...span }),
			eventName: "Credited",
		}).filter(({ args }) => isAddressEqual(args.beneficiary, wallet));
		if (!credit) throw new ReceiptError(field, `${refusal}, because it claimed what other orders are owed`);
		const claims = claimsOf(
			await read(escrow(), {
				event: topics.Claimed,
				subject: toWord(wallet),
				from: Number(credit.blockNumber),
				to: mined.blockNumber,
			}),
		);
		const first = claims.find((one) => byPlace(credit, one) < 0);
		if (first?.transactionHash !== mined.txHash) {
			throw new ReceiptError(field, `${refusal}, because another claim paid it out, or none`);
		}
		return first.args.to;

		function claimsOf(logs: Log[]) {
			return parseEventLogs({ abi: geoEscrowAbi, logs, eventName: "Claimed" }).filter(({ args }) =>
				isAddressEqual(args.token, token),
			);
		}
	}

	return {
		async opened(field, txHash) {
			const mined = await find(field, txHash);
			const [log] = await readOwn(mined, { address: escrow(), event: topics.Opened });
			if (!log) throw new ReceiptError(field, `did not open the order ${id} in the escrow ${escrow()}`);
			openedAt = mined.blockNumber;
			return { fact: openedFact, chainId, txHash, isFinal: mined.isFinal };
		},

		async openedBySome() {
			const { state, isFinal } = await stateAfter(readEscrowState);
			return state === "none" ? undefined : { fact: openedFact, chainId, isFinal };
		},

		async delivered(field, txHash, amount) {
			const mined = await find(field, txHash);
			const vault = fromWord(order.destinationVault);
			const logs = await readOwn(mined, { address: vault, event: topics.Filled });
			const [filled] = parseEventLogs({ abi: geoVaultAbi, logs, eventName: "Filled" });
			if (!filled) throw new ReceiptError(field, `did not fill the order ${id} from the vault ${vault}`);
			const { delivered } = filled.args;
			if (delivered !== amount) {
				throw new ReceiptError("deliveredAmount", `is ${amount}, but the vault delivered ${delivered}`);
			}
			if (delivered < order.minOutput) {
				throw new ReceiptError("deliveredAmount", `is below the order's minimum ${order.minOutput}`);
			}
			const token = fromWord(order.outputToken);
			await expectTransfer(field, mined, { token, to: fromWord(order.recipient), amount });
			const { state } = await stateAfter(readVaultState, mined.blockNumber);
			if (state !== "filled") throw new ReceiptError("status", `is settled, but the order is ${state}`);
			return { fact: `the recipient was paid ${amount}`, chainId, txHash, isFinal: mined.isFinal };
		},

		async notDelivered() {
			const { state } = await stateAfter(readVaultState);
			if (state === "filled") throw new ReceiptError("status", "is refunded, but the output was delivered");
		},

		async refunded(field, txHash) {
			const mined = await find(field, txHash);
			const wallet = fromWord(order.wallet);
			const logs = await readOwn(mined, { address: escrow(), event: topics.Refunded });
			const refunds = parseEventLogs({ abi: geoEscrowAbi, logs, eventName: "Refunded" });
			const isPaid = refunds.some(({ args }) => args.paid);
			// A refund that could not be paid became a credit. Only the wallet can have it paid to another address.
			const to = isPaid ? wallet : await readClaim(field, mined);
			const { inputAmount: amount } = order;
			const token = fromWord(order.inputToken);
			await expectTransfer(field, mined, { token, from: escrow(), to, amount });
			const { state } = await stateAfter(readEscrowState, mined.blockNumber);
			if (state !== "refunded") throw new ReceiptError("status", `is refunded, but the order is ${state}`);
			const fact = isAddressEqual(to, wallet)
				? "the whole input went back to the wallet"
				: `the whole input went back; the wallet had the escrow pay it to ${to}`;
			return { fact, chainId, txHash, isFinal: mined.isFinal };
		},

		async neverOpened() {
			const { openDeadline } = unpackDeadlines(order.deadlines);
			const { state, timestamp, isFinal } = await stateAfter(readEscrowState);
			if (state !== "none") throw new ReceiptError("status", `is failed, but the escrow has the order ${id}`);
			if (timestamp <= openDeadline) {
				throw new ReceiptError(
					"status",
					"is failed, but the order could still be opened at the last final block",
				);
			}
			return {
				fact: "the order was never opened, and cannot be any more, so nothing was taken",
				chainId,
				isFinal,
			};
		},
	};
}

const openedFact = "the order was opened; the escrow took the whole input";
const transferTopic = toEventSelector("Transfer(address,address,uint256)");

type Place = Pick<Log, "blockNumber" | "logIndex">;

function byPlace(one: Place, other: Place): number {
	const blocks = Number(one.blockNumber ?? 0n) - Number(other.blockNumber ?? 0n);
	return blocks === 0 ? (one.logIndex ?? 0) - (other.logIndex ?? 0) : blocks;
}

async function requestLogs(
	client: PublicClient,
	{
		address,
		from,
		to,
		topics,
	}: { address: Address; from: number; to: number; topics: readonly (readonly Hex[] | null)[] },
): Promise<Log[]> {
	const filter = {
		address,
		fromBlock: numberToHex(from),
		toBlock: numberToHex(to),
		topics: topics.map((some) => some && [...some]),
	};
	const logs = await client.request({ method: "eth_getLogs", params: [filter] });
	return logs.map((log) => formatLog(log));
}

/** Returns the number of a transaction's block; undefined if it is in none. */
async function blockOf(client: PublicClient, hash: Hash): Promise<bigint | undefined> {
	try {
		return (await client.getTransaction({ hash })).blockNumber ?? undefined;
	} catch (error) {
		if (error instanceof TransactionNotFoundError) return undefined;
		throw error;
	}
}

/** Returns the number of the last final block, or -1 if the node does not report one. */
async function finalizedNumber(client: PublicClient): Promise<bigint> {
	return client.getBlock({ blockTag: "finalized" }).then(
		({ number }) => number,
		() => -1n,
	);
}

/** Hides the library's message, which has the whole address in it, and with it the key that many endpoints carry. */
async function ask<T>(chainId: number, call: () => Promise<T>): Promise<T> {
	try {
		return await call();
	} catch (error) {
		if (error instanceof ReceiptError) throw error;
		throw new RpcError(chainId, "does not answer like a node", { next: "retry" });
	}
}
