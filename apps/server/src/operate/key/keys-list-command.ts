import { findAccountId } from "../../api/key/accounts.ts";
import { listApiKeys } from "../../api/key/api-key-record.ts";
import { ConfigError } from "../../config/config-error.ts";
import { withDatabase } from "../with-database.ts";
import { keyState } from "./key-state.ts";

export async function listKeysCommand({
	account,
	json,
}: {
	account?: string;
	json?: boolean;
}): Promise<void> {
	const nowMs = Date.now();
	const keys = await withDatabase(async (db) => {
		const accountId = account === undefined ? undefined : await findAccountId(db, account);
		if (account !== undefined && accountId === undefined) {
			throw new ConfigError("--account", `no account is named "${account}": see geoswapd accounts list`);
		}
		const records = await listApiKeys(db, { accountId });
		return records.map(({ hash: _, ...key }) => ({ ...key, state: keyState(key, nowMs) }));
	});
	if (json) return console.log(JSON.stringify(keys));
	if (keys.length === 0) console.log("there are no keys: create one with geoswapd keys create");
	for (const { id, accountName, state, createdAt, expiresAt, lastUsedAt, revokedAt, replacedBy } of keys) {
		const facts = [
			`created ${createdAt.toISOString()}`,
			lastUsedAt ? `used ${lastUsedAt.toISOString()}` : "never used",
			revokedAt
				? `revoked ${revokedAt.toISOString()}`
				: expiresAt && `${state === "expired" ? "expired" : "expires"} ${expiresAt.toISOString()}`,
			replacedBy && `replaced by ${replacedBy}`,
		].filter(Boolean);
		console.log(`${id}  ${accountName.padEnd(24)}  ${state.padEnd(8)}  ${facts.join(", ")}`);
	}
}
