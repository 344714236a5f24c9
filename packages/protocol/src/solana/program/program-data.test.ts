import { getAddressEncoder } from "@solana/kit";
import { concatBytes, sha256, toHex } from "viem";
import { expect, test } from "vitest";
import { fromSolanaWord, type SolanaAddress } from "../solana-address.ts";
import { decodeProgramData, programProblem } from "./program-data.ts";

const [authority, other] = [7n, 8n].map((n) => fromSolanaWord(toHex(n, { size: 32 }))) as [
	SolanaAddress,
	SolanaAddress,
];
const code = Uint8Array.of(1, 2, 3);
const published = { bytes: 3, sha256: sha256(code) };

/** Returns the loader's account of a program: a tag, the slot of the last change, the authority, the code. */
function accountOf(upgradeAuthority: SolanaAddress | null, ...stored: Uint8Array[]): Uint8Array {
	const key = upgradeAuthority === null ? new Uint8Array(32) : getAddressEncoder().encode(upgradeAuthority);
	const slot = Uint8Array.of(5, 0, 0, 0, 0, 0, 0, 0);
	const header = Uint8Array.of(3, 0, 0, 0, ...slot, upgradeAuthority === null ? 0 : 1, ...key);
	return concatBytes([header, ...stored]);
}

function problemOf(
	account: Uint8Array,
	upgradeAuthority: SolanaAddress | null,
	deployedAtSlot = 5,
): string | undefined {
	const data = decodeProgramData(account);
	if (!data) throw new Error("it is a program's account");
	return programProblem(data, { upgradeAuthority, deployedAtSlot, code: published });
}

test("a program is accepted if its code, apart from trailing zeros, and its upgrade authority are the published ones", () => {
	for (const published of [authority, null]) {
		expect(problemOf(accountOf(published, code), published)).toBeUndefined();
		// Anyone may lengthen a program's account.
		expect(problemOf(accountOf(published, code, new Uint8Array(100)), published)).toBeUndefined();
		const longer = accountOf(published, code, Uint8Array.of(0, 0, 1));
		expect(problemOf(longer, published)).toContain("code is not the published one");
		const changed = accountOf(published, Uint8Array.of(1, 2, 4));
		expect(problemOf(changed, published)).toContain("code is not the published one");
		expect(problemOf(accountOf(published, code.slice(0, 2)), published)).toContain("code");
		expect(problemOf(accountOf(other, code), published)).toContain(`${other} may replace the program`);
	}
	expect(problemOf(accountOf(null, code), authority)).toContain("no key may replace the program");
});

test("a program changed since its publication is refused even if its code is the same again, and a final program can only have been lengthened", () => {
	expect(problemOf(accountOf(authority, code), authority, 4)).toContain("changed in slot 5");
	expect(problemOf(accountOf(null, code), null, 4)).toBeUndefined();
});

test("a buffer, a program's own account and cut bytes hold no code", () => {
	const account = accountOf(authority, code);
	for (const tag of [0, 1, 2]) {
		expect(decodeProgramData(Uint8Array.of(tag, ...account.slice(1)))).toBeUndefined();
	}
	expect(decodeProgramData(account.slice(0, 44))).toBeUndefined();
	expect(decodeProgramData(new Uint8Array())).toBeUndefined();
});
