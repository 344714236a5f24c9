import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { createTestDatabase } from "../../../test/service/test-database.ts";
import { scramVerifier, setPassword } from "./grant-roles.ts";

test("PostgreSQL stores the verifier unchanged, and gets the password in no statement", async () => {
	const { owner, roles, drop } = await createTestDatabase();
	try {
		const statements: unknown[] = [];
		const recording: Parameters<typeof setPassword>[0] = {
			query: (...args: Parameters<typeof owner.query>) => {
				statements.push(args);
				return owner.query(...args);
			},
		} as typeof owner;
		await setPassword(recording, { role: roles.api, password: "p'encil" });
		const { rows } = await owner.query<{ rolpassword: string }>(
			"select rolpassword from pg_authid where rolname = $1",
			[roles.api],
		);
		const [, salt = ""] = /^SCRAM-SHA-256\$4096:([^$]+)\$/.exec(rows[0]?.rolpassword ?? "") ?? [];
		// PostgreSQL would have treated a text that is not a verifier as a password, and hashed it.
		expect(rows[0]?.rolpassword).toBe(scramVerifier("p'encil", { salt: Buffer.from(salt, "base64") }));
		expect(JSON.stringify(statements)).not.toContain("encil");
	} finally {
		await drop();
	}
});

test("a verifier accepts the client of RFC 7677, and proves itself to it", () => {
	const salt = Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64");
	const [, stored = "", server = ""] = scramVerifier("pencil", { salt }).split(/[$:](?=[^$:]*(?::[^:]*)?$)/);
	const nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
	const said = `n=user,r=rOprNGfwEbeRWgbNEkqO,r=${nonce},s=${salt.toString("base64")},i=4096,c=biws,r=${nonce}`;
	const keyed = (key: string) => createHmac("sha256", Buffer.from(key, "base64")).update(said).digest();
	const proof = Buffer.from("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "base64");
	const clientKey = keyed(stored).map((byte, i) => byte ^ (proof[i] ?? 0));
	expect(createHash("sha256").update(clientKey).digest("base64")).toBe(stored);
	expect(keyed(server).toString("base64")).toBe("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
});

test("a password that would need SASLprep is refused", () => {
	expect(() => scramVerifier("pässwort", { salt: new Uint8Array(16) })).toThrow("printable ASCII");
});
