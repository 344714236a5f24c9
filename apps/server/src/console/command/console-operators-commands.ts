import { randomBytes, randomUUID } from "node:crypto";
import { expectConsole, publicUrlOf } from "../../config/config-problems.ts";
import { readConfig } from "../../config/read-config.ts";
import { inTransaction } from "../../database/database.ts";
import { checkName } from "../../operate/check-name.ts";
import { readActor } from "../../operate/read-actor.ts";
import { withDatabase } from "../../operate/with-database.ts";
import { writeConsoleLog } from "../login/console-log.ts";
import {
	ensureOperator,
	insertInvite,
	type ListedOperator,
	listOperators,
	removeOperator,
} from "../login/operators.ts";
import { hashToken } from "../login/sessions.ts";

export async function listOperatorsCommand({ json }: { json?: boolean }): Promise<void> {
	const operators = await withDatabase((pool) => listOperators(pool, { nowMs: Date.now() }));
	if (json) return console.log(JSON.stringify(operators));
	if (operators.length === 0) {
		console.log("there are no operators; invite one with geoswapd console invite --name NAME");
	}
	for (const operator of operators) console.log(describe(operator));
}

function describe({ name, createdAt, passkeys, lastUsedAt, isInvited }: ListedOperator): string {
	const facts = [
		passkeys === 1 ? "1 passkey" : `${passkeys} passkeys`,
		lastUsedAt ? `last login ${lastUsedAt.toISOString()}` : "never logged in with a passkey",
		`added ${createdAt.toISOString()}`,
		...(isInvited ? ["a link is open"] : []),
	];
	return `${name.padEnd(24)}  ${facts.join(", ")}`;
}

/** Returns the exit code: 0 if the operator was removed, 1 if none has that name. */
export async function removeOperatorCommand({
	name,
	actor,
	json,
}: {
	name: string;
	actor?: string;
	json?: boolean;
}): Promise<number> {
	const by = readActor(actor);
	const isRemoved = await withDatabase((pool) =>
		inTransaction(pool, async (db) => {
			if (!(await removeOperator(db, name))) return false;
			const detail = `Removed ${name} with all passkeys and sessions.`;
			await writeConsoleLog(db, { actor: by, action: "operator-removed", detail });
			return true;
		}),
	);
	if (json) console.log(JSON.stringify({ name, isRemoved }));
	else if (isRemoved) console.log(`${name} is removed, and is logged out everywhere`);
	else console.error(`error: no operator is named "${name}"; see geoswapd console operators list`);
	return isRemoved ? 0 : 1;
}

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
		console.error(`Works once, until ${expiresAt}. The first to open it is registered as ${name}.`);
	}
}
