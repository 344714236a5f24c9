import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromSolanaWord } from "@geoswap/protocol";
import fc from "fast-check";
import { getAddress, type Hex } from "viem";
import { afterAll, afterEach, expect, test } from "vitest";
import { createLog } from "../telemetry/log.ts";
import { openDenyFile, parseDenied } from "./deny-file.ts";
import { createDenyList, type DenyList } from "./deny-list.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-deny-"));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, "denied.txt");
let list: DenyList | undefined;
afterEach(() => list?.close());

const first = "0x1111111111111111111111111111111111111111";
const second = "0xAbCdEf0123456789aBcDeF0123456789AbCdEf01".toLowerCase() as Hex;
const onSolana = `0x${"5a".repeat(32)}` as const;

const lookups: string[] = [];
async function open(text: string): Promise<DenyList> {
	lookups.length = 0;
	writeFileSync(path, text);
	const log = createLog({ level: "silent", process: "test" });
	const source = await openDenyFile({ path, everyMs: 5, onLookup: (how) => lookups.push(how), log });
	list = createDenyList(source);
	return list;
}

const find = (wallet: Hex, recipient: Hex) => list?.findDenied({ wallet, recipient }, "quote");

test("addresses of EVM chains in any case and of Solana are denied, as the wallet and as the recipient", async () => {
	await open(`# ours\n\n${getAddress(second)}  # with a reason\r\n  ${fromSolanaWord(onSolana)}\n`);
	expect(await find(first, first)).toBeUndefined();
	expect(await find(getAddress(second), first)).toBe("wallet");
	expect(await find(first, second)).toBe("recipient");
	expect(await find(first, onSolana)).toBe("recipient");
});

test("a changed file is in force without a restart, whether it was written or replaced", async () => {
	await open(`${first}\n`);
	writeFileSync(path, `${first}\n${second}\n`);
	await expect.poll(() => find(second, second)).toBe("wallet");
	writeFileSync(`${path}.new`, `${second}\n`);
	renameSync(`${path}.new`, path);
	await expect.poll(() => find(first, first)).toBeUndefined();
	expect(await find(second, second)).toBe("wallet");
});

test("while a changed file is gone or malformed, the last list stays in force and failures are counted", async () => {
	await open(`${first}\n`);
	writeFileSync(path, `${second}\nnot an address\n`);
	await expect.poll(() => lookups.filter((how) => how === "failed").length).toBeGreaterThan(2);
	expect([await find(first, first), await find(second, second)]).toEqual(["wallet", undefined]);
	rmSync(path);
	const before = lookups.length;
	await expect.poll(() => lookups.length).toBeGreaterThan(before + 1);
	expect(await find(first, first)).toBe("wallet");
	writeFileSync(path, `${second}\n`);
	await expect.poll(() => find(second, second)).toBe("wallet");
	expect(lookups.at(-1)).toBe("ok");
});

test("a file that is malformed or absent at the start is refused, with the line", async () => {
	await expect(open(`${first}\n0x12\n`)).rejects.toThrow("denyList.file: line 2 is not an address");
	// A wrong checksum is a misspelt address.
	await expect(open("0xABCDEF0123456789aBcDeF0123456789AbCdEf01")).rejects.toThrow("line 1");
	rmSync(path);
	const log = createLog({ level: "silent", process: "test" });
	await expect(openDenyFile({ path, log })).rejects.toThrow(/denyList\.file: .*ENOENT/);
});

test("a list denies exactly the addresses that are written in it, in any form", () => {
	const hex = (bytes: number) =>
		fc
			.uint8Array({ minLength: bytes, maxLength: bytes })
			.map((array) => `0x${Buffer.from(array).toString("hex")}` as Hex);
	const evm = hex(20).chain((address) =>
		fc.constantFrom(address, getAddress(address)).map((text) => ({ address, text: String(text) })),
	);
	const solana = hex(32).map((address) => ({ address, text: String(fromSolanaWord(address)) }));
	const comment = fc.constantFrom("", "# comment", "  ", "\t# 0x1111111111111111111111111111111111111111");
	fc.assert(
		fc.property(fc.array(fc.tuple(fc.oneof(evm, solana), comment)), (entries) => {
			const text = entries.map(([entry, after]) => `${entry.text} ${after}\n${after}`).join("\n");
			expect(parseDenied(text)).toEqual(new Set(entries.map(([entry]) => entry.address)));
		}),
	);
});
