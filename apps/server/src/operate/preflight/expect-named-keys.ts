import { fromSolanaWord, type SolanaDeployment } from "@geoswap/protocol";
import { ConfigError } from "../../config/config-error.ts";
import type { Database } from "../../database/database.ts";
import { readNamedSolanaKeys } from "./named-solana-keys.ts";

/**
 * Throws if orders that are under way name another escrow or vault than the deployment: no lane could sign for them and
 * no attester would, so their inputs would be stuck for good. Fee payers may change: no order names one.
 */
export async function expectNamedKeys(
	db: Database,
	deployment: Pick<SolanaDeployment, "escrow" | "vault">,
): Promise<void> {
	const named = (await readNamedSolanaKeys(db)).map((one) => ({ ...one, address: fromSolanaWord(one.key) }));
	const other = named.find(({ role, address }) => address !== deployment[role]);
	if (!other) return;
	const { role, swaps, address } = other;
	throw new ConfigError(
		"the deployment's solana",
		`its ${role} is ${deployment[role]}, but ${swaps} ${swaps === 1 ? "order" : "orders"} under way ${swaps === 1 ? "names" : "name"} ${address}: keep that key until they have ended`,
	);
}
