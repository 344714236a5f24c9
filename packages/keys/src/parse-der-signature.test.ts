import { expect, test } from "vitest";
import { crc32c } from "./crc32c.ts";
import { parseDerSignature } from "./parse-der-signature.ts";

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));

test("the two integers of a signature are read, with and without a leading zero", () => {
	expect(parseDerSignature(bytes("3006020101020102"))).toEqual({ r: 1n, s: 2n });
	expect(parseDerSignature(bytes(`30260220${"7f".repeat(32)}02020080`))).toEqual({
		r: BigInt(`0x${"7f".repeat(32)}`),
		s: 128n,
	});
});

test("bytes that are not a signature are refused", () => {
	for (const hex of [
		"",
		"30",
		"3006020101",
		"300602010102010200",
		"3106020101020102",
		"3003020101",
		"3006020001020102",
	]) {
		expect(() => parseDerSignature(bytes(hex)), hex).toThrow("not a signature");
	}
});

test("the checksum is the one of Castagnoli", () => {
	expect(crc32c(Buffer.from("123456789"))).toBe(0xe3069283);
	expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
});
