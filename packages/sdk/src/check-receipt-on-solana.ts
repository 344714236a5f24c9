import {
	fromSolanaWord,
	isSolana,
	markerAddress,
	memoProgramAddress,
	type Order,
	onlyMarkerOwner,
	orderId,
	type PlainInstruction,
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

/** Reads Solana for the checks of a receipt. Every method throws a ReceiptError if the chain shows something else. */
export type SolanaWitness = {
	opened(field: string, txHash: string): Promise<ShownFact>;
	delivered(field: string, txHash: string, amount: bigint): Promise<ShownFact>;
	refunded(field: string, txHash: string): Promise<ShownFact>;
};

/** A transaction that landed. */
type Landed = {
	addresses: SolanaAddress[];
	signers: ReadonlySet<SolanaAddress>;
	instructions: PlainInstruction[];
	/** How much more each account holds of the native token, or of the one token it is for. */
	lamports: ReadonlyMap<SolanaAddress, { before: bigint; after: bigint }>;
	tokens: ReadonlyMap<SolanaAddress, { mint: string; change: bigint }>;
	isFinal: boolean;
};

/** Connects to a node. Throws if it does not answer or is of another cluster than the pinned one. */
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
		const tokens = new Map<SolanaAddress, { mint: string; change: bigint }>();
		for (const [sign, balances] of [
			[-1n, meta.preTokenBalances ?? []],
			[1n, meta.postTokenBalances ?? []],
		] as const) {
			for (const { accountIndex, mint, uiTokenAmount } of balances) {
				const address = addresses[accountIndex];
				if (!address) continue;
				const change = (tokens.get(address)?.change ?? 0n) + sign * BigInt(uiTokenAmount.amount);
				tokens.set(address, { mint, change });
			}
		}
		return {
			addresses,
			signers: new Set(addresses.slice(0, message.header.numRequiredSignatures)),
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

	/** Returns how much more of a token an owner holds, by balances and not by instructions. */
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

	/**
	 * Expects that the transaction created one of the order's markers, which only one transaction can create, and no marker
	 * of another order: the same payment would else be shown for both. The marker's owner says who was paid.
	 */
	async function expectMarker(
		field: string,
		landed: Landed,
		{ bases, owner }: { bases: readonly SolanaAddress[]; owner: SolanaAddress },
	): Promise<void> {
		for (const base of bases) {
			if ((await onlyMarkerOwner(landed.instructions, { base, orderId: id })) !== owner) continue;
			const balance = landed.lamports.get(await markerAddress({ base, orderId: id }));
			if (balance && balance.after > balance.before && landed.signers.has(base)) return;
		}
		throw new ReceiptError(field, `does not create the marker of the order ${id}, or also that of another`);
	}

	return {
		async opened(field, txHash) {
			const landed = await read(field, txHash);
			const wallet = fromSolanaWord(order.wallet);
			const memos = landed.instructions
				.filter(({ program }) => program === memoProgramAddress)
				.map(({ data }) => new TextDecoder().decode(data));
			// A deposit that named two orders would be shown for both.
			if (memos.length !== 1 || memos[0] !== id)
				throw new ReceiptError(field, `does not name the order ${id}, and it alone, in a memo`);
			if (!landed.signers.has(wallet))
				throw new ReceiptError(field, `was not signed by the wallet ${wallet}`);
			const owner = fromSolanaWord(order.escrow);
			const amount = await received(landed, { owner, token: order.inputToken });
			if (amount < order.inputAmount) {
				throw new ReceiptError(field, `moved ${amount} to the escrow, and not ${order.inputAmount}`);
			}
			const fact = "the order was opened: the escrow took the whole input";
			return { fact, chainId, txHash, isFinal: landed.isFinal };
		},

		async delivered(field, txHash, amount) {
			const landed = await read(field, txHash);
			await expectMarker(field, landed, { bases: [deployment.vault], owner: deployment.vault });
			const owner = fromSolanaWord(order.recipient);
			const paid = await received(landed, { owner, token: order.outputToken });
			if (paid !== amount) throw new ReceiptError("deliveredAmount", `is ${amount}, but ${paid} was paid`);
			return { fact: `the recipient was paid ${amount}`, chainId, txHash, isFinal: landed.isFinal };
		},

		async refunded(field, txHash) {
			const landed = await read(field, txHash);
			const isWithin = isSolana(order.destinationChainId);
			const { escrow, vault } = deployment;
			await expectMarker(field, landed, { bases: isWithin ? [vault, escrow] : [escrow], owner: escrow });
			const owner = fromSolanaWord(order.wallet);
			const amount = await received(landed, { owner, token: order.inputToken });
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

/** The library's message may have the whole address in it, and with it the key that many endpoints carry. */
async function ask<T>(call: () => Promise<T>): Promise<T> {
	try {
		return await call();
	} catch {
		throw new RpcError(solanaChainId, "does not answer like a node", { next: "retry" });
	}
}
