import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseConnection } from "../environment/connect-database.ts";

const lookEveryMs = 150;

/**
 * Watches the deliveries against deposits that are not final, or not there, by the events that the service has read,
 * not by its own counter. Returns the maximum per origin chain, in cents.
 */
export function watchUnfinalDeliveries(database: DatabaseConnection): {
	stop: () => Promise<Map<number, bigint>>;
} {
	const most = new Map<number, bigint>();
	let isOver = false;
	const watching = (async () => {
		while (!isOver) {
			for (const { origin, cents } of await read(database)) {
				const before = most.get(origin) ?? 0n;
				if (BigInt(cents) >= before) most.set(origin, BigInt(cents));
			}
			await sleep(lookEveryMs);
		}
	})();
	return {
		stop: async () => {
			isOver = true;
			await watching;
			return most;
		},
	};
}

async function read(database: DatabaseConnection): Promise<{ origin: number; cents: string }[]> {
	return database.query(
		`select (s.order_terms->>'originChainId')::int as origin, sum(s.value_usd_cents)::text as cents
		from swaps s join chain_events f on f.order_id = s.order_id and f.name = 'Filled'
		where s.order_terms->>'originChainId' <> s.order_terms->>'destinationChainId' and not exists (
			select from chain_events o join chain_heads h on h.chain_id = o.chain_id
			where o.order_id = s.order_id and o.name = 'Opened' and o.block_number <= h.finalized_number
		) group by 1`,
	);
}
