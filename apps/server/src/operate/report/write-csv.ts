import { formatTransactionHash, type SwapUuid, toSwapId } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { ChainNames } from "../../config/chain-names.ts";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import { type BookPart, readParts } from "../../money/profit/read-parts.ts";
import type { DecimalsOf } from "../../money/profit/read-periods.ts";
import type { Period } from "../../money/profit/tally.ts";
import { formatUsd36 } from "./format-report.ts";

/** Decimals of a value in USD. A value is exact in the JSON of the report. */
const usdPlaces = 8;

const header = ["time", "chain", "transaction", "token", "amount", "usd", "account", "reason", "id"];

/**
 * Writes the desk's own entries in periods as CSV (RFC 4180), one per row, in the order in which they were booked. Gas of
 * several swaps has a row for each. Amounts of a token add up to its closing less its opening. Only a page of rows is in
 * memory at a time.
 */
export async function writeCsv(
	db: Database,
	{
		periods,
		decimalsOf,
		chainNames,
		write,
		size,
	}: {
		periods: readonly Period[];
		decimalsOf: DecimalsOf;
		chainNames: ChainNames;
		write: (text: string) => Promise<void>;
		size?: number;
	},
): Promise<void> {
	await write(lineOf(header));
	for (const period of periods) {
		for await (const parts of readParts(db, period, { decimalsOf, ...(size !== undefined && { size }) })) {
			const swapIds = await readSwapIds(db, parts);
			const rows = parts
				.filter(({ amount }) => amount !== 0n)
				.map((part) => rowOf(part, { swapIds, chainNames }));
			await write(rows.map(lineOf).join(""));
		}
	}
}

function rowOf(
	{ at, chainId, transactionHash, token, amount, value36, account, reason, orderId, move }: BookPart,
	{ swapIds, chainNames }: { swapIds: Map<Hex, SwapUuid>; chainNames: ChainNames },
): string[] {
	const shown = chainNames.tokens(chainId, token, amount);
	const swapId = orderId && swapIds.get(orderId);
	return [
		at.toISOString(),
		chainNames.name(chainId),
		transactionHash ? formatTransactionHash(chainId, transactionHash) : "",
		shown.symbol,
		shown.amount,
		value36 === undefined ? "" : formatUsd36(value36, usdPlaces),
		account,
		reason,
		swapId ? toSwapId(swapId) : (orderId ?? move ?? ""),
	];
}

async function readSwapIds(db: Database, parts: readonly BookPart[]): Promise<Map<Hex, SwapUuid>> {
	const orderIds = [...new Set(parts.flatMap(({ orderId }) => orderId ?? []))];
	const { rows } = await db.query<Row<"swaps", "id" | "order_id">>(
		"select id, order_id from swaps where order_id = any($1)",
		[orderIds.map((orderId) => Buffer.from(hexToBytes(orderId)))],
	);
	return new Map(rows.map(({ id, order_id }) => [bytesToHex(order_id), id]));
}

function lineOf(fields: readonly string[]): string {
	return `${fields.map((field) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(",")}\r\n`;
}
