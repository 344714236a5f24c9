import {
	fromSolanaWord,
	memoProgramAddress,
	type Order,
	orderId,
	type SolanaAddress,
} from "@geoswap/protocol";
import { getBase58Encoder, type Signature } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { askChain } from "../ask-chain.ts";
import type { SolanaChain } from "./connect-solana.ts";
import { readLanded } from "./read-landed.ts";

const signaturesPerRequest = 1000;
/** A wallet's own transactions are its affair: what lies far behind them is left to a person. */
const mostRequests = 3;

/**
 * The transaction that paid an order's input, among the wallet's newest: the fee payer signs nothing else that has the
 * order's id for a memo.
 */
export async function findDeposit(
	chain: SolanaChain,
	{ order, feePayer }: { order: Order; feePayer: SolanaAddress },
): Promise<Hex | undefined> {
	const { chainId, rpc } = chain;
	const id = orderId(order);
	let before: Signature | undefined;
	for (let requests = 0; requests < mostRequests; requests++) {
		const page = await askChain(
			chainId,
			rpc
				.getSignaturesForAddress(fromSolanaWord(order.wallet), {
					commitment: "confirmed",
					limit: signaturesPerRequest,
					...(before ? { before } : {}),
				})
				.send(),
		);
		// Anyone can write the same memo: whose transaction it is decides.
		for (const { signature } of page.filter(({ err, memo }) => err === null && memo?.includes(id))) {
			const hash = bytesToHex(new Uint8Array(getBase58Encoder().encode(signature)));
			if (await isDeposit(hash)) return hash;
		}
		before = page.at(-1)?.signature;
		if (page.length < signaturesPerRequest) return undefined;
	}
	return undefined;

	async function isDeposit(hash: Hex): Promise<boolean> {
		const landed = await readLanded(chain, hash);
		return (
			landed?.message.feePayer === feePayer &&
			landed.message.instructions.some(
				({ program, data }) => program === memoProgramAddress && Buffer.from(data).toString("utf8") === id,
			)
		);
	}
}
