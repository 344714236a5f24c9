import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readOptionalSecret, readSecret } from "./secrets.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));

function secretFile(text: string): string {
	const path = join(folder, crypto.randomUUID());
	writeFileSync(path, text);
	return path;
}

test("a secret comes from its variable, or from the file that NAME_FILE names", () => {
	expect(readSecret("REDIS_URL", { REDIS_URL: "redis://one" })).toBe("redis://one");
	expect(readSecret("REDIS_URL", { REDIS_URL_FILE: secretFile("redis://two") })).toBe("redis://two");
});

test("one newline at the end of a secret's file is no part of the secret", () => {
	expect(readSecret("REDIS_URL", { REDIS_URL_FILE: secretFile("redis://two\n") })).toBe("redis://two");
	expect(readSecret("REDIS_URL", { REDIS_URL_FILE: secretFile("redis://two\r\n") })).toBe("redis://two");
	expect(readSecret("REDIS_URL", { REDIS_URL_FILE: secretFile(" two \n\n") })).toBe(" two \n");
});

test("a secret that is set in both ways is refused, and neither value is shown", () => {
	const both = { REDIS_URL: "redis://one", REDIS_URL_FILE: secretFile("redis://two") };
	expect(() => readSecret("REDIS_URL", both)).toThrow(
		"REDIS_URL: is set, and so is REDIS_URL_FILE. Remove one of them",
	);
	expect(() => readOptionalSecret("REDIS_URL", both)).toThrow("Remove one of them");
});

test("a file that cannot be read or is empty is refused with a solution", () => {
	const missing = join(folder, "missing");
	expect(() => readSecret("REDIS_URL", { REDIS_URL_FILE: missing })).toThrow(
		`REDIS_URL_FILE: ${missing} cannot be read (ENOENT). Mount it, readable by this user`,
	);
	const empty = secretFile("\n");
	expect(() => readOptionalSecret("REDIS_URL", { REDIS_URL_FILE: empty })).toThrow(
		`REDIS_URL_FILE: ${empty} is empty. Write redis://host:6379 into it`,
	);
});

test("a secret that is set in neither way is refused if it is needed, and absent if it is optional", () => {
	expect(() => readSecret("REDIS_URL", {})).toThrow("is not set in the environment");
	expect(readOptionalSecret("GEOSWAP_PYTH_KEY", {})).toBeUndefined();
});
