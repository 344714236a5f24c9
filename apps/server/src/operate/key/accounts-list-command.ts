import { listAccounts } from "../../api/key/accounts.ts";
import { withDatabase } from "../with-database.ts";

export async function listAccountsCommand({ json }: { json?: boolean }): Promise<void> {
	const accounts = await withDatabase((db) => listAccounts(db, { nowMs: Date.now() }));
	if (json) return console.log(JSON.stringify(accounts));
	if (accounts.length === 0) console.log("there are no accounts: create one with geoswapd accounts create");
	for (const { id, name, createdAt, validKeys } of accounts) {
		const keys = validKeys === 1 ? "1 valid key" : `${validKeys} valid keys`;
		console.log(`${id}  ${name.padEnd(24)}  created ${createdAt.toISOString()}  ${keys}`);
	}
}
