import { formatAddress } from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import { attesterSetOfChain, solanaChain } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../database/database.ts";
import { type Meter, sample } from "../telemetry/meter.ts";

const maxAgeMs = 600_000;

type SigningKey = { use: "relayer" | "treasurer" | "attester" | "operator"; address: string };

/**
 * Publishes how long ago a worker was first configured with each key. Key backends do not report creation times
 * uniformly, so the first configuration is recorded instead.
 */
export function watchSigningKeys({
	meter,
	config,
	chains,
	db,
}: {
	meter: Meter;
	config: Config;
	/** The accounts that send transactions, in the form of the store. */
	chains: readonly { chainId: number; relayers: readonly Hex[]; treasurer?: Address }[];
	db: Database;
}): void {
	const keys = keysOf(config, chains);
	meter.reading({
		name: "age of keys",
		gauges: {
			geoswap_signing_key_age_seconds:
				"Time since a worker was first configured with a key, by the key's use and address",
		},
		maxAgeMs,
		read: async () => {
			const ages = await readAges(db, [...new Set(keys.map(({ address }) => address))]);
			return keys.map(({ use, address }) =>
				sample("geoswap_signing_key_age_seconds", ages.get(address) ?? 0, { use, address }),
			);
		},
	});
}

function keysOf(config: Config, chains: Parameters<typeof watchSigningKeys>[0]["chains"]): SigningKey[] {
	const relayers = chains.flatMap(({ chainId, relayers }) =>
		relayers.map((relayer) => formatAddress(chainId, relayer)),
	);
	const treasurers = chains.flatMap(({ treasurer }) => treasurer ?? []);
	const attesters = config.chains.flatMap((chain) => attesterSetOfChain(chain).attesters);
	const solana = solanaChain(config)?.deployment;
	// A relayer, a treasurer or an attester of several chains is one key.
	return [
		...[...new Set(relayers)].map((address) => ({ use: "relayer" as const, address })),
		...[...new Set(treasurers)].map((address) => ({ use: "treasurer" as const, address })),
		...[...new Set(attesters)].map((address) => ({ use: "attester" as const, address })),
		...(solana ? [{ use: "operator" as const, address: solana.program.operator }] : []),
	];
}

/** Returns the seconds since each address was first recorded. New addresses are recorded now. */
async function readAges(db: Database, addresses: readonly string[]): Promise<Map<string, number>> {
	await db.query("insert into signing_keys (address) select unnest($1::text[]) on conflict do nothing", [
		addresses,
	]);
	const { rows } = await db.query<{ address: string; seconds: number }>(
		`select address, extract(epoch from now() - first_seen_at)::float8 as seconds
		from signing_keys where address = any($1)`,
		[addresses],
	);
	return new Map(rows.map(({ address, seconds }) => [address, seconds]));
}
