import {
	addressOfWord,
	fromSolanaWord,
	markerAddress,
	orderToJson,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
	tokenAccountOf,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { madeMarkerOwner } from "../../chain/solana/marker/makes-marker.ts";
import type { Landed } from "../../chain/solana/read/read-landed.ts";
import { receivedBy } from "../../chain/solana/read/received-by.ts";
import { isWithinSolana } from "../../chain/solana/send/order-sides.ts";
import type { SlotEvent } from "./apply-slots.ts";
import type { WatchedWork } from "./watched-transactions.ts";

type OrderWork = Exclude<WatchedWork, { kind: "close" }>;
type Side = "vault" | "escrow";

/**
 * Returns the events that contracts would have emitted for this transaction on an EVM chain, and its cost in lamports
 * beside the fee. They are derived from its balance changes, not from its purpose. Empty if the transaction failed.
 */
export async function landedEvents({
	deployment,
	landed,
	work,
}: {
	deployment: SolanaDeployment;
	landed: Landed;
	work: OrderWork;
}): Promise<SlotEvent[]> {
	if (landed.isFailed) return [];
	const { order, orderId } = work;
	const received = (owner: SolanaAddress, token: Hex) => receivedBy(landed, { owner, token });
	const event = (name: string, data: object, side: Side): SlotEvent => ({
		name,
		data,
		orderId,
		contract: toSolanaWord(deployment[side]),
	});
	const decided = (base: Side): Side | undefined => {
		const owner = madeMarkerOwner(landed, { base: deployment[base], orderId });
		return (["vault", "escrow"] as const).find((side) => deployment[side] === owner);
	};
	switch (work.kind) {
		case "open": {
			const isWhole = (await received(deployment.escrow, order.inputToken)) >= order.inputAmount;
			return isWhole ? [event("Opened", { order: orderToJson(order) }, "escrow")] : [];
		}
		case "fill": {
			if (decided("vault") !== "vault") return [];
			const isReleased =
				isWithinSolana(order) && (await left("escrow", order.inputToken)) >= order.inputAmount;
			// Within Solana the vault may have received the same token in the same transaction.
			const got = isReleased && order.inputToken === order.outputToken ? order.inputAmount : 0n;
			const filled = {
				delivered: String(await received(fromSolanaWord(order.recipient), order.outputToken)),
				spentToken: addressOfWord(order.destinationChainId, order.outputToken),
				spent: String((await left("vault", order.outputToken)) + got),
			};
			return [
				event("Filled", filled, "vault"),
				...(isReleased ? [event("Released", { paid: true }, "escrow")] : []),
				...(await markerMade("vault", "vault")),
				...(await accountMade(order.recipient, order.outputToken)),
			];
		}
		case "void":
			if (decided("vault") !== "escrow") return [];
			return [event("Voided", {}, "vault"), ...(await markerMade("vault", "escrow"))];
		case "release": {
			const isPaid = (await received(deployment.vault, order.inputToken)) >= order.inputAmount;
			if (decided("escrow") !== "vault" || !isPaid) return [];
			return [event("Released", { paid: true }, "escrow"), ...(await markerMade("escrow", "vault"))];
		}
		case "refund": {
			const isPaid = (await received(fromSolanaWord(order.wallet), order.inputToken)) >= order.inputAmount;
			// Within Solana a refund makes the payout's marker, unless an earlier version voided the order.
			const base = isWithinSolana(order) && decided("escrow") === undefined ? "vault" : "escrow";
			if (decided(base) !== "escrow" || !isPaid) return [];
			return [
				event("Refunded", { paid: true }, "escrow"),
				...(await markerMade(base, "escrow")),
				...(await accountMade(order.wallet, order.inputToken)),
			];
		}
	}

	async function left(side: Side, token: Hex): Promise<bigint> {
		return -(await received(deployment[side], token));
	}

	async function markerMade(base: Side, owner: Side): Promise<SlotEvent[]> {
		const address = await markerAddress({ base: deployment[base], orderId });
		const lamports = addedLamports(landed, address);
		return [event("MarkerMade", { address: toSolanaWord(address), base, owner, lamports }, base)];
	}

	/** Returns an event if the fee payer made a token account for the receiver, who owns it now. */
	async function accountMade(owner: Hex, token: Hex): Promise<SlotEvent[]> {
		const mint = fromSolanaWord(token);
		if (mint === solanaNativeToken) return [];
		const address = await tokenAccountOf({ owner: fromSolanaWord(owner), token: mint });
		const lamports = addedLamports(landed, address);
		if (lamports === "0") return [];
		return [event("AccountMade", { address: toSolanaWord(address), lamports }, "vault")];
	}
}

function addedLamports({ lamports }: Landed, address: SolanaAddress): string {
	const change = lamports.get(address);
	return String(change ? change.after - change.before : 0n);
}
