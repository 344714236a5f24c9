import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openInBrowser } from "./open-in-browser.ts";

const url = "https://swaps.example/s/a?b=c&d=$(e)";

test.each([
	["linux", "xdg-open", url],
	["darwin", "open", url],
	["win32", "rundll32", `url.dll,FileProtocolHandler ${url}`],
] as const)(
	"on %s the system's own program gets the address as one argument, without a shell",
	async (platform, program, args) => {
		const folder = mkdtempSync(join(tmpdir(), "geoswap-open-"));
		const written = join(folder, "written");
		writeFileSync(
			join(folder, program),
			`#!/bin/sh\nprintf '%s' "$*" > ${written}.tmp; mv ${written}.tmp ${written}\n`,
		);
		chmodSync(join(folder, program), 0o755);
		const env = { PATH: `${folder}:${process.env.PATH}`, DISPLAY: ":0" };
		expect(await openInBrowser(url, { platform, env })).toBe(true);
		await expect.poll(() => readFileSync(written, "utf8")).toBe(args);
	},
);

test("a system without a screen, without the program, or of another kind opens nothing", async () => {
	const PATH = "/nowhere";
	expect(await openInBrowser(url, { platform: "linux", env: { PATH: process.env.PATH } })).toBe(false);
	expect(await openInBrowser(url, { platform: "linux", env: { PATH, DISPLAY: ":0" } })).toBe(false);
	expect(await openInBrowser(url, { platform: "aix", env: { PATH } })).toBe(false);
});
