import { formatAddress, type Milliseconds } from "@geoswap/protocol";
import { formatUnits, type Hex } from "viem";
import type { Database } from "../database/database.ts";
import { type Meter, sample } from "../telemetry/meter.ts";

const maxAgeMs = 60_000;
const vaultMaxAgeMs = 15_000;

type WatchedChain = {
	chainId: number;
	config: { nativeDecimals: number };
	/** The accounts that send transactions, in the form of the store. */
	relayers: readonly Hex[];
	readBalances: () => Promise<{ relayer: string; balance: bigint }[]>;
	/** Absent where a vault cannot be paused. */
	isVaultPaused?: () => Promise<boolean>;
};

/**
 * Publishes the relayers' remaining gas and what they spend, and whether vaults are paused. Separate from their
 * lanes, which do not wait for this.
 */
export function watchRelayers({
	meter,
	chains,
	db,
	nowMs,
}: {
	meter: Meter;
	chains: readonly WatchedChain[];
	db: Database;
	nowMs: () => Milliseconds;
}): void {
	meter.reading({
		name: "spent gas",
		gauges: {
			geoswap_relayer_spent_native:
				"Network costs of a relayer's transactions of the last day, in the chain's native token",
		},
		maxAgeMs,
		read: async () => {
			const spent = await readSpentGas(db, { nowMs: nowMs() });
			return chains.flatMap(({ chainId, config: { nativeDecimals }, relayers }) =>
				relayers.map((relayer) => {
					const wei = spent.get(`${chainId}:${relayer.toLowerCase()}`) ?? 0n;
					const labels = { chain: String(chainId), relayer: formatAddress(chainId, relayer) };
					return sample("geoswap_relayer_spent_native", Number(formatUnits(wei, nativeDecimals)), labels);
				}),
			);
		},
	});
	for (const { chainId, isVaultPaused } of chains) {
		if (!isVaultPaused) continue;
		meter.reading({
			name: `vault of chain ${chainId}`,
			gauges: { geoswap_vault_paused: "1 if the vault's contract is paused and pays nothing out" },
			maxAgeMs: vaultMaxAgeMs,
			read: async () => [
				sample("geoswap_vault_paused", (await isVaultPaused()) ? 1 : 0, { chain: String(chainId) }),
			],
		});
	}
	// Each chain is read separately, so that one that does not answer does not hide the others.
	for (const { chainId, config, readBalances } of chains) {
		meter.reading({
			name: `relayers of chain ${chainId}`,
			gauges: {
				geoswap_relayer_balance_native: "Balance of a relayer or fee payer, in the chain's native token",
			},
			maxAgeMs,
			read: async () =>
				(await readBalances()).map(({ relayer, balance }) => ({
					gauge: "geoswap_relayer_balance_native",
					labels: { chain: String(chainId), relayer },
					value: Number(formatUnits(balance, config.nativeDecimals)),
				})),
		});
	}
}

/** Reads the cost of each relayer's transactions of the last day, by chain and relayer. */
async function readSpentGas(db: Database, { nowMs }: { nowMs: Milliseconds }): Promise<Map<string, bigint>> {
	const { rows } = await db.query<{ chainId: number; relayer: string; wei: bigint }>(
		`select chain_id as "chainId", '0x' || encode(relayer, 'hex') as relayer, sum(gas_cost) as wei
		from lane_transactions
		where created_at > to_timestamp($1::float8 / 1000) - interval '1 day' and gas_cost is not null
		group by 1, 2`,
		[nowMs],
	);
	return new Map(rows.map(({ chainId, relayer, wei }) => [`${chainId}:${relayer}`, wei]));
}
