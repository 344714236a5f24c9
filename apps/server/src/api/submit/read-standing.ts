import { type Milliseconds, type Order, toChainId, type UsdCents } from "@geoswap/protocol";
import type { Hex } from "viem";
import { type Database, joinParts } from "../../database/database.ts";
import { attestersAlive } from "../../job/heartbeats.ts";
import {
	type InFlight,
	inFlightOf,
	lockedPairs,
	type VolumeRow,
} from "../../money/inventory/inventory-balance.ts";
import {
	type AccountAtRisk,
	atRiskFromRows,
	type GasRow,
	gasFromRows,
	gasRows,
	type UnsettledGas,
} from "../../money/unsettled-gas.ts";
import type { AttestersWanted } from "../../swap/facts/facts.ts";
import type { Pair } from "../../swap/facts/reservation.ts";
import { type Unopened, unopenedBy } from "./read-unopened.ts";
import { type SubmittedValue, submittedValue } from "./submitted-value.ts";

/** The unsettled gas, value at risk and unopened swaps of the swap's account and wallet, without the swap itself. */
export type Standing = {
	gas: UnsettledGas;
	atRisk: AccountAtRisk;
	unopened: Unopened;
	/** Set if the account's swaps of the last 24 hours leave no room. Once a day has passed since then, there is room. */
	fullSince: Date | undefined;
};

type StandingRow = Unopened &
	SubmittedValue & { gas: GasRow[] | null; alive: number; in_flight: VolumeRow[] | null };

/**
 * Reads everything that decides about a swap once no other submit can write for its account or wallet, and locks its
 * ladders. This is a separate statement, because one that waits for a lock does not read what was committed
 * meanwhile.
 */
export async function readStanding(
	db: Database,
	{
		swap: { accountId, order },
		pairs,
		countedOrders,
		unfinalUpToUsdCents = 0n,
		roomUsdCents,
		attesters,
		nowMs,
	}: {
		swap: { accountId: string; order: Order };
		pairs: readonly Pair[];
		countedOrders: readonly Hex[];
		unfinalUpToUsdCents?: UsdCents | undefined;
		roomUsdCents?: UsdCents | undefined;
		attesters?: AttestersWanted | undefined;
		nowMs: Milliseconds;
	},
): Promise<{ standing: Standing; attestersAlive: number; inFlight: InFlight }> {
	const { attesterSet } = order;
	const risk = { originChainId: toChainId(order.originChainId), attesterSet, unfinalUpToUsdCents };
	const { texts, values } = joinParts([
		gasRows({ accountId, nowMs, risk }),
		unopenedBy({ order, accountId, countedOrders, nowMs }),
		attestersAlive({ ...(attesters ?? nobody), nowMs }),
		lockedPairs(pairs),
		submittedValue({ accountId, roomUsdCents, nowMs }),
	]);
	const [gas, unopened, alive, locked, submitted] = texts;
	const { rows } = await db.query<StandingRow>({
		name: "read-standing",
		text: `with gas as (${gas}), unopened as (${unopened}), alive as (${alive}), locked as (${locked}),
				submitted as (${submitted})
			select "ofWallet", "ofAccount", claimed, turn, alive, full_since, (select jsonb_agg(gas) from gas) as gas,
				(select jsonb_agg(locked) from locked) as in_flight
			from unopened, alive, submitted`,
		values,
	});
	const [row] = rows;
	if (!row) throw new Error("an aggregate has a row");
	const { ofWallet, ofAccount, claimed, turn } = row;
	return {
		standing: {
			gas: gasFromRows(row.gas ?? [], { nowMs }),
			atRisk: atRiskFromRows(row.gas ?? []),
			unopened: { ofWallet, ofAccount, claimed, turn },
			fullSince: row.full_since ?? undefined,
		},
		attestersAlive: row.alive,
		inFlight: inFlightOf(row.in_flight ?? []),
	};
}

/** The attesters of a swap that needs none. */
const nobody: AttestersWanted = { attesters: [], chainIds: [], heartbeatSeconds: 0, sightSeconds: 0 };
