import { randomBytes } from "node:crypto";
import { SwapError } from "@geoswap/protocol";
import fc from "fast-check";
import { CompactEncrypt, compactDecrypt } from "jose";
import { expect, test } from "vitest";
import { parseSealKeys, type SealKeys, type SealPurpose } from "../../config/seal-keys.ts";
import { openToken, openTokenWithAge } from "./open-token.ts";
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

test("a sealed payload opens unchanged, bigints included", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.record({
				text: fc.string({ unit: "binary" }),
				amount: fc.bigInt(),
				list: fc.array(fc.record({ n: fc.bigInt(), i: fc.integer(), b: fc.boolean() })),
				nothing: fc.constant(null),
			}),
			async (payload) => {
				const token = sealToken(keys, { ...mine, payload });
				expect(token).toMatch(/^[A-Za-z0-9_.-]+$/);
				expect(await openToken(keys, token, mine)).toEqual(payload);
			},
		),
		{ numRuns: 50 },
	);
});

test("a token is a standard JWE, which other libraries open, and their tokens can be opened here", async () => {
	const payload = { text: "\u{1f980}", amount: 5n };
	const token = sealToken(keys, { ...mine, payload });
	const secret = Buffer.from(newKey.split(":")[1] ?? "", "base64url");
	const { plaintext, protectedHeader } = await compactDecrypt(token, secret);
	expect(protectedHeader).toEqual({ alg: "dir", enc: "A256GCM", kid: "new" });
	const again = await new CompactEncrypt(plaintext)
		.setProtectedHeader(protectedHeader as never)
		.encrypt(secret);
	expect(await openToken(keys, again, mine)).toEqual(payload);
});

test("no two tokens share an initialization vector", () => {
	const ivs = Array.from({ length: 1_000 }, () => sealToken(keys, { ...mine, payload: 1 }).split(".")[2]);
	expect(new Set(ivs).size).toBe(1_000);
});

test("a token with a truncated tag does not open, even if the remaining bytes are right", async () => {
	const [header, , iv, sealed, tag = ""] = sealToken(keys, { ...mine, payload: 1 }).split(".");
	for (const bytes of [4, 8, 12, 13, 14, 15]) {
		const short = Buffer.from(tag, "base64url").subarray(0, bytes).toString("base64url");
		expect(await reasonOf([header, "", iv, sealed, short].join("."))).toBe("unreadable");
	}
});

test("a token with any one character changed, at every position, does not open", async () => {
	const token = sealToken(keys, { ...mine, payload: { amount: 5n } });
	for (let i = 0; i < token.length; i++) {
		for (const other of [alphabet.charAt((i * 7) % 64), "A", "B", ".", "=", " "]) {
			if (other === token[i]) continue;
			expect(await reasonOf(token.slice(0, i) + other + token.slice(i + 1)), `${i} ${other}`).toBe(
				"unreadable",
			);
		}
	}
});

test("the error about a token at the wrong endpoint names the right one, and does not request a new quote", async () => {
	const token = sealToken(keys, { ...mine, payload: {} });
	for (const purpose of purposes.filter((other) => other !== mine.purpose)) {
		await expect(openToken(keys, token, { ...mine, purpose })).rejects.toMatchObject({
			message: "This token is for POST /swap/build-geo-op. Send it there unchanged.",
			details: { reason: "wrong_endpoint", endpoint: "POST /swap/build-geo-op" },
			next: "fix_request",
			retryable: false,
		});
	}
	await expect(openToken(keys, "x", mine)).rejects.toMatchObject({ next: "requote" });
});

test("the last character of each part of a token has only one valid spelling", async () => {
	for (const text of ["", "x", "xx"]) {
		const token = sealToken(keys, { ...mine, payload: text });
		const parts = token.split(".");
		for (const [index, part] of parts.entries()) {
			for (const other of alphabet) {
				const changed = parts.with(index, part.slice(0, -1) + other).join(".");
				expect(await reasonOf(changed)).toBe(changed === token ? "opened" : "unreadable");
			}
		}
	}
});

test("a token with characters inserted, removed or added around it does not open", async () => {
	const token = sealToken(keys, { ...mine, payload: { amount: 5n } });
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

test("a token opens only for its endpoint and account, and the error names which of the two is wrong", async () => {
	for (const sealedFor of purposes) {
		const token = sealToken(keys, { purpose: sealedFor, accountId: "a", payload: 1 });
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

const [firstMs, rotatesMs] = [Date.parse("2026-11-30T00:00:00Z"), Date.parse("2026-12-01T00:00:00Z")];
const dayMs = 86_400_000;

/** Returns the two keys, with a clock that the test sets. */
function rotating({
	atMs = firstMs,
	openMs = 30 * dayMs,
	text = `${oldKey},${newKey}@2026-12-01T00:00:00Z`,
} = {}) {
	const clock = { nowMs: atMs };
	return { clock, keys: parseSealKeys(text, { openMs, nowMs: () => clock.nowMs }) };
}
const kidOf = (token: string) =>
	JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).kid as string;
const op = { purpose: "op:evm", accountId: "a" } as const;

test("each key seals from its start time on, and the previous key opens its tokens for as long as they may be resent", async () => {
	const { clock, keys: both } = rotating();
	const quote = sealToken(both, { ...mine, payload: 1 });
	const submitted = sealToken(both, { ...op, payload: 1 });
	expect([kidOf(quote), kidOf(submitted)]).toEqual(["old", "old"]);
	clock.nowMs = rotatesMs;
	const after = sealToken(both, { ...op, payload: 1 });
	expect(kidOf(after)).toBe("new");
	expect(await reasonOf(quote, both)).toBe("opened");
	clock.nowMs = rotatesMs + 300_001;
	// A quote is no longer of use. An op may have been submitted before, and its submit may be repeated.
	expect(await reasonOf(quote, both)).toBe("unreadable");
	expect(await openTokenWithAge(both, submitted, op)).toEqual({ payload: 1, isOld: true });
	clock.nowMs = rotatesMs + 30 * dayMs;
	expect(await reasonOf(submitted, both, op)).toBe("opened");
	clock.nowMs++;
	expect(await reasonOf(submitted, both, op)).toBe("unreadable");
	expect(await reasonOf(after, both, op)).toBe("opened");
});

test("a token under an unknown key id, or under another key with the same id, does not open", async () => {
	const token = sealToken(keys, { ...mine, payload: 1 });
	expect(await reasonOf(token, parseSealKeys(oldKey))).toBe("unreadable");
	expect(await reasonOf(token, parseSealKeys(keyText("new")))).toBe("unreadable");
});

test("a retired key opens no token that was sealed after its retirement, and earlier ones are marked as old", async () => {
	const { clock, keys: both } = rotating({ atMs: rotatesMs });
	// A thief who has only the old key continues to seal with it.
	const stolen = (nowMs: number) => parseSealKeys(oldKey, { nowMs: () => nowMs });
	for (const nowMs of [rotatesMs, rotatesMs + 1, rotatesMs + dayMs]) {
		clock.nowMs = nowMs;
		expect(await reasonOf(sealToken(stolen(nowMs), { ...op, payload: 1 }), both, op)).toBe("unreadable");
	}
	const backdated = sealToken(stolen(rotatesMs - 1), { ...op, payload: 1 });
	expect(await openTokenWithAge(both, backdated, op)).toMatchObject({ isOld: true });
});

test("processes that get a new key one after another, with skewed clocks, refuse no token", async () => {
	const times = { skewsMs: [-2_000, 0, 1_500], learnMs: [-60_000, -30_000, -5_000] };
	let nowMs = rotatesMs - 90_000;
	const processes = times.skewsMs.map((skewMs, i) => {
		const read = (text: string) => parseSealKeys(text, { nowMs: () => nowMs + skewMs });
		const [before, after] = [read(oldKey), read(`${newKey}@2026-12-01T00:00:00Z,${oldKey}`)];
		return () => (nowMs - rotatesMs >= (times.learnMs[i] ?? 0) ? after : before);
	});
	const kids = new Set<string>();
	for (; nowMs < rotatesMs + 30_000; nowMs += 500) {
		const issued = processes.map((own) => sealToken(own(), { ...mine, payload: 1 }));
		for (const token of issued) {
			kids.add(kidOf(token));
			for (const own of processes)
				expect(await reasonOf(token, own()), String(nowMs - rotatesMs)).toBe("opened");
		}
	}
	expect(kids).toEqual(new Set(["old", "new"]));
});

test("key times that leave no key to seal with, or two concurrent ones, are refused", () => {
	for (const text of [
		`${newKey}@2026-12-01T00:00:00Z`,
		`${newKey},${oldKey}`,
		`${newKey}@2026-11-01T00:00Z,${oldKey}@2026-11-01T00:00:00Z`,
		`${newKey}@tomorrow,${oldKey}`,
		`${newKey}@2026-12-01,${oldKey}`,
	]) {
		expect(() => parseSealKeys(text, { nowMs: () => firstMs }), text.replaceAll(/:[^@,]*/g, "")).toThrow(
			RangeError,
		);
	}
});

test("a payload that is too long for a token is not sealed [D-conventions-19]", () => {
	expect(() => sealToken(keys, { ...mine, payload: "x".repeat(8_000) })).toThrow("too long");
});

test("invalid keys are refused, and the error does not contain them", () => {
	for (const text of ["", "a", "a:short", `${newKey},${newKey}`, `${newKey},`, "a:b:c"]) {
		expect(() => parseSealKeys(text)).toThrow(RangeError);
	}
	// These texts decode, but are not keys as an operator would write them.
	for (const text of [`${newKey}=`, `${newKey}!`, `a:${"A".repeat(42)}B`, `a:${"A+".repeat(22)}`]) {
		expect(() => parseSealKeys(text)).toThrow(RangeError);
	}
	const short = randomBytes(31).toString("base64url");
	expect(() => parseSealKeys(`a:${short}`)).not.toThrow(short);
});
