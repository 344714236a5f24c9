import { randomBytes, randomUUID } from "node:crypto";
import { ensureAccount } from "../../api/key/accounts.ts";
import { createApiKey } from "../../api/key/api-key.ts";
import { insertApiKeys } from "../../api/key/api-key-record.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readPepper } from "../../config/secrets.ts";
import { checkName } from "../check-name.ts";
import { readActor } from "../read-actor.ts";
import { changeAs } from "../with-database.ts";
import { changeLimits, type LimitOptions } from "./parse-limits.ts";
import { parseExpiry } from "./parse-time.ts";

const maxCount = 10_000;

export async function createKeyCommand({
	account,
	rate,
	held,
	expires,
	count,
	actor,
	json,
}: LimitOptions & {
	account: string;
	expires?: string;
	count?: string;
	actor?: string;
	json?: boolean;
}): Promise<void> {
	checkName("--account", account);
	const limits = changeLimits({}, { rate, held });
	const expiresAt =
		expires === undefined ? undefined : parseExpiry("--expires", expires, { nowMs: Date.now() });
	const length = parseCount(count);
	const pepper = readPepper();
	const keys = Array.from({ length }, () => createApiKey({ pepper, random: randomBytes }));
	const accountId = await changeAs(readActor(actor), async (db) => {
		const accountId = await ensureAccount(db, { id: randomUUID(), name: account });
		await insertApiKeys(db, { keys, accountId, limits, expiresAt });
		return accountId;
	});
	if (json) {
		const shown = keys.map(({ id, key }) => ({
			apiKey: key,
			keyId: id,
			accountId,
			...(expiresAt && { expiresAt }),
		}));
		console.log(JSON.stringify(count === undefined ? shown[0] : shown));
		return;
	}
	for (const { key } of keys) console.log(key);
	// Printed to stderr, so that the keys can go straight into a file.
	console.error(
		keys.length === 1
			? `It is not shown again. Revoke it with: geoswapd keys revoke ${keys[0]?.id}`
			: "They are not shown again. See them without their secrets with: geoswapd keys list",
	);
}

function parseCount(text = "1"): number {
	const count = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
	if (count < 1 || count > maxCount) {
		throw new ConfigError("--count", `"${text}" is not a number of keys: write 1 to ${maxCount}`);
	}
	return count;
}
