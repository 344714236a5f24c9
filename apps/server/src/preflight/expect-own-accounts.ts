import type { Milliseconds } from "@geoswap/protocol";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { checkOwnAccounts } from "../chain/solana/read/check-own-accounts.ts";
import { ConfigError } from "../config/config-error.ts";
import { retryUntil } from "./retry-until.ts";

/** Throws if escrow or vault lack what every swap on Solana needs. Retries if there is no answer. */
export async function expectOwnAccounts(
	chain: SolanaChain,
	{ patienceMs = 10_000 }: { patienceMs?: Milliseconds } = {},
): Promise<void> {
	const lacking = await retryUntil(() => checkOwnAccounts(chain), performance.now() + patienceMs);
	if (!lacking) throw new ConfigError("solana.nodes", "does not answer");
	if (lacking.length > 0) throw new ConfigError("solana", lacking.join("; "));
}
