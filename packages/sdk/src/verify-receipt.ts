import { type Deployment, isSolana, type Order, type SwapReceipt } from "@geoswap/protocol";
import { type EvmWitness, openEvmWitness } from "./check-receipt-on-evm.ts";
import type { SolanaWitness } from "./check-receipt-on-solana.ts";
import { checkSignedReceipt } from "./check-signed-receipt.ts";
import { ReceiptError } from "./receipt-error.ts";
import { RpcError } from "./rpc-error.ts";
import type { ShownFact } from "./shown-fact.ts";

export type VerifiedReceipt = {
	receipt: SwapReceipt;
	/** Everything that the chains show. */
	shown: ShownFact[];
	/** Statements that no chain can show. Only the signature supports them. */
	notShown: string[];
};

/**
 * Checks a receipt with nothing but the caller's deployment file and nodes: that a pinned key signed it, that its contracts
 * are the pinned ones, and that the chains show what it states. Throws a ReceiptError if anything is otherwise, and an
 * RpcError if a chain cannot be read. `rpcUrls` has an endpoint for each chain of the swap, by its id.
 */
export async function verifyReceipt(
	input: unknown,
	{ pins, rpcUrls }: { pins: Deployment; rpcUrls: Readonly<Record<number, string>> },
): Promise<VerifiedReceipt> {
	const { receipt, order } = await checkSignedReceipt(input, { pins });
	const { status, originTxHash, deliveryTxHash, refundTxHash, deliveredAmount } = receipt;
	const shown: ShownFact[] = [];
	const notShown: string[] = [];
	const connected = new Map<bigint, Promise<EvmWitness | SolanaWitness>>();
	const on = (chainId: bigint) => {
		const witness = connected.get(chainId) ?? openWitness(order, { chainId, pins, rpcUrls });
		connected.set(chainId, witness);
		return witness;
	};
	const hasEndpoint = (chainId: bigint) => rpcUrls[Number(chainId)] !== undefined;
	if (originTxHash !== undefined) {
		const origin = await on(order.originChainId);
		shown.push(await origin.opened("originTxHash", originTxHash));
	} else if (status === "settled") {
		const origin = hasEndpoint(order.originChainId) && (await on(order.originChainId));
		const fact = origin && "openedBySome" in origin ? await origin.openedBySome() : undefined;
		if (fact) shown.push(fact);
		else
			notShown.push(
				"that the input was taken, because the origin chain dropped the deposit after the delivery",
			);
	}
	if (status === "settled") {
		const destination = await on(order.destinationChainId);
		shown.push(
			await destination.delivered("deliveryTxHash", deliveryTxHash ?? "", BigInt(deliveredAmount ?? 0)),
		);
	}
	if (status === "refunded") {
		const origin = await on(order.originChainId);
		shown.push(await origin.refunded("refundTxHash", refundTxHash ?? ""));
		const destination = hasEndpoint(order.destinationChainId) && (await on(order.destinationChainId));
		if (destination && "notDelivered" in destination) await destination.notDelivered();
		else notShown.push("that the output was not delivered too, because the destination was not read");
	}
	if (status === "failed") {
		const origin = await on(order.originChainId);
		if ("neverOpened" in origin) shown.push(await origin.neverOpened());
		else
			notShown.push(
				"that nothing was taken, because on Solana a transaction that never landed leaves no trace",
			);
	}
	return { receipt, shown, notShown };
}

async function openWitness(
	order: Order,
	{
		chainId,
		pins,
		rpcUrls,
	}: { chainId: bigint; pins: Deployment; rpcUrls: Readonly<Record<number, string>> },
): Promise<EvmWitness | SolanaWitness> {
	const rpcUrl = rpcUrls[Number(chainId)];
	if (rpcUrl === undefined) throw new RpcError(Number(chainId), "is missing", { next: "fix_request" });
	if (!isSolana(chainId)) return openEvmWitness(order, { chainId: Number(chainId), rpcUrl });
	if (!pins.solana) throw new ReceiptError("order", "is on Solana, which is not pinned");
	// Only a receipt about Solana needs Solana's library, which is an optional peer.
	const { openSolanaWitness } = await import("./check-receipt-on-solana.ts");
	return openSolanaWitness(order, { deployment: pins.solana, rpcUrl });
}
