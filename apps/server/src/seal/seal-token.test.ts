import { randomBytes } from "node:crypto";
import { SwapError } from "@geoswap/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openToken } from "./open-token.ts";
import { parseSealKeys, type SealKeys, type SealPurpose } from "./seal-keys.ts";
import { sealToken } from "./seal-token.ts";

const keyText = (kid: string) => `${kid}:${randomBytes(32).toString("base64url")}`;
const [oldKey, newKey] = [keyText("old"), keyText("new")];
const keys = parseSealKeys(newKey);
const purposes: SealPurpose[] = ["quote:evm", "quote:solana", "op:evm", "op:solana", "cursor:swaps"];
const mine = { purpose: "quote:evm", accountId: "a" } as const;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

async function reasonOf(
	token: string,
	sealed: SealKeys = keys,
	as: { purpose: SealPurpose; accountId: string } = mine,
) {
	try {
		await openToken(sealed, token, as);
		return "opened";
	} catch (error) {
		if (!(error instanceof SwapError) || error.code !== "INVALID_TOKEN") throw error;
		return (error as SwapError<"INVALID_TOKEN">).details.reason;
	}
}

test("what is sealed opens as it was, bigints included", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.record({
				text: fc.string({ unit: "binary" }),
				amount: fc.bigInt(),
				list: fc.array(fc.record({ n: fc.bigInt(), i: fc.integer(), b: fc.boolean() })),
				nothing: fc.constant(null),
			}),
			async (payload) => {
				const token = await sealToken(keys, { ...mine, payload });
				expect(token).toMatch(/^[A-Za-z0-9_.-]+$/);
				expect(await openToken(keys, token, mine)).toEqual(payload);
			},
		),
		{ numRuns: 50 },
	);
});

test("a token with any one character changed, at every position, does not open", async () => {
	const token = await sealToken(keys, { ...mine, payload: { amount: 5n } });
	for (let i = 0; i < token.length; i++) {
		for (const other of [alphabet.charAt((i * 7) % 64), "A", "B", ".", "=", " "]) {
			if (other === token[i]) continue;
			expect(await reasonOf(token.slice(0, i) + other + token.slice(i + 1)), `${i} ${other}`).toBe(
				"unreadable",
			);
		}
	}
});

test("a token has one spelling of its last character, of each length", async () => {
	for (const text of ["", "x", "xx"]) {
		const token = await sealToken(keys, { ...mine, payload: text });
		const parts = token.split(".");
		for (const [index, part] of parts.entries()) {
			for (const other of alphabet) {
				const changed = parts.with(index, part.slice(0, -1) + other).join(".");
				expect(await reasonOf(changed)).toBe(changed === token ? "opened" : "unreadable");
			}
		}
	}
});

test("a token with anything put in, cut out or around it does not open", async () => {
	const token = await sealToken(keys, { ...mine, payload: { amount: 5n } });
	const around = ["=", "==", " ", "\n", "\t", ".", "A", "AAAA", "\0", "%3D", '"'];
	for (const more of around) {
		expect(await reasonOf(token + more)).toBe("unreadable");
		expect(await reasonOf(more + token)).toBe("unreadable");
	}
	for (let i = 0; i < token.length; i++) {
		expect(await reasonOf(token.slice(0, i) + token.slice(i + 1))).toBe("unreadable");
		expect(await reasonOf(token.slice(0, i))).toBe("unreadable");
	}
	await fc.assert(
		fc.asyncProperty(fc.string(), fc.nat(token.length), async (text, at) => {
			fc.pre(text !== "");
			expect(await reasonOf(text)).toBe("unreadable");
			expect(await reasonOf(token.slice(0, at) + text + token.slice(at))).toBe("unreadable");
		}),
	);
	expect(await reasonOf("A".repeat(1_000_000))).toBe("unreadable");
});

test("a token opens for its own endpoint and account only, and says which of them was wrong", async () => {
	for (const sealedFor of purposes) {
		const token = await sealToken(keys, { purpose: sealedFor, accountId: "a", payload: 1 });
		for (const purpose of purposes) {
			const right = purpose === sealedFor;
			expect(await reasonOf(token, keys, { purpose, accountId: "a" })).toBe(
				right ? "opened" : "wrong_endpoint",
			);
			expect(await reasonOf(token, keys, { purpose, accountId: "b" })).toBe(
				right ? "other_account" : "wrong_endpoint",
			);
		}
	}
});

test("after a rotation old tokens open, new ones are sealed with the new key, and a dropped key opens nothing", async () => {
	const before = await sealToken(parseSealKeys(oldKey), { ...mine, payload: 1 });
	const rotated = parseSealKeys(`${newKey},${oldKey}`);
	expect(await reasonOf(before, rotated)).toBe("opened");
	const after = await sealToken(rotated, { ...mine, payload: 1 });
	expect(await reasonOf(after, parseSealKeys(newKey))).toBe("opened");
	expect(await reasonOf(before, parseSealKeys(newKey))).toBe("unreadable");
	// The same key id with another secret.
	expect(await reasonOf(after, parseSealKeys(keyText("new")))).toBe("unreadable");
});

test("what no token could carry is not sealed [D-conventions-19]", async () => {
	await expect(sealToken(keys, { ...mine, payload: "x".repeat(8_000) })).rejects.toThrow("too long");
});

test("keys that cannot be read are refused without repeating them", () => {
	for (const text of ["", "a", "a:short", `${newKey},${newKey}`, `${newKey},`, "a:b:c"]) {
		expect(() => parseSealKeys(text)).toThrow(RangeError);
	}
	// What decodes, but is not what anyone wrote down as a key.
	for (const text of [`${newKey}=`, `${newKey}!`, `a:${"A".repeat(42)}B`, `a:${"A+".repeat(22)}`]) {
		expect(() => parseSealKeys(text)).toThrow(RangeError);
	}
	const short = randomBytes(31).toString("base64url");
	expect(() => parseSealKeys(`a:${short}`)).not.toThrow(short);
});
