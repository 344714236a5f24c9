import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { presetSchema } from "./preset-schema.ts";
import { presetFolder, readPreset, readPresets } from "./read-presets.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-presets-"));
afterAll(() => rmSync(folder, { recursive: true }));
const files = readdirSync(presetFolder);
const text = (file: string) => readFileSync(join(presetFolder, file), "utf8");

test("every preset can be read by its name, and the error for an unknown name lists the existing ones", () => {
	expect(readPresets()).toHaveLength(13);
	expect(readPreset("base").name).toBe("Base");
	expect(() => readPreset("bse")).toThrow("bse: there is no such preset. These are known: arbitrum, base,");
});

test("no preset uses an address that it refuses, and each preset whose quoter differs from @uniswap/sdk-core's refuses the latter", () => {
	for (const file of files) {
		const { refused = [], ...used } = JSON.parse(text(file)) as { refused?: { address: string }[] };
		for (const { address } of refused) expect(JSON.stringify(used), file).not.toContain(`"${address}"`);
	}
	const quoters = ["ethereum", "optimism", "polygon", "arbitrum", "unichain"].map((slug) =>
		JSON.parse(text(`${slug}.json`)).refused.some(({ because }: { because: string }) =>
			because.includes("@uniswap/sdk-core"),
		),
	);
	expect(quoters).toEqual(quoters.map(() => true));
});

test("a changed digit in an address with letters is detected by its checksum in nearly every case", () => {
	const addresses = files.flatMap((file) =>
		[...text(file).matchAll(/"(?:value|address)": "(0x[0-9a-fA-F]{40})"/g)].map((match) => ({
			file,
			address: match[1] ?? "",
		})),
	);
	const tried = { noticed: 0, all: 0 };
	fc.assert(
		fc.property(
			fc.constantFrom(...addresses.filter(({ address }) => (address.match(/[a-fA-F]/g) ?? []).length > 8)),
			fc.integer({ min: 2, max: 41 }),
			fc.constantFrom(..."0123456789abcdef"),
			({ file, address }, at, digit) => {
				fc.pre(address[at]?.toLowerCase() !== digit);
				const wrong = address.slice(0, at) + digit + address.slice(at + 1);
				const changed = JSON.parse(text(file).replaceAll(address, wrong));
				tried.all++;
				if (!presetSchema.safeParse(changed).success) tried.noticed++;
			},
		),
		{ numRuns: 60 },
	);
	// A checksum of 9 letters or more misses a change in at most one of 512 cases. The chain is queried as well.
	expect(tried.all - tried.noticed).toBeLessThan(3);
});

test.each<[string, (json: string) => string, string]>([
	[
		"a value without a source",
		(json) => json.replace('"sources": ["unica", "monarch", "lz"]', '"sources": []'),
		"has a value but no source",
	],
	[
		"a value with one source that is not marked",
		(json) => json.replace('"oneSource": true', '"note": "x"'),
		"must be marked oneSource",
	],
	[
		"a source that is not explained",
		(json) => json.replace('"viem": "npm', '"other": "npm'),
		"sources.viem: is used but not explained",
	],
	[
		"an address in lower case",
		(json) => json.replace(/0xC02aaA39\w+/, (address) => address.toLowerCase()),
		"its checksum is wrong",
	],
	[
		"a key that is not known",
		(json) => json.replace('"testnet"', '"x": 1, "testnet"'),
		'Unrecognized key: "x"',
	],
])("a preset with %s is refused", (_, change, problem) => {
	const changed = change(text("ethereum.json"));
	expect(changed).not.toBe(text("ethereum.json"));
	writeFileSync(join(folder, "ethereum.json"), changed);
	expect(() => readPreset("ethereum", folder)).toThrow(problem);
});
