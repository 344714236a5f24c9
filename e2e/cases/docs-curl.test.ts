import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { sharedEnvironment } from "../shared-environment.ts";

/** The error code of each command on a service that did not issue the tokens and the swap of the example. */
const elsewhere: Record<string, string> = {
	"/swap/build-geo-op": "INVALID_TOKEN",
	"/swap/build-solana-tx": "INVALID_TOKEN",
	"/swap/submit": "INVALID_TOKEN",
	"/swap/submit-solana": "INVALID_TOKEN",
	"/swap/status/swp": "SWAP_NOT_FOUND",
	"/swaps/swp/receipt": "SWAP_NOT_FOUND",
	"/swaps/swp/events": "SWAP_NOT_FOUND",
	"/swaps/swp/share": "SWAP_NOT_FOUND",
	"/s/Yk3xwT9vQmZ2r0aLc8NfUe1B": "NOT_FOUND",
	"/s/Yk3xwT9vQmZ2r0aLc8NfUe1B/events": "NOT_FOUND",
	"/s/Yk3xwT9vQmZ2r0aLc8NfUe1B/receipt": "NOT_FOUND",
	"/webhooks/wh": "NOT_FOUND",
	"/webhooks/wh/rotate": "NOT_FOUND",
};

const environment = sharedEnvironment();
let variables: Record<string, string>;
beforeAll(async () => {
	const { apiKey } = await environment.newClient();
	// The names are those of `pnpm wallet`.
	variables = { GEOSWAP_URL: environment.baseUrl, GEOSWAP_API_KEY: apiKey };
});

async function commandsOf(path: string): Promise<string[]> {
	const html = await (await fetch(environment.baseUrl + path)).text();
	return [...html.matchAll(/<code>(curl .*?)<\/code>/gs)].map(([, text = ""]) =>
		text
			.replaceAll(/<[^>]+>/g, "")
			.replaceAll("&quot;", '"')
			.replaceAll("&#39;", "'")
			.replaceAll("&lt;", "<")
			.replaceAll("&gt;", ">")
			.replaceAll("&amp;", "&"),
	);
}

test("every curl command of the docs runs unchanged with what `pnpm wallet` exports [D-beyond-8]", async () => {
	const commands = await commandsOf("/docs");
	expect(commands.length).toBeGreaterThan(15);
	const wallet = readFileSync(join(import.meta.dirname, "../demo/wallet.ts"), "utf8");
	for (const name of Object.keys(variables)) expect(wallet).toContain(`${name}: stack.`);
	const run = async (command: string) => {
		const path = /\$GEOSWAP_URL([^"?]*)/.exec(command)?.[1] ?? "";
		const expected = elsewhere[path.replace(/\/(swp|wh)_[^/]*/, "/$1")];
		const run = promisify(execFile)("bash", ["-euo", "pipefail", "-c", command], {
			env: { PATH: process.env.PATH, ...variables },
			// A stream ends only when its caller does.
			...(path === "/events" && { timeout: 3_000 }),
		});
		if (path === "/events") {
			await expect(run, command).rejects.toMatchObject({
				killed: true,
				stdout: expect.not.stringContaining('"code"'),
			});
			return;
		}
		const { stdout } = await run;
		if (/\.(md|txt)$/.test(path)) {
			expect(stdout, command).toMatch(/^(---\nname: geoswap\n|# |Page: \/SKILL\.md\n)/);
			return;
		}
		if (/^\/(docs.*)?$/.test(path)) {
			expect(stdout, command).toContain("<!doctype html>");
			return;
		}
		const { code } = JSON.parse(stdout) as { code?: string };
		expect(code, `${command}\n${stdout}`).toBe(expected);
	};
	await Promise.all(commands.map(run));
	const root = await fetch(environment.baseUrl);
	expect([root.status, await root.text()]).toEqual([200, expect.stringContaining('url=/docs"')]);
});
