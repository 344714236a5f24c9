import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";

export type Passkey = {
	/** The credential's id in base64url. */
	id: string;
	operatorId: string;
	operatorName: string;
	publicKey: Buffer;
	/** The number of uses that the authenticator reports. Many always report 0. */
	counter: number;
};

export async function insertPasskey(
	db: Database,
	{
		id,
		operatorId,
		publicKey,
		counter,
	}: Omit<Passkey, "operatorName" | "publicKey"> & { publicKey: Uint8Array },
): Promise<void> {
	await db.query(
		"insert into console_passkeys (id, operator_id, public_key, counter) values ($1, $2, $3, $4)",
		[id, operatorId, publicKey, counter],
	);
}

export async function findPasskey(db: Database, id: string): Promise<Passkey | undefined> {
	const { rows } = await db.query<Passkey>(
		`select p.id, p.operator_id as "operatorId", o.name as "operatorName", p.public_key as "publicKey", p.counter
		from console_passkeys p join console_operators o on o.id = p.operator_id where p.id = $1`,
		[id],
	);
	return rows[0];
}

/** Returns the ids of an operator's passkeys. An authenticator that has one of them does not create a second one. */
export async function passkeyIdsOf(db: Database, operatorId: string): Promise<string[]> {
	const { rows } = await db.query<{ id: string }>("select id from console_passkeys where operator_id = $1", [
		operatorId,
	]);
	return rows.map(({ id }) => id);
}

export async function touchPasskey(
	db: Database,
	{ id, counter, nowMs }: { id: string; counter: number; nowMs: Milliseconds },
): Promise<void> {
	await db.query(
		`update console_passkeys set counter = $2, last_used_at = to_timestamp($3::double precision / 1000)
		where id = $1`,
		[id, counter, nowMs],
	);
}
