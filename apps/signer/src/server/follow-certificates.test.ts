import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { followCertificates } from "./follow-certificates.ts";
import type { Certificates } from "./read-certificates.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const certificatesOf = (cert: string): Certificates => ({ context: { cert }, expiries: [] });

function setUp() {
	const file = { cert: "one", isMissing: false };
	const used: unknown[] = [];
	const said: string[] = [];
	const following = followCertificates({
		first: certificatesOf("one"),
		read: () => {
			if (file.isMissing) throw new Error("there is no such file");
			return certificatesOf(file.cert);
		},
		use: ({ context: { cert } }) => {
			if (cert === "wrong") throw new Error("the key does not fit");
			used.push(cert);
		},
		everyMs: 100,
		log: pino({}, { write: (line) => void said.push(JSON.parse(line).msg) }),
	});
	return { file, used, said, following };
}

test("certificates are used once, when two readings agree that they have changed", () => {
	const { file, used, following } = setUp();
	vi.advanceTimersByTime(500);
	expect(used).toEqual([]);
	// The files are replaced one after the other.
	file.cert = "half";
	vi.advanceTimersByTime(100);
	file.cert = "two";
	vi.advanceTimersByTime(100);
	expect(used).toEqual([]);
	vi.advanceTimersByTime(500);
	expect(used).toEqual(["two"]);
	following.stop();
	file.cert = "three";
	vi.advanceTimersByTime(500);
	expect(used).toEqual(["two"]);
});

test("certificates that are missing or cannot be used are reported once, and do not replace those in use", () => {
	const { file, used, said } = setUp();
	file.isMissing = true;
	vi.advanceTimersByTime(1_000);
	expect(said).toEqual(["the certificates could not be read again; the old ones stay in use"]);
	Object.assign(file, { isMissing: false, cert: "wrong" });
	vi.advanceTimersByTime(1_000);
	expect(said).toHaveLength(2);
	expect(used).toEqual([]);
	file.cert = "two";
	vi.advanceTimersByTime(1_000);
	expect(used).toEqual(["two"]);
	expect(said.at(-1)).toBe("the certificates were read again");
});
