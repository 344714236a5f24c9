import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { apiKeyLength, createApiKey, findApiKeysIn, isApiKey, readApiKeyId } from "./api-key.ts";

const pepper = "pepper";
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const newKey = () => createApiKey({ pepper, random: randomBytes });
/** Creates a key from 44 given bytes instead of random ones. */
function seeded(seed: Uint8Array) {
	const parts = [seed.subarray(0, 12), seed.subarray(12)];
	return createApiKey({ pepper, random: () => parts.shift() ?? new Uint8Array() });
}
const anyKey = fc.uint8Array({ minLength: 44, maxLength: 44 }).map(seeded);

test("every key has the published form, and the published example is a key", () => {
	const page = readFileSync(join(import.meta.dirname, "../../../../../docs/keys.md"), "utf8");
	const { key, id } = seeded(Uint8Array.from({ length: 44 }, (_, i) => i));
	expect(key).toBe("geosk_0123456789ab_cdefghjkmnpqrstvwxyz0123456789ab44b6q5hq342m9va");
	expect(page).toContain(`assert is_key("${key}")`);
	expect(id).toBe("0123456789ab");
	const published = /^geosk_\[.*$/m.exec(page)?.[0] ?? "";
	fc.assert(
		fc.property(anyKey, ({ key, id }) => {
			expect(key).toMatch(new RegExp(`^${published}$`));
			expect(key).toHaveLength(apiKeyLength);
			expect(readApiKeyId(key, { pepper })).toBe(id);
		}),
	);
});

test("a key with any one character changed is refused by its checksum or its tag", () => {
	fc.assert(
		fc.property(
			anyKey,
			fc.nat({ max: apiKeyLength - 1 }),
			fc.oneof(fc.constantFrom(...alphabet), fc.string({ minLength: 1, maxLength: 1 })),
			({ key }, at, character) => {
				fc.pre(key[at] !== character);
				const changed = key.slice(0, at) + character + key.slice(at + 1);
				expect(readApiKeyId(changed, { pepper })).toBeUndefined();
				expect(findApiKeysIn(changed).some(({ isRightChecksum }) => isRightChecksum)).toBe(false);
			},
		),
	);
});

test("a key with a right checksum is refused if it was made with another pepper", () => {
	fc.assert(
		fc.property(anyKey, fc.string({ minLength: 1 }), ({ key, id, hash }, other) => {
			fc.pre(other !== pepper);
			expect(findApiKeysIn(key)).toEqual([{ key, id, offset: 0, isRightChecksum: true }]);
			expect(readApiKeyId(key, { pepper: other })).toBeUndefined();
			expect(isApiKey(key, { hash, pepper: other })).toBe(false);
			expect(isApiKey(key, { hash, pepper })).toBe(true);
		}),
	);
});

test("keys differ in id, secret and hash", () => {
	const keys = Array.from({ length: 2_000 }, newKey);
	expect(new Set(keys.map(({ id }) => id)).size).toBe(keys.length);
	expect(new Set(keys.map(({ key }) => key.slice(19, 51))).size).toBe(keys.length);
	expect(new Set(keys.map(({ hash }) => Buffer.from(hash).toString("hex"))).size).toBe(keys.length);
});

test("all keys in a text are found, each with its offset", () => {
	// None of these characters can be part of a key.
	const filler = fc.stringMatching(/^[ .,:;"'\n=ILOU-]*$/);
	fc.assert(
		fc.property(fc.array(fc.tuple(filler, anyKey)), filler, (parts, end) => {
			const text = parts.map(([before, { key }]) => before + key).join("") + end;
			const found = findApiKeysIn(text);
			expect(found.map(({ key }) => key)).toEqual(parts.map(([, { key }]) => key));
			for (const { key, offset } of found) expect(text.startsWith(key, offset)).toBe(true);
		}),
	);
});
