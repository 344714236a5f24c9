import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { format } from "node:util";
import { Command } from "commander";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { createApiKeys } from "../../api/key/api-keys.ts";
import { runProgram } from "../run-program.ts";
import { defineAccountsCommands, defineKeysCommands } from "./define-keys-commands.ts";

// Some commands run as separate processes, beside any other load.
vi.setConfig({ testTimeout: 60_000 });

const pepper = "p".repeat(32);
const limits = {
	rates: { quote: 20, build: 10, submit: 10, delegation: 10, status: 20, list: 10 },
	heldStatusCalls: 50,
};
const folder = mkdtempSync(join(tmpdir(), "geoswap-keys-"));
let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "owner" });
});
afterAll(async () => {
	rmSync(folder, { recursive: true });
	await database.drop();
});

type Outcome = { code: number; stdout: string; stderr: string };
const environment = () => ({ DATABASE_URL: database.url, GEOSWAP_API_KEY_PEPPER: pepper });

/** Runs a command like an operator. */
function runProcess(args: string[], { input = "" } = {}): Promise<Outcome> {
	return new Promise((resolve) => {
		const main = join(import.meta.dirname, "../../main.ts");
		const { PATH, NODE_COMPILE_CACHE } = process.env;
		const env = { PATH, NODE_COMPILE_CACHE, ...environment() };
		const child = execFile(process.execPath, [main, ...args], { env }, (_, stdout, stderr) =>
			resolve({ code: child.exitCode ?? -1, stdout, stderr }),
		);
		child.stdin?.end(input);
	});
}
/**
 * Does the same in this process, in a fraction of the time. Only one may run at a time, because they share the
 * output.
 */
async function run(args: string[], { env = {} as Record<string, string> } = {}): Promise<Outcome> {
	const stdout: string[] = [];
	const stderr: string[] = [];
	const writeOut = (text: string) => void stdout.push(text);
	const writeErr = (text: string) => void stderr.push(text);
	const program = new Command("geoswapd").exitOverride().configureOutput({ writeOut, writeErr });
	defineAccountsCommands(program);
	defineKeysCommands(program);
	for (const [name, value] of Object.entries({ ...environment(), ...env })) vi.stubEnv(name, value);
	const spies = [
		vi.spyOn(console, "log").mockImplementation((...words) => writeOut(`${format(...words)}\n`)),
		vi.spyOn(console, "error").mockImplementation((...words) => writeErr(`${format(...words)}\n`)),
	];
	try {
		const code = await runProgram(program, args);
		return { code: code ?? Number(process.exitCode ?? 0), stdout: stdout.join(""), stderr: stderr.join("") };
	} finally {
		process.exitCode = undefined;
		for (const spy of spies) spy.mockRestore();
		vi.unstubAllEnvs();
	}
}
/** Returns what a command prints as JSON. */
async function ask(...args: string[]) {
	const { code, stdout, stderr } = await run([...args, "--json"]);
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	return JSON.parse(stdout);
}
/** Authenticates a key like a process with an empty cache, by a clock that is this much ahead. */
async function authenticate(
	key: string,
	{ aheadMs = 0, maxUsdPerDay }: { aheadMs?: number; maxUsdPerDay?: number } = {},
) {
	const apiKeys = createApiKeys({
		db: database.pool,
		pepper,
		limits: { ...limits, maxUsdPerDay },
		nowMs: () => Date.now() + aheadMs,
	});
	try {
		return await apiKeys.authenticate(key).catch((error) => error.code);
	} finally {
		await apiKeys.close();
	}
}

test("a key is shown once, works with its limits until it expires, and is listed without its secret", async () => {
	const made = await runProcess([
		...["keys", "create", "--account", "an agent", "--rate", "quote=100", "build=0.5"],
		...["--held", "7", "--expires", "3d"],
	]);
	expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("not shown again") });
	const key = made.stdout.trim();
	expect(key).toMatch(/^geosk_[0-9a-z]{12}_[0-9a-z]{47}$/);
	const own = { rates: { ...limits.rates, quote: 100, build: 0.5 }, heldStatusCalls: 7 };
	expect(await authenticate(key)).toMatchObject({ limits: own });
	const days = 86_400_000;
	expect(await authenticate(key, { aheadMs: 3 * days })).toBe("UNAUTHORIZED");

	const listed = await ask("keys", "list", "--account", "an agent");
	expect(listed).toMatchObject([{ accountName: "an agent", state: "expiring", id: key.slice(6, 18) }]);
	expect(new Date(listed[0].lastUsedAt).getTime()).toBeGreaterThan(Date.now() - 60_000);
	const { stdout } = await run(["keys", "list"]);
	expect(stdout).toMatch(/an agent +expiring {2}created .*, used .*, expires /);
	for (const shown of [stdout, JSON.stringify(listed)]) {
		expect(shown).not.toContain(key.slice(19));
		expect(shown).not.toContain("hash");
	}
});

test("one command can create many keys of one account", async () => {
	const keys = await ask("keys", "create", "--account", "many", "--count", "50");
	expect(new Set(keys.map(({ apiKey }: { apiKey: string }) => apiKey)).size).toBe(50);
	expect(new Set(keys.map(({ accountId }: { accountId: string }) => accountId)).size).toBe(1);
	expect(await authenticate(keys[49].apiKey)).toMatchObject({ keyId: keys[49].keyId });
	const accounts = await ask("accounts", "list");
	expect(accounts.find(({ name }: { name: string }) => name === "many")).toMatchObject({ validKeys: 50 });
});

test("an account can be created only once, and later keys under its name belong to it", async () => {
	const { accountId } = await ask("accounts", "create", "once only");
	const again = await run(["accounts", "create", "once only"]);
	expect(again).toMatchObject({ code: 2, stdout: "" });
	expect(again.stderr).toContain('the account "once only" already exists; give it a key with');
	expect(await ask("keys", "create", "--account", "once only")).toMatchObject({ accountId });
	expect((await run(["accounts", "list"])).stdout).toMatch(/once only +created .* 1 valid key\n/);
});

test("a rotated key and its successor both work during the overlap with the same limits, and then only the new one", async () => {
	const old = await ask("keys", "create", "--account", "rotating", "--rate", "quote=3");
	const next = await ask("keys", "rotate", old.keyId, "--overlap", "1h");
	expect(next).toMatchObject({ accountId: old.accountId, replaced: { keyId: old.keyId } });
	const own = { accountId: old.accountId, limits: { rates: { quote: 3 } } };
	expect(await authenticate(old.apiKey)).toMatchObject({ ...own, keyId: old.keyId });
	expect(await authenticate(next.apiKey)).toMatchObject({ ...own, keyId: next.keyId });
	expect(await authenticate(old.apiKey, { aheadMs: 3_600_000 })).toBe("UNAUTHORIZED");
	expect(await authenticate(next.apiKey, { aheadMs: 3_600_000 })).toMatchObject(own);

	const twice = await run(["keys", "rotate", old.keyId]);
	expect(twice).toMatchObject({ code: 2, stdout: "" });
	expect(twice.stderr).toContain(`was already replaced by ${next.keyId}`);
	expect((await run(["keys", "list", "--account", "rotating"])).stdout).toContain(
		`replaced by ${next.keyId}`,
	);
});

test("rotating a key that expires requires the new key's expiry, and never extends the old key", async () => {
	const old = await ask("keys", "create", "--account", "ending", "--expires", "1h");
	const asked = await run(["keys", "rotate", old.keyId, "--overlap", "2h"]);
	expect(asked).toMatchObject({ code: 2, stdout: "" });
	expect(asked.stderr).toContain("set the expiry of the new key with --expires, as 90d, or never");
	const next = await ask("keys", "rotate", old.keyId, "--overlap", "2h", "--expires", "never");
	expect(next.replaced.expiresAt).toBe(old.expiresAt);
	expect(next.expiresAt).toBeUndefined();
});

test("a key is revoked permanently, by its id or by the key itself, and a second revocation changes nothing", async () => {
	const { apiKey, keyId } = await ask("keys", "create", "--account", "revoking");
	const revoked = await run(["keys", "revoke", apiKey]);
	expect(revoked).toMatchObject({ code: 0, stdout: expect.stringContaining(`${keyId} is revoked`) });
	expect(await authenticate(apiKey)).toBe("UNAUTHORIZED");
	const again = await run(["keys", "revoke", keyId]);
	expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("was already revoked") });
	for (const [verb, ...options] of [["limits", "--held", "1"], ["expire", "--never"], ["rotate"]]) {
		const { code, stderr } = await run(["keys", verb ?? "", keyId, ...options]);
		expect(code).toBe(2);
		expect(stderr).toContain("create a key with geoswapd keys create");
	}
	expect(await ask("keys", "history", "--key", keyId)).toHaveLength(2);
});

test("limits can be changed one by one and reset to the defaults", async () => {
	const { apiKey, keyId } = await ask("keys", "create", "--account", "limited", "--rate", "quote=5");
	const change = (...args: string[]) => ask("keys", "limits", keyId, ...args);
	expect(await change("--rate", "status=1", "--held", "2")).toEqual({
		keyId,
		limits: { rates: { quote: 5, status: 1 }, heldStatusCalls: 2 },
	});
	expect(await authenticate(apiKey)).toMatchObject({
		limits: { rates: { ...limits.rates, quote: 5, status: 1 }, heldStatusCalls: 2 },
	});
	for (const [given, stored, limit] of [
		["50000.5", 50_000.5, 50_000.5],
		["0", 0, 0],
		["none", null, undefined],
	] as const) {
		expect(await change("--max-usd-per-day", given)).toMatchObject({ limits: { maxUsdPerDay: stored } });
		const caller = await authenticate(apiKey, { maxUsdPerDay: 7 });
		expect(caller.limits.maxUsdPerDay).toBe(limit);
	}
	await change("--max-usd-per-day", "default");
	expect(await authenticate(apiKey, { maxUsdPerDay: 7 })).toMatchObject({ limits: { maxUsdPerDay: 7 } });
	await change("--rate", "quote=default", "status=default");
	expect(await change("--held", "default")).toEqual({ keyId, limits: {} });
	expect(await authenticate(apiKey)).toMatchObject({ limits });
});

test("an expiry can be set, moved and removed", async () => {
	const { apiKey, keyId } = await ask("keys", "create", "--account", "expiring");
	await ask("keys", "expire", keyId, "--at", "2099-01-31");
	expect(await ask("keys", "list", "--account", "expiring")).toMatchObject([
		{ state: "valid", expiresAt: "2099-01-31T00:00:00.000Z" },
	]);
	await ask("keys", "expire", keyId, "--in", "1s");
	const listed = async () => (await run(["keys", "list", "--account", "expiring"])).stdout;
	await expect.poll(listed, { timeout: 10_000 }).toMatch(/ expired .*, expired /);
	expect(await authenticate(apiKey)).toBe("UNAUTHORIZED");
	expect(await ask("keys", "expire", keyId, "--never")).toEqual({ keyId, expiresAt: null });
	expect(await authenticate(apiKey)).toMatchObject({ keyId });
});

test("the history names the actor of each change, also of manual ones", async () => {
	const { keyId } = await ask("keys", "create", "--account", "watched", "--actor", "Ada");
	await ask("keys", "limits", keyId, "--rate", "quote=9");
	await database.pool.query("update api_keys set revoked_at = now() where id = $1", [keyId]);
	const changes = await ask("keys", "history", "--account", "watched");
	const { rows } = await database.pool.query("select session_user as user");
	expect(changes.map(({ change, actor }: Record<string, string>) => [change, actor])).toEqual([
		["account-created", "Ada"],
		["created", "Ada"],
		["limits", userInfo().username],
		["revoked", rows[0].user],
	]);
	const { stdout } = await run(["keys", "history", "--key", keyId, "--limit", "2"]);
	expect(stdout.split("\n")).toEqual([
		expect.stringMatching(/Z {2}limits .* by .*: limits {} -> {"rates":{"quote":9}}$/),
		expect.stringMatching(/Z {2}revoked .*: revoked_at 20\d\d-.*$/),
		"",
	]);
});

test("a scan distinguishes keys from lookalikes, reports their state and account, and shows no secret", async () => {
	const [valid, revoked] = await ask("keys", "create", "--account", "leaky", "--count", "2");
	await ask("keys", "revoke", revoked.keyId);
	const looksLike = `${valid.apiKey.slice(0, -1)}${valid.apiKey.endsWith("0") ? "1" : "0"}`;
	const dump = join(folder, "dump.txt");
	writeFileSync(dump, `x\n"${revoked.apiKey}"\n${looksLike}`);
	const clean = join(folder, "clean.bin");
	writeFileSync(clean, Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251)));

	const found = await runProcess(["keys", "scan", dump, "-"], { input: `\n\nkey=${valid.apiKey}&x=1` });
	expect(found.code).toBe(1);
	expect(found.stdout.split("\n")).toEqual([
		`${dump}:2: ${revoked.keyId}  revoked, of leaky`,
		`${dump}:3: ${valid.keyId}  not a key`,
		`stdin:3: ${valid.keyId}  valid, of leaky; revoke it with: geoswapd keys revoke ${valid.keyId}`,
		"",
	]);
	const harmless = await run(["keys", "scan", dump, "--json"]);
	const none = await run(["keys", "scan", clean]);
	const unchecked = await run(["keys", "scan", dump], { env: { DATABASE_URL: "" } });
	const unreachable = { DATABASE_URL: "postgres://user:word@127.0.0.1:9/x" };
	const unasked = await run(["keys", "scan", dump], { env: unreachable });
	const nowhere = join(folder, "nowhere");
	const missing = await run(["keys", "scan", nowhere]);
	const leaked = join(folder, "leaked.txt");
	writeFileSync(leaked, valid.apiKey);
	const partly = await run(["keys", "scan", nowhere, leaked, folder]);
	expect(harmless.code).toBe(0);
	expect(JSON.parse(harmless.stdout)).toEqual([
		{ file: dump, line: 2, keyId: revoked.keyId, verdict: "revoked", account: "leaky" },
		{ file: dump, line: 3, keyId: valid.keyId, verdict: "not a key" },
	]);
	expect(none).toMatchObject({ code: 0, stdout: "no text has the form of a key\n" });
	// Without a database to query, a key could be valid.
	expect(unchecked).toMatchObject({ code: 1, stderr: expect.stringContaining("to find out which") });
	expect(unchecked.stdout).toContain(`${revoked.keyId}  unchecked`);
	expect(unasked).toMatchObject({ code: 3, stdout: "" });
	// An unreadable file does not stop the others from being scanned, and does not count as clean.
	expect(missing).toMatchObject({
		code: 3,
		stdout: "",
		stderr: expect.stringContaining(`${nowhere}: ENOENT`),
	});
	expect(partly).toMatchObject({ code: 1, stderr: expect.stringContaining(`${folder}: EISDIR`) });
	expect(partly.stderr).toContain(`${nowhere}: ENOENT`);
	expect(partly.stdout).toContain(`${leaked}:1: ${valid.keyId}  valid`);
	for (const { stdout, stderr } of [found, harmless, unchecked, unasked, partly]) {
		expect(stdout + stderr).not.toContain(valid.apiKey.slice(19, 40));
		expect(stdout + stderr).not.toContain(revoked.apiKey.slice(19, 40));
	}
});

test("an invalid option is refused with its expected form, and changes nothing", async () => {
	const id = "0123456789ab";
	const wrong: [string[], string][] = [
		[["keys", "create", "--account", " a"], "--account: must be 1 to 64 printable characters"],
		[["keys", "create", "--account", "a", "--held", "0"], '--held: "0" is not a number of held calls'],
		[["keys", "create", "--account", "a", "--expires", "90"], '"90" is not a duration; write a number and'],
		[["keys", "create", "--account", "a", "--expires", "2020-01-01"], "2020-01-01 is in the past"],
		[["keys", "create", "--account", "a", "--expires", "0s"], "to end a key now, use geoswapd keys revoke"],
		[["keys", "create", "--account", "a", "--count", "0"], "write 1 to 10000"],
		[["keys", "create", "--account", "a", "--actor", "\n"], "--actor: must be"],
		[["keys", "list", "--account", "nobody"], 'no account is named "nobody"; see geoswapd accounts list'],
		[["keys", "rotate", id, "--overlap", "soon"], '"soon" is not a duration'],
		[["keys", "revoke", "x"], "must be the 12 letters and digits between the underscores"],
		[["keys", "revoke", id], `no key has the id ${id}; see geoswapd keys list`],
		[["keys", "limits", id], "name a limit to change"],
		[["keys", "limits", id, "--max-usd-per-day", "-1"], '"-1" is not an amount of US dollars'],
		[["keys", "expire", id, "--in", "1d", "--never"], "pass one of --at 2027-01-31, --in 90d or --never"],
		[["keys", "expire", id, "--in", "0d"], "to end a key now, use geoswapd keys revoke"],
		[["keys", "history", "--limit", "all"], "write 1 to 999999"],
	];
	const before = await database.pool.query("select count(*) from key_changes");
	for (const [args, sentence] of wrong) {
		const { code, stdout, stderr } = await run(args);
		expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: "" });
		expect(stderr).toContain(sentence);
		expect(stderr).not.toContain("    at ");
	}
	const revoking = ["keys", "revoke", id];
	expect(await runProcess(revoking)).toEqual(await run(revoking));
	const after = await database.pool.query("select count(*) from key_changes");
	expect(after.rows).toEqual(before.rows);
});

test("every command shows its usage", async () => {
	const verbs = ["create", "list", "rotate", "revoke", "limits", "expire", "history", "scan"];
	const asked = [...verbs.map((verb) => ["keys", verb]), ["accounts", "create"], ["accounts", "list"]];
	for (const args of asked) {
		const { code, stdout } = await run([...args, "--help"]);
		expect({ args, code }).toEqual({ args, code: 0 });
		expect(stdout).toContain(`Usage: geoswapd ${args.join(" ")}`);
		expect(stdout).toContain("--json");
	}
	const { code, stdout } = await runProcess(["keys", "--help"]);
	expect(code).toBe(0);
	for (const verb of verbs) expect(stdout).toContain(`\n  ${verb} `);
});

test("a process that has a key in use refuses it within two seconds after a command revokes it", async () => {
	const { apiKey, keyId } = await ask("keys", "create", "--account", "in use");
	const apiKeys = createApiKeys({ db: database.pool, pepper, limits });
	onTestFinished(() => apiKeys.close());
	await apiKeys.authenticate(apiKey);
	expect(await runProcess(["keys", "revoke", keyId])).toMatchObject({ code: 0 });
	const revokedAtMs = Date.now();
	let lastAcceptedMs = 0;
	const isRefused = async () => {
		const startedAtMs = Date.now();
		const account = await apiKeys.authenticate(apiKey).catch(() => undefined);
		if (account) lastAcceptedMs = startedAtMs;
		return account === undefined;
	};
	await expect.poll(isRefused, { timeout: 10_000, interval: 20 }).toBe(true);
	expect(lastAcceptedMs).toBeLessThan(revokedAtMs + 2_000);
});
