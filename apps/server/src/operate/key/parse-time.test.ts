import { expect, test } from "vitest";
import { parseDuration, parseExpiry, parseTime, parseTimeIn } from "./parse-limits.ts";

const nowMs = Date.parse("2026-06-01T00:00:00Z");

test.each<[string, string | undefined]>([
	["90d", "2026-08-30T00:00:00.000Z"],
	["24h", "2026-06-02T00:00:00.000Z"],
	["30m", "2026-06-01T00:30:00.000Z"],
	["1s", "2026-06-01T00:00:01.000Z"],
	["2027-01-31", "2027-01-31T00:00:00.000Z"],
	["2027-01-31T12:00:00+01:00", "2027-01-31T11:00:00.000Z"],
	["never", undefined],
])("an expiry of %s is %s", (text, expected) => {
	expect(parseExpiry("--expires", text, { nowMs })?.toISOString()).toBe(expected);
});

test.each([
	"",
	"90",
	"0s",
	"00d",
	"d",
	"1.5h",
	"-1d",
	"1w",
	"3651d",
	"tomorrow",
	"2027-02-30",
	"2027-01-31T12:00",
	"2026-06-01",
])("an expiry of %j is refused", (text) => {
	expect(() => parseExpiry("--expires", text, { nowMs })).toThrow("--expires: ");
});

test("a duration is refused as a time, and a time as a duration", () => {
	expect(() => parseTime("--at", "90d", { nowMs })).toThrow("is not a time");
	expect(() => parseDuration("--in", "2027-01-31")).toThrow("is not a duration");
});

test("a duration of zero is refused, except for an overlap", () => {
	expect(() => parseTimeIn("--in", "0h", { nowMs })).toThrow("--in: 0h is zero");
	expect(parseDuration("--overlap", "0s")).toBe(0);
});
