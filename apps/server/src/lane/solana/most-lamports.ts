import { tokenAccountRentLamports } from "@geoswap/protocol";
import { maximumMicroLamportsPerUnit, maximumUnitLimit } from "../../chain/solana/wallet/co-sign-order.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";

/** The highest fee: signatures of fee payer, vault and escrow, and the most expensive compute units that are signed. */
const fee = 3n * 5_000n + (BigInt(maximumUnitLimit) * maximumMicroLamportsPerUnit) / 1_000_000n;

/** Returns the most that a transaction costs its fee payer. One that decides an order creates up to two accounts. */
export function mostLamports(kind: LaneTransaction["kind"]): bigint {
	return kind === "open" || kind === "close" ? fee : fee + 2n * tokenAccountRentLamports;
}
