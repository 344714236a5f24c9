import { expect, test } from "vitest";
import type { Breach } from "../audit/read/report.ts";
import { foundTwice } from "./found-twice.ts";

const breach = (message: string, of: Partial<Breach> = {}): Breach => ({
	invariant: "I2",
	message,
	chainIds: [1],
	next: "",
	...of,
});
const isNew = ({ pauses }: Breach) => pauses !== false;

test("a breach is confirmed by one of the same token with any amount, and not by another token or a notice", () => {
	const short = breach("8 less", { token: "a" });
	expect(foundTwice([short], [breach("9 less", { token: "a" })], isNew)).toMatchObject([
		{ message: "9 less" },
	]);
	expect(foundTwice([short], [breach("8 less", { token: "b" })], isNew)).toEqual([]);
	expect(foundTwice([breach("told", { token: "a", pauses: false })], [short], isNew)).toEqual([]);
	expect(foundTwice([short], [breach("told", { token: "a", pauses: false })], isNew)).toEqual([]);
});
