import type { Amount, UsdCents } from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import type { Delivery } from "./swap-record.ts";

/** A ladder on which volume can be in flight. */
export type Pair = { chainId: number; token: Address; direction: "sell" | "buy" };

/** The amounts taken for a swap: from the vault's inventory, and on the ladders. */
export type Reservation = {
	delivery: Delivery;
	chainId: number;
	token: Hex;
	amount: Amount;
	volumes: (Pair & { amount: Amount })[];
};

/** The maximum of a token that the vault accepts. */
export type HoldingLimit = { chainId: number; token: Hex; amount: Amount };

/** Limits on what may be reserved for an account's swaps that are not open yet. */
export type UnopenedLimits = {
	/** Share of the vault's inventory of the token that leaves, 0 to 1. */
	shareOfInventory: number;
	/** Value of all tokens together; undefined if only the share counts. */
	unopenedUsdCents: UsdCents | undefined;
};
