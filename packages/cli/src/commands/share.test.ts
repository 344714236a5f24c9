import { afterAll, beforeEach, expect, test } from "vitest";
import { recipient, refusal, startFakeService, swapId } from "../../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../../test/run-cli.ts";

const service = await startFakeService();
afterAll(() => service.close());
const path = `/swaps/${swapId}/share`;
const token = "Yk3xwT9vQmZ2r0aLc8NfUe1B";
const url = `https://swaps.example/s/${token}`;
let env: Record<string, string | undefined>;

beforeEach(async () => {
	service.reset();
	service.handlers[path] = () => ({ body: { swapId, url, token } });
	const home = makeHome();
	env = home.env;
	await runCli(initArgs(service.baseUrl, home.deployment), { env });
});

const terms = ["--from", "31337:USDC", "--to", "31338:USDC", "--recipient", recipient];
const swapArgs = ["swap", ...terms, "--amount", "10", "--slippage-bps", "50"];

test("share prints only the link, and --revoke prints how many links were revoked", async () => {
	expect(await runCli(["share", swapId], { env })).toEqual({ exit: 0, stdout: `${url}\n`, stderr: "" });
	service.handlers[path] = () => ({ body: { swapId, revoked: 2 } });
	const revoked = await runCli(["share", swapId, "--revoke"], { env });
	expect(revoked).toMatchObject({ exit: 0, stdout: "2 links revoked; none shows this swap any more\n" });
	expect(service.seen.map(({ method, path: asked, body }) => [method, asked, body])).toEqual([
		["POST", path, "{}"],
		["DELETE", path, ""],
	]);
});

test("a response that is not a web address is refused, and never opened", async () => {
	for (const wrong of ["javascript:alert(1)", "file:///etc/passwd", "x", "", undefined]) {
		service.handlers[path] = () => ({ body: { swapId, url: wrong, token } });
		const opened: string[] = [];
		const openUrl = async (address: string) => opened.push(address) > 0;
		const { exit, stdout } = await runCli(["share", swapId, "--json"], { env, openUrl });
		expect([exit, JSON.parse(stdout).error.code]).toEqual([3, "UNEXPECTED_RESPONSE"]);
		const swapped = await runCli([...swapArgs, "--open", "--json"], { env, openUrl });
		expect(JSON.parse(swapped.stdout)).not.toHaveProperty("page");
		expect([swapped.exit, opened]).toEqual([0, []]);
	}
});

test("swap --open opens the page once the swap is submitted, and --json has its address", async () => {
	const opened: string[] = [];
	const openUrl = async (address: string) => opened.push(address) > 0;
	const { exit, stdout } = await runCli([...swapArgs, "--open", "--json"], { env, openUrl });
	expect([exit, JSON.parse(stdout).page, opened]).toEqual([0, url, [url]]);
	const asked = service.seen.map((request) => request.path);
	expect(asked.indexOf(path)).toBeGreaterThan(asked.indexOf("/swap/submit"));
});

test("without a browser the address is printed, and without a page the swap continues", async () => {
	const { exit, stderr } = await runCli([...swapArgs, "--open"], { env });
	expect(exit).toBe(0);
	expect(stderr).toContain(`page       ${url}\n           no browser could be opened`);
	service.handlers[path] = () => refusal(500, "INTERNAL", "contact_operator");
	const without = await runCli([...swapArgs, "--open"], { env });
	expect(without.exit).toBe(0);
	expect(without.stderr).toContain("page       there is none: INTERNAL happened.");
});
