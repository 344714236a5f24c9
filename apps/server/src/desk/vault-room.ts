import { type Amount, greater, mulDivDown, nativeTokenOf } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Config } from "../config/config.ts";
import type { FreeInventory } from "../swap/facts/free-inventory.ts";
import type { HoldingLimit } from "../swap/facts/reservation.ts";
import type { Delivery } from "../swap/facts/swap-record.ts";
import { pairOf, type Side } from "./desk-chain.ts";
import { maxPaid } from "./price-swap.ts";

const shareUnits = 1_000_000_000;
/**
 * The part of the share that one swap may take which a quote may use. The rest is for what other swaps take until the
 * submit: with four fifths, it is refused only if they take a fifth of the balance in that time.
 */
const quotedPart = 0.8;

/** Returns whether both vaults have room for a swap, so that its submit can reserve what it needs. */
export type VaultRoom = (swap: {
	origin: Side;
	destination: Side;
	amount: Amount;
	topUp: Amount;
	delivery: Delivery;
	/** How much of the input token the origin's vault may hold. */
	holdingLimit: HoldingLimit | undefined;
}) => boolean;

/**
 * Creates the check of quotes against the inventory in memory. Its conditions are those of a submit. But a submit
 * allows a share of the balance, and a quote somewhat less, of what is not reserved: the balance falls by what is
 * reserved when the swaps under way are paid, perhaps before this one is submitted.
 */
export function createVaultRoom(
	inventory: Pick<FreeInventory, "of"> | undefined,
	{ unopenedShareOfInventory }: Pick<Config["limits"], "unopenedShareOfInventory">,
): VaultRoom {
	const share = BigInt(Math.floor(unopenedShareOfInventory * quotedPart * shareUnits));

	return ({ origin, destination, amount, topUp, delivery, holdingLimit }) => {
		if (!inventory) return true;
		const { chainId } = destination.chain;
		const native = nativeTokenOf(chainId);
		const token = paidToken(destination, delivery);
		const paid = maxPaid(delivery);
		const isSameToken = token.toLowerCase() === native.toLowerCase();
		if (!isFree({ chainId, token, amount: paid, all: isSameToken ? paid + topUp : paid })) return false;
		if (topUp > 0n && !isFree({ chainId, token: native, amount: topUp, all: topUp })) return false;
		if (!holdingLimit) return true;
		const held = inventory.of(holdingLimit)?.balance ?? 0n;
		const sold = inventory.of(pairOf(origin))?.beingSold ?? 0n;
		return held + sold + amount <= holdingLimit.amount;
	};

	function isFree({
		chainId,
		token,
		amount,
		all,
	}: {
		chainId: number;
		token: Hex;
		amount: Amount;
		/** The amount with what else the swap takes of the token. */
		all: Amount;
	}): boolean {
		const reading = inventory?.of({ chainId, token });
		if (!reading) return true;
		const unreserved = greater(reading.balance - reading.reserved, 0n);
		return all <= reading.free && amount <= mulDivDown(unreserved, share, BigInt(shareUnits));
	}
}

/** Returns the token that leaves the destination's vault. Through the router the settlement token buys the output. */
export function paidToken({ chain, asset }: Side, delivery: Delivery): Hex {
	return delivery.kind === "router" ? chain.settlementToken : asset.address;
}
