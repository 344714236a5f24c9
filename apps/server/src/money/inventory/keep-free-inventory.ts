import { type Amount, greater, lesser, type Milliseconds } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import type { FreeInventory, InventoryReading } from "../../swap/facts/free-inventory.ts";

const readEveryMs = 1_000;
/** The age up to which a reading is current: several reads failed, or the database hangs. */
const maxAgeMs = 10_000;

export type KeptInventory = FreeInventory & {
	/** Reads the inventory now, or waits for the read that is under way. Never rejects. */
	refresh(): Promise<void>;
	close(): Promise<void>;
};

/**
 * Reads the inventory of all vaults once a second. While the database does not answer, the last reading stands: no
 * submit can reserve anything in that time, so no quote that relies on it does harm. Only `isCurrent` changes.
 */
export async function keepFreeInventory({
	db,
	everyMs = readEveryMs,
	nowMs,
	onError = () => {},
}: {
	db: Database;
	everyMs?: Milliseconds;
	nowMs: () => Milliseconds;
	onError?: (error: unknown) => void;
}): Promise<KeptInventory> {
	let known: { readings: ReadonlyMap<string, InventoryReading>; readAtMs: Milliseconds } | undefined;
	let reading: Promise<void> | undefined;
	async function read(): Promise<void> {
		try {
			const readAtMs = nowMs();
			known = { readings: await readInventory(db), readAtMs };
		} catch (error) {
			onError(error);
		}
	}
	function refresh(): Promise<void> {
		// One read at a time, so that a database that hangs gets no more queries.
		reading ??= read().finally(() => {
			reading = undefined;
		});
		return reading;
	}
	await refresh();
	const timer = setInterval(() => void refresh(), everyMs);
	return {
		of: (token) => known && (known.readings.get(keyOf(token)) ?? nothing),
		isCurrent: () => known !== undefined && nowMs() - known.readAtMs <= maxAgeMs,
		refresh,
		async close() {
			clearInterval(timer);
			await reading;
		},
	};
}

const nothing: InventoryReading = { balance: 0n, reserved: 0n, free: 0n, beingSold: 0n };

async function readInventory(db: Database): Promise<Map<string, InventoryReading>> {
	const { rows } = await db.query<InventoryRow>({
		// A ladder may be that of a token which is not in the inventory, such as the wrapped native token.
		text: `select chain_id, token, coalesce(balance, 0) as balance, coalesce(reserved, 0) as reserved,
				coalesce(outflow_available, 0) as outflow_available, coalesce(in_flight, 0) as being_sold,
				needed, coalesce(arriving, 0) as arriving, move_cost_bps
			from inventory full join (
				select chain_id, token, in_flight from pair_volume where direction = 'sell' and in_flight > 0
			) sold using (chain_id, token)`,
	});
	return new Map(
		rows.map((row) => [keyOf({ chainId: row.chain_id, token: bytesToHex(row.token) }), from(row)]),
	);
}

function from({ balance, reserved, outflow_available, being_sold, ...plan }: InventoryRow): InventoryReading {
	const free = greater(lesser(balance, outflow_available) - reserved, 0n);
	const { needed, arriving, move_cost_bps: moveCostBps } = plan;
	const isPlanned = needed !== null && moveCostBps !== null;
	return {
		balance,
		reserved,
		free,
		beingSold: being_sold,
		...(isPlanned && { need: { needed, arriving, moveCostBps } }),
	};
}

function keyOf({ chainId, token }: { chainId: number; token: Hex }): string {
	return `${chainId}:${token.toLowerCase()}`;
}

type InventoryRow = Row<
	"inventory",
	| "chain_id"
	| "token"
	| "balance"
	| "reserved"
	| "outflow_available"
	| "needed"
	| "arriving"
	| "move_cost_bps"
> & {
	being_sold: Amount;
};
