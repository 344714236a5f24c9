import {
	fromSolanaWord,
	inputAddress,
	isSolana,
	type Order,
	orderAddress,
	orderId,
	recordAddress,
	type SolanaAddress,
	type SolanaDeployment,
	solanaChainId,
	solanaNativeToken,
	tokenAccountOf,
} from "@geoswap/protocol";
import { createSolanaRpc, getBase58Encoder, type Signature } from "@solana/kit";
import type { Hex } from "viem";
import { ReceiptError } from "./receipt-error.ts";
import { RpcError } from "./rpc-error.ts";
import type { ShownFact } from "./shown-fact.ts";

const timeoutMs = 20_000;

/** The program's instructions: their number, and the position of the order's account in them. */
const calls = {
	open: { number: 1, at: 0 },
	pay: { number: 4, at: 0 },
	fill: { number: 16, at: 2 },
};

/** An instruction of a transaction that landed. */
type PlainInstruction = {
	program: SolanaAddress;
	accounts: readonly (SolanaAddress | undefined)[];
	data: Uint8Array;
};

/** Reads Solana for a receipt's checks. Every method throws a ReceiptError if the chain contradicts the receipt. */
export type SolanaWitness = {
	opened(field: string, txHash: string): Promise<ShownFact>;
	delivered(field: string, txHash: string, amount: bigint): Promise<ShownFact>;
	refunded(field: string, txHash: string): Promise<ShownFact>;
};

type TokenChange = { mint: string; owner: string | undefined; change: bigint };

/** A transaction that landed. */
type Landed = {
	instructions: PlainInstruction[];
	/** The balances of each account in the native token, or in the one token that it is for, and their changes. */
	lamports: ReadonlyMap<SolanaAddress, { before: bigint; after: bigint }>;
	tokens: ReadonlyMap<SolanaAddress, TokenChange>;
	isFinal: boolean;
};

/** Connects to a node. Throws if it does not respond or is on another cluster than the pinned one. */
export async function openSolanaWitness(
	order: Order,
	{ deployment, rpcUrl }: { deployment: SolanaDeployment; rpcUrl: string },
): Promise<SolanaWitness> {
	const rpc = createSolanaRpc(rpcUrl);
	const chainId = solanaChainId;
	const found = await ask(() => rpc.getGenesisHash().send({ abortSignal: AbortSignal.timeout(timeoutMs) }));
	if (found !== deployment.genesisHash) {
		throw new RpcError(chainId, "is a node of another cluster", { next: "fix_request" });
	}
	const id = orderId(order);
	const program = deployment.program.address;

	function readAt(txHash: string, commitment: "confirmed" | "finalized") {
		return ask(() =>
			rpc
				.getTransaction(txHash as Signature, {
					commitment,
					encoding: "json",
					maxSupportedTransactionVersion: 0,
				})
				.send({ abortSignal: AbortSignal.timeout(timeoutMs) }),
		);
	}

	async function read(field: string, txHash: string): Promise<Landed> {
		if (!isSignature(txHash)) throw new ReceiptError(field, "is not a transaction of Solana");
		const final = await readAt(txHash, "finalized");
		const landed = final ?? (await readAt(txHash, "confirmed"));
		if (!landed?.meta) throw new ReceiptError(field, `names ${txHash}, which Solana does not have`);
		const { meta, transaction } = landed;
		if (meta.err !== null) throw new ReceiptError(field, `names ${txHash}, which failed`);
		const { message } = transaction;
		const addresses = message.accountKeys as SolanaAddress[];
		const tokens = new Map<SolanaAddress, TokenChange>();
		for (const [sign, balances] of [
			[-1n, meta.preTokenBalances ?? []],
			[1n, meta.postTokenBalances ?? []],
		] as const) {
			for (const { accountIndex, mint, owner, uiTokenAmount } of balances) {
				const address = addresses[accountIndex];
				if (!address) continue;
				const change = (tokens.get(address)?.change ?? 0n) + sign * BigInt(uiTokenAmount.amount);
				tokens.set(address, { mint, owner, change });
			}
		}
		return {
			instructions: message.instructions.map(({ programIdIndex, accounts, data }) => ({
				program: addresses[programIdIndex] as SolanaAddress,
				accounts: accounts.map((index) => addresses[index]),
				data: new Uint8Array(getBase58Encoder().encode(data)),
			})),
			lamports: new Map(
				addresses.map((address, i) => [
					address,
					{ before: BigInt(meta.preBalances[i] ?? 0), after: BigInt(meta.postBalances[i] ?? 0) },
				]),
			),
			tokens,
			isFinal: final !== null,
		};
	}

	/** Returns by how much an owner's balance of a token grew. It reads balances, not instructions. */
	async function received(
		{ lamports, tokens }: Landed,
		{ owner, token }: { owner: SolanaAddress; token: Hex },
	): Promise<bigint> {
		const mint = fromSolanaWord(token);
		if (mint === solanaNativeToken) {
			const change = lamports.get(owner);
			return change ? change.after - change.before : 0n;
		}
		const change = tokens.get(await tokenAccountOf({ owner, token: mint }));
		return change?.mint === mint ? change.change : 0n;
	}

	/** Returns the one instruction of the program with this number about the order. Throws if there is none. */
	function expectCall(
		field: string,
		{ instructions }: Landed,
		{ number, account, at, what }: { number: number; account: SolanaAddress; at: number; what: string },
	): PlainInstruction {
		const call = instructions.find(
			(one) => one.program === program && one.data[0] === number && one.accounts[at] === account,
		);
		if (!call) throw new ReceiptError(field, `does not ${what} the order ${id}`);
		return call;
	}

	/** Returns how much of the order's input arrived in its account. Negative if it left. */
	async function inputChange({ lamports, tokens }: Landed): Promise<bigint> {
		if (fromSolanaWord(order.inputToken) !== solanaNativeToken) {
			return tokens.get(await inputAddress(program, id))?.change ?? 0n;
		}
		const change = lamports.get(await orderAddress(program, id));
		return change ? change.after - change.before : 0n;
	}

	return {
		async opened(field, txHash) {
			const landed = await read(field, txHash);
			const account = await orderAddress(program, id);
			// The program opens an order once, and only if the whole input has arrived.
			expectCall(field, landed, { ...calls.open, account, what: "open" });
			const fact = "the order was opened; its account took the whole input";
			return { fact, chainId, txHash, isFinal: landed.isFinal };
		},

		async delivered(field, txHash, amount) {
			const landed = await read(field, txHash);
			const account = await (isSolana(order.originChainId) ? orderAddress : recordAddress)(program, id);
			const { data } = expectCall(field, landed, { ...calls.fill, account, what: "fill" });
			const filled = new DataView(data.buffer, data.byteOffset + data.length - 8, 8).getBigUint64(0, true);
			const owner = fromSolanaWord(order.recipient);
			const paid = await received(landed, { owner, token: order.outputToken });
			if (filled !== amount || paid < amount) {
				throw new ReceiptError("deliveredAmount", `is ${amount}, but ${filled} was paid`);
			}
			return { fact: `the recipient was paid ${amount}`, chainId, txHash, isFinal: landed.isFinal };
		},

		async refunded(field, txHash) {
			const landed = await read(field, txHash);
			const account = await orderAddress(program, id);
			const [, to] = expectCall(field, landed, { ...calls.pay, account, what: "pay" }).accounts;
			const owner = fromSolanaWord(order.wallet);
			const isNative = fromSolanaWord(order.inputToken) === solanaNativeToken;
			// The same transaction may pay the wallet something else.
			const receiver = isNative ? to : to && landed.tokens.get(to)?.owner;
			if (receiver !== owner) throw new ReceiptError(field, "does not pay the wallet");
			const amount = -(await inputChange(landed));
			if (amount < order.inputAmount) {
				throw new ReceiptError(field, `gave ${amount} back to the wallet, and not ${order.inputAmount}`);
			}
			const fact = "the whole input went back to the wallet";
			return { fact, chainId, txHash, isFinal: landed.isFinal };
		},
	};
}

function isSignature(text: string): boolean {
	try {
		return getBase58Encoder().encode(text).length === 64;
	} catch {
		return false;
	}
}

/** Hides the library's message, which may have the whole address, and with it the key that many endpoints carry. */
async function ask<T>(call: () => Promise<T>): Promise<T> {
	try {
		return await call();
	} catch {
		throw new RpcError(solanaChainId, "does not answer like a node", { next: "retry" });
	}
}
