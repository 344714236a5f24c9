import { randomUUID } from "node:crypto";
import { insertAccount } from "../../api/key/accounts.ts";
import { ConfigError } from "../../config/config-error.ts";
import { checkName } from "../check-name.ts";
import { readActor } from "../read-actor.ts";
import { changeAs } from "../with-database.ts";

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
			`the account "${name}" already exists: give it a key with geoswapd keys create --account`,
		);
	}
	if (json) console.log(JSON.stringify({ accountId, name }));
	else console.log(`${accountId}  ${name}`);
}
