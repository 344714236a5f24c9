import { execFileSync } from "node:child_process";
import { afterAll, beforeEach, expect, test } from "vitest";
import { pending, recipient, startFakeService } from "../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../test/run-cli.ts";

// Every text in the service's responses has sequences that a terminal or a shell interprets.

const service = await startFakeService();
afterAll(() => service.close());
const { env, deployment } = makeHome();
await runCli(initArgs(service.baseUrl, deployment), { env });
beforeEach(() => service.reset());

const hostile =
	"\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\r\n\u2028'; touch hacked; $(touch hacked) `id` #";
const terms = ["--from", "31337:USDC", "--to", "31338:USDC", "--amount", "10", "--recipient", recipient];

/** Appends the hostile text to every text of the response, except for those that are compared before they are shown. */
function poisoned(value: unknown, kept: readonly string[]): unknown {
	// Amounts are parsed, so they have no place for a text.
	if (typeof value === "string")
		return kept.includes(value) || /^\d+$/.test(value) ? value : `${value}${hostile}`;
	if (Array.isArray(value)) return value.map((item) => poisoned(item, kept));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, poisoned(item, kept)]));
}

function poison(path: string, ...kept: string[]): void {
	const handler = service.handlers[path];
	service.handlers[path] = (request) => {
		const answer = handler?.(request);
		if (answer === undefined || answer === "hold") throw new Error(`no answer at ${path}`);
		return { ...answer, body: poisoned(answer.body, kept) };
	};
}

const { swapId } = pending;
test.each<[string, string[], string, string[]]>([
	["chains", ["chains"], "/chains", []],
	["tokens", ["tokens"], "/tokens", []],
	["history", ["history"], "/swaps", []],
	["a delegation", ["delegation", "31337"], "/swap/delegation", []],
	["a status", ["status", swapId, "--no-wait"], "/swap/status", [swapId, "settled"]],
	["a quote", ["quote", ...terms], "/swap/quote", []],
	["a swap", ["swap", ...terms, "--slippage-bps", "50"], "/swap/quote", []],
])("control characters in the service's texts are not printed: %s", async (_, args, path, kept) => {
	poison(path, ...kept);
	for (const form of [[], ["--json"]]) {
		const { stdout, stderr } = await runCli([...args, ...form], { env });
		expect((stdout + stderr).replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
		expect(stdout + stderr).toContain("touch hacked");
	}
});

test("control characters in the service's errors are not printed", async () => {
	const body = { code: hostile, message: hostile, next: hostile, requestId: hostile, retryable: false };
	service.handlers["/chains"] = () => ({ status: 422, body });
	for (const form of [[], ["--json"]]) {
		const { stdout, stderr } = await runCli(["chains", ...form], { env: { ...env, GEOSWAP_DEBUG: "1" } });
		expect((stdout + stderr).replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
	}
});

test("the printed command for the next page can be pasted into a shell safely", async () => {
	const nextCursor = `--unfinished'; touch hacked; $(touch hacked) '${"x".repeat(200)}; touch hacked`;
	service.handlers["/swaps"] = () => ({ body: { swaps: [], nextCursor } });
	const { stdout } = await runCli(["history", "--limit", "5", "--status", "settled"], { env });
	const [, command = ""] = /^more +(geoswap .*)$/m.exec(stdout) ?? [];
	const script = `geoswap() { printf '%s\\0' "$@"; }; ${command}`;
	const read = execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
	expect(read).toEqual(["history", "--limit", "5", "--status", "settled", `--cursor=${nextCursor}`]);
});
