import { expect, test } from "vitest";
import { parseSealKeys, sealingKey } from "../config/seal-keys.ts";
import { nextSealKeys } from "./seal-keys-next-command.ts";

const nowMs = Date.parse("2026-12-01T00:00:00Z");
const openMs = 30 * 86_400_000;
const kidsOf = (text: string) => parseSealKeys(text, { nowMs: () => nowMs }).keys.map(({ kid }) => kid);

test("a rotation adds a key that seals later, keeps keys that still open tokens, and drops the others", () => {
	const first = nextSealKeys(undefined, { from: "", openMs, nowMs });
	expect(kidsOf(first)).toEqual(["first"]);
	const second = nextSealKeys(first, { from: "2026-12-01T01:00:00Z", openMs, nowMs });
	expect(kidsOf(second)).toEqual(["20261201010000", "first"]);
	const at = (ms: number) => sealingKey(parseSealKeys(second, { nowMs: () => ms })).kid;
	expect([at(nowMs), at(nowMs + 3_600_000)]).toEqual(["first", "20261201010000"]);
	const laterMs = nowMs + 31 * 86_400_000;
	const third = nextSealKeys(second, { from: "2027-01-02T00:00:00Z", openMs, nowMs: laterMs });
	expect(third.split(",").map((entry) => entry.split(":")[0])).toEqual(["20270102000000", "20261201010000"]);
	expect(third.split(",")[1]).toBe(second.split(",")[0]);
});

test("a key that would seal too early is refused, and so is an unreadable value", () => {
	const first = nextSealKeys(undefined, { from: "", openMs, nowMs });
	for (const from of ["2026-12-01T00:00:00Z", "2026-11-01T00:00:00Z", "soon"]) {
		expect(() => nextSealKeys(first, { from, openMs, nowMs })).toThrow("--from");
	}
	expect(() => nextSealKeys("secret", { from: "2026-12-02T00:00:00Z", openMs, nowMs })).toThrow(
		/^GEOSWAP_SEAL_KEYS: (?!.*secret)/,
	);
});
