import { randomBytes, randomUUID } from "node:crypto";
import { expectConsole, publicUrlOf } from "../../config/config-problems.ts";
import { readConfig } from "../../config/read-config.ts";
import { inTransaction } from "../../database/database.ts";
import { checkName } from "../../operate/check-name.ts";
import { readActor } from "../../operate/read-actor.ts";
import { withDatabase } from "../../operate/with-database.ts";
import { writeConsoleLog } from "../login/console-log.ts";
import { hashToken } from "../login/hash-token.ts";
import { ensureOperator, insertInvite } from "../login/operators.ts";

const lifetimeMinutes = 15;

/** Prints a link with which an operator registers a passkey, once. It is a secret until it is used. */
export async function inviteCommand({
	config: path,
	name: text,
	actor,
	json,
}: {
	config: string;
	name: string;
	actor?: string;
	json?: boolean;
}): Promise<void> {
	const config = expectConsole(readConfig(path), path);
	const name = checkName("--name", text);
	const by = readActor(actor);
	const token = randomBytes(32).toString("base64url");
	const expiresAtMs = Date.now() + lifetimeMinutes * 60_000;
	await withDatabase((pool) =>
		inTransaction(pool, async (db) => {
			const operator = await ensureOperator(db, { id: randomUUID(), name });
			await insertInvite(db, { operatorId: operator.id, tokenHash: hashToken(token), expiresAtMs });
			const detail = `Invited ${name} with a one-time link.`;
			await writeConsoleLog(db, { actor: by, action: "invited", detail });
		}),
	);
	const url = `${publicUrlOf(config)}/invite?token=${token}`;
	const expiresAt = new Date(expiresAtMs).toISOString();
	if (json) console.log(JSON.stringify({ name, url, expiresAt }));
	else {
		console.log(url);
		console.error(`Works once, until ${expiresAt}. Whoever opens it first is ${name}.`);
	}
}
