import { fromSolanaWord, type SolanaDeployment } from "@geoswap/protocol";
import { ConfigError } from "../../config/config-error.ts";
import type { Database } from "../../database/database.ts";
import { readNamedSolanaAccounts } from "./named-solana-accounts.ts";

/**
 * Throws if orders that are under way name another program or vault than the deployment: no lane would sign for them
 * and no attester would, so their inputs would come back at `refundAfter` only. Keys may change: no order names one.
 */
export async function expectNamedAccounts(
	db: Database,
	{ program }: Pick<SolanaDeployment, "program">,
): Promise<void> {
	const ours = { escrow: program.address, vault: program.vault };
	const named = await readNamedSolanaAccounts(db);
	const other = named.find(({ role, word }) => fromSolanaWord(word) !== ours[role]);
	if (!other) return;
	const { role, swaps, word } = other;
	const name = role === "escrow" ? "program" : "vault";
	throw new ConfigError(
		"the deployment's solana",
		`its ${name} is ${ours[role]}, but ${swaps} ${swaps === 1 ? "order" : "orders"} under way ${swaps === 1 ? "names" : "name"} ${fromSolanaWord(word)}: keep that ${name} until they have ended`,
	);
}
