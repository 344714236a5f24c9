import { type Order, orderSchema, type SwapUuid } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import { readParts } from "./read-parts.ts";
import type { DecimalsOf } from "./read-periods.ts";
import { createTally, type Period, type SwapTally, type Tally } from "./tally.ts";

/**
 * What the desk earned by a swap. Values are integers of 10^-36 USD, and what was paid is negative. `fee`, `skew`, `price`,
 * `underWay` and `gas` add up to `profit`, which is the value of the swap's entries.
 */
export type SwapProfit = {
	orderId: Hex;
	/** The agreed terms. Undefined for an order that no swap has. */
	swap:
		| {
				id: SwapUuid;
				accountId: string | undefined;
				account: string | undefined;
				order: Order;
				valueUsdCents: bigint;
		  }
		| undefined;
	isComplete: boolean;
	fee36: bigint;
	/** What inventory added to the price. */
	skew36: bigint;
	gas36: bigint;
	/** The rest of a complete swap: network costs that were charged, rounding, and what prices did meanwhile. */
	price36: bigint;
	/** What a swap took or brought whose other side is in the books of another day. */
	underWay36: bigint;
	profit36: bigint;
};

export type Profit = Tally & { periods: readonly Period[]; profits: SwapProfit[] };

/** Reads the entries of periods, and returns why the value of the desk's own money changed. */
export async function readProfit(
	db: Database,
	{ periods, decimalsOf }: { periods: readonly Period[]; decimalsOf: DecimalsOf },
): Promise<Profit> {
	const tally = createTally(periods, { decimalsOf });
	for (const period of periods) {
		for await (const parts of readParts(db, period, { decimalsOf })) {
			for (const part of parts) tally.add(part);
		}
	}
	const result = tally.result();
	const profits: SwapProfit[] = [];
	for (let i = 0; i < result.swaps.length; i += batchSize) {
		const some = result.swaps.slice(i, i + batchSize);
		const terms = await readTerms(db, some);
		profits.push(...some.map((swap) => profitOf(swap, terms.get(swap.orderId))));
	}
	return { ...result, periods, profits };
}

const batchSize = 1_000;

type Terms = NonNullable<SwapProfit["swap"]> & { feeMillibps: number; skewCentibps: number };
type TermsRow = Row<
	"swaps",
	"id" | "order_id" | "account_id" | "order_terms" | "value_usd_cents" | "skew_centibps"
> & { account: string | null; fee_millibps: number };

async function readTerms(db: Database, swaps: readonly SwapTally[]): Promise<Map<Hex, Terms>> {
	const { rows } = await db.query<TermsRow>(
		`select s.id, s.order_id, s.account_id, a.name as account, s.order_terms, s.value_usd_cents, s.skew_centibps,
			coalesce(s.fee_millibps, 10 * s.fee_centibps) as fee_millibps
		from swaps s left join accounts a on a.id = s.account_id where s.order_id = any($1)`,
		[swaps.map(({ orderId }) => Buffer.from(hexToBytes(orderId)))],
	);
	return new Map(
		rows.map((row) => [
			bytesToHex(row.order_id),
			{
				id: row.id,
				accountId: row.account_id ?? undefined,
				account: row.account ?? undefined,
				order: orderSchema.parse(row.order_terms),
				valueUsdCents: BigInt(row.value_usd_cents),
				feeMillibps: row.fee_millibps,
				skewCentibps: row.skew_centibps,
			},
		]),
	);
}

function profitOf({ orderId, value36, gas36, isComplete }: SwapTally, terms: Terms | undefined): SwapProfit {
	// A cent is 10^34, and a whole is 10^7 thousandths or 10^6 hundredths of a basis point. So nothing is divided.
	const [fee36, skew36] =
		terms && isComplete
			? [
					terms.valueUsdCents * BigInt(terms.feeMillibps) * 10n ** 27n,
					terms.valueUsdCents * BigInt(terms.skewCentibps) * 10n ** 28n,
				]
			: [0n, 0n];
	return {
		orderId,
		swap: terms && {
			id: terms.id,
			accountId: terms.accountId,
			account: terms.account,
			order: terms.order,
			valueUsdCents: terms.valueUsdCents,
		},
		isComplete,
		fee36,
		skew36,
		gas36,
		price36: isComplete ? value36 - fee36 - skew36 : 0n,
		underWay36: isComplete ? 0n : value36,
		profit36: value36 + gas36,
	};
}
