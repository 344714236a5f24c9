import { accountRentLamports, programAccountSizes, tokenAccountRentLamports } from "@geoswap/protocol";
import { maximumMicroLamportsPerUnit, maximumUnitLimit } from "../../chain/solana/wallet/co-sign-order.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";

/** More units than any of our transactions has. Attesters' signatures take most of them. */
const maximumUnits = 2 * maximumUnitLimit;

/**
 * The highest fee: signatures of fee payer, wallet or operator, and the most expensive compute units that are signed.
 */
const fee = 2n * 5_000n + (BigInt(maximumUnits) * maximumMicroLamportsPerUnit) / 1_000_000n;

/**
 * Returns the maximum that a transaction costs its fee payer. An open creates the order's two accounts, a fill or a
 * refund the receiver's token account. The vault pays for records.
 */
export function maxLamports(kind: LaneTransaction["kind"]): bigint {
	if (kind === "open") return fee + accountRentLamports(programAccountSizes.order) + tokenAccountRentLamports;
	return kind === "fill" || kind === "refund" ? fee + tokenAccountRentLamports : fee;
}
