import { fromWord, geoEscrowAbi, geoVaultAbi, type Order, orderId, unpackDeadlines } from "@geoswap/protocol";
import {
	type Address,
	createPublicClient,
	erc20Abi,
	type Hash,
	http,
	isAddressEqual,
	isHash,
	type Log,
	type PublicClient,
	parseEventLogs,
	TransactionReceiptNotFoundError,
	zeroAddress,
} from "viem";
import { ReceiptError } from "./receipt-error.ts";
import { RpcError } from "./rpc-error.ts";
import type { ShownFact } from "./shown-fact.ts";

const timeoutMs = 20_000;

/** Reads one EVM chain for the checks of a receipt. Every method throws a ReceiptError if the chain shows something else. */
export type EvmWitness = {
	/** Checks that the transaction opened the order. */
	opened(field: string, txHash: string): Promise<ShownFact>;
	/** Checks that the transaction delivered exactly this amount to the recipient. */
	delivered(field: string, txHash: string, amount: bigint): Promise<ShownFact>;
	/** Checks that the transaction gave the whole input back to the wallet. */
	refunded(field: string, txHash: string): Promise<ShownFact>;
	/** Checks that the order was never opened and cannot be any more. */
	neverOpened(): Promise<ShownFact>;
};

/** Connects to a node. Throws if it does not answer or is of another chain. */
export async function openEvmWitness(
	order: Order,
	{ chainId, rpcUrl }: { chainId: number; rpcUrl: string },
): Promise<EvmWitness> {
	const client = createPublicClient({ transport: http(rpcUrl, { timeout: timeoutMs, retryCount: 2 }) });
	const found = await ask(chainId, () => client.getChainId());
	if (found !== chainId) throw new RpcError(chainId, `is a node of chain ${found}`, { next: "fix_request" });
	const id = orderId(order);
	const escrow = () => fromWord(order.escrow);

	/** Returns the logs of a transaction that succeeded, and whether its block is final. */
	async function read(field: string, txHash: string): Promise<{ logs: Log[]; isFinal: boolean }> {
		if (!isHash(txHash)) throw new ReceiptError(field, `is not a transaction of chain ${chainId}`);
		const [landed, finalNumber] = await ask(chainId, () =>
			Promise.all([receiptOf(client, txHash), finalizedNumber(client)]),
		);
		if (!landed) throw new ReceiptError(field, `names ${txHash}, which chain ${chainId} does not have`);
		if (landed.status !== "success") throw new ReceiptError(field, `names ${txHash}, which failed`);
		return { logs: landed.logs, isFinal: landed.blockNumber <= finalNumber };
	}

	/** Expects that the token's transfers to an owner add up to at least the amount. Native payments leave no such trace. */
	function expectTransfer(
		field: string,
		logs: Log[],
		{ token, to, amount }: { token: Address; to: Address; amount: bigint },
	): void {
		if (token === zeroAddress) return;
		const received = parseEventLogs({ abi: erc20Abi, logs, eventName: "Transfer" })
			.filter(({ address, args }) => isAddressEqual(address, token) && isAddressEqual(args.to, to))
			.reduce((sum, { args }) => sum + args.value, 0n);
		if (received >= amount) return;
		throw new ReceiptError(field, `moved ${received} of ${token} to ${to}, and not ${amount}`);
	}

	return {
		async opened(field, txHash) {
			const { logs, isFinal } = await read(field, txHash);
			const opened = parseEventLogs({ abi: geoEscrowAbi, logs, eventName: "Opened" }).some(
				({ address, args }) => isAddressEqual(address, escrow()) && args.orderId === id,
			);
			if (!opened) throw new ReceiptError(field, `did not open the order ${id} in the escrow ${escrow()}`);
			return { fact: "the order was opened: the escrow took the whole input", chainId, txHash, isFinal };
		},

		async delivered(field, txHash, amount) {
			const { logs, isFinal } = await read(field, txHash);
			const vault = fromWord(order.destinationVault);
			const filled = parseEventLogs({ abi: geoVaultAbi, logs, eventName: "Filled" }).find(
				({ address, args }) => isAddressEqual(address, vault) && args.orderId === id,
			);
			if (!filled) throw new ReceiptError(field, `did not fill the order ${id} from the vault ${vault}`);
			const { delivered } = filled.args;
			if (delivered !== amount) {
				throw new ReceiptError("deliveredAmount", `is ${amount}, but the vault delivered ${delivered}`);
			}
			if (delivered < order.minOutput) {
				throw new ReceiptError("deliveredAmount", `is below the order's minimum ${order.minOutput}`);
			}
			const to = fromWord(order.recipient);
			expectTransfer(field, logs, { token: fromWord(order.outputToken), to, amount });
			return { fact: `the recipient was paid ${amount}`, chainId, txHash, isFinal };
		},

		async refunded(field, txHash) {
			const { logs, isFinal } = await read(field, txHash);
			const wallet = fromWord(order.wallet);
			const events = parseEventLogs({ abi: geoEscrowAbi, logs, eventName: ["Refunded", "Claimed"] });
			const isPaid = events.some(({ address, eventName, args }) => {
				if (!isAddressEqual(address, escrow())) return false;
				if (eventName === "Refunded") return args.orderId === id && args.paid;
				// A refund that could not be paid became a credit, which this transaction paid out.
				return (
					isAddressEqual(args.beneficiary, wallet) &&
					isAddressEqual(args.to, wallet) &&
					isAddressEqual(args.token, fromWord(order.inputToken)) &&
					args.amount >= order.inputAmount
				);
			});
			if (!isPaid)
				throw new ReceiptError(field, `did not refund the order ${id} from the escrow ${escrow()}`);
			const { inputAmount: amount } = order;
			expectTransfer(field, logs, { token: fromWord(order.inputToken), to: wallet, amount });
			return { fact: "the whole input went back to the wallet", chainId, txHash, isFinal };
		},

		async neverOpened() {
			const { openDeadline } = unpackDeadlines(order.deadlines);
			const { state, timestamp, isFinal } = await ask(chainId, async () => {
				const block = await client.getBlock({ blockTag: "finalized" }).catch(() => undefined);
				const seen = block ?? (await client.getBlock());
				const state = await client.readContract({
					address: escrow(),
					abi: geoEscrowAbi,
					functionName: "orderState",
					args: [id],
					blockNumber: seen.number,
				});
				return { state, timestamp: seen.timestamp, isFinal: block !== undefined };
			});
			if (state !== 0) throw new ReceiptError("status", `is failed, but the escrow has the order ${id}`);
			if (timestamp <= openDeadline) {
				throw new ReceiptError(
					"status",
					"is failed, but the order could still be opened at the last final block",
				);
			}
			return {
				fact: "the order was never opened, and cannot be any more: nothing was taken",
				chainId,
				isFinal,
			};
		},
	};
}

async function receiptOf(client: PublicClient, hash: Hash) {
	try {
		return await client.getTransactionReceipt({ hash });
	} catch (error) {
		if (error instanceof TransactionReceiptNotFoundError) return undefined;
		throw error;
	}
}

/** Returns the number of the last final block; -1 if the chain does not tell. */
async function finalizedNumber(client: PublicClient): Promise<bigint> {
	return client.getBlock({ blockTag: "finalized" }).then(
		({ number }) => number,
		() => -1n,
	);
}

/** The library's message has the whole address in it, and with it the key that many endpoints carry. */
async function ask<T>(chainId: number, call: () => Promise<T>): Promise<T> {
	try {
		return await call();
	} catch (error) {
		if (error instanceof ReceiptError) throw error;
		throw new RpcError(chainId, "does not answer like a node", { next: "retry" });
	}
}
