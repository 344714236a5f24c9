import { randomUUID } from "node:crypto";
import { insertAccount, listAccounts } from "../../api/key/accounts.ts";
import { ConfigError } from "../../config/config-error.ts";
import { checkName } from "../check-name.ts";
import { readActor } from "../read-actor.ts";
import { changeAs, withDatabase } from "../with-database.ts";

export async function createAccountCommand({
	name,
	actor,
	json,
}: {
	name: string;
	actor?: string;
	json?: boolean;
}): Promise<void> {
	checkName("the account's name", name);
	const accountId = randomUUID();
	const isNew = await changeAs(readActor(actor), (db) => insertAccount(db, { id: accountId, name }));
	if (!isNew) {
		throw new ConfigError(
			"accounts create",
			`the account "${name}" already exists; give it a key with geoswapd keys create --account`,
		);
	}
	if (json) console.log(JSON.stringify({ accountId, name }));
	else console.log(`${accountId}  ${name}`);
}

export async function listAccountsCommand({ json }: { json?: boolean }): Promise<void> {
	const accounts = await withDatabase((db) => listAccounts(db, { nowMs: Date.now() }));
	if (json) return console.log(JSON.stringify(accounts));
	if (accounts.length === 0) console.log("there are no accounts; create one with geoswapd accounts create");
	for (const { id, name, createdAt, validKeys } of accounts) {
		const keys = validKeys === 1 ? "1 valid key" : `${validKeys} valid keys`;
		console.log(`${id}  ${name.padEnd(24)}  created ${createdAt.toISOString()}  ${keys}`);
	}
}
