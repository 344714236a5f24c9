import type { Amount } from "@geoswap/protocol";
import type { Hex } from "viem";

/** A token of a vault, as it was read a moment ago. */
export type InventoryReading = {
	balance: Amount;
	/** The part of the balance that is promised to swaps. */
	reserved: Amount;
	/** What may be promised to new swaps: what may leave the vault now, less what is reserved. Never negative. */
	free: Amount;
	/** The volume that was sold on the token's ladder and has not reached the vault yet. */
	beingSold: Amount;
	/** What the vault should have of the token. Absent if nothing is planned. */
	need?: InventoryNeed;
};

/** The plan for a token of a vault. */
export type InventoryNeed = {
	needed: Amount;
	/** What is on its way to the vault. */
	arriving: Amount;
	/** What the cheapest way to bring more of it costs. */
	moveCostBps: number;
};

/** The inventory of all vaults in memory, so that a quote needs no query. */
export type FreeInventory = {
	/**
	 * Returns the last reading of a token, of any age, or undefined if there is none because the database has not
	 * answered since the process started. A token that no worker has read has no balance.
	 */
	of(token: { chainId: number; token: Hex }): InventoryReading | undefined;
	/** Returns true if the last reading is recent. */
	isCurrent(): boolean;
};
