import { tokenAccountRentLamports } from "@geoswap/protocol";
import { maximumMicroLamportsPerUnit, maximumUnitLimit } from "../../chain/solana/wallet/co-sign-order.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";

/** Of the fee payer, the vault and the escrow, and the dearest units that a fee payer signs for. */
const fee = 3n * 5_000n + (BigInt(maximumUnitLimit) * maximumMicroLamportsPerUnit) / 1_000_000n;

/** What a transaction takes from its fee payer at most: what decides an order makes a marker, and perhaps an account. */
export function mostLamports(kind: LaneTransaction["kind"]): bigint {
	return kind === "open" || kind === "close" ? fee : fee + 2n * tokenAccountRentLamports;
}
