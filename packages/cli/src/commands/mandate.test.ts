import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeEach, expect, test } from "vitest";
import { recipient, startFakeService } from "../../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../../test/run-cli.ts";

const service = await startFakeService();
afterAll(() => service.close());
const agentKey = generatePrivateKey();
const agent = privateKeyToAccount(agentKey).address;
let env: Record<string, string | undefined>;
let file: string;

beforeEach(async () => {
	service.reset();
	const home = makeHome();
	env = home.env;
	file = join(dirname(home.deployment), "agent.json");
	await runCli(initArgs(service.baseUrl, home.deployment), { env });
});

const limits = [
	"--chain",
	"31337",
	"--agent",
	agent,
	"--cap",
	"100:USDC",
	"--period",
	"1d",
	"--expires",
	"30d",
];
const create = (...others: string[]) =>
	runCli(["mandate", "create", ...limits, "--out", file, ...others], { env });
const errorOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout).error;

test("create signs the mandate of the options into a file that only the owner can read, and show reports it as valid", async () => {
	const created = await create("--to", "31338:USDC", "--recipient", `31338:${recipient}`);
	expect(created).toMatchObject({ exit: 0 });
	expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
		chainId: 31337,
		agent,
		epoch: 0,
		period: 86_400,
		inputs: [{ maxAmount: "100000000" }],
		outputs: [{ chainId: 31338 }],
		recipients: [expect.stringContaining(recipient.slice(2).toLowerCase())],
	});
	const shown = await runCli(["mandate", "show", file], { env });
	expect(shown.exit).toBe(0);
	expect(shown.stdout).toContain("100 USDC immediately, and again every 86400 s");
	expect(shown.stdout).toContain(recipient);
	expect(shown.stdout).toMatch(/good +as far as can be determined/);
	expect(service.seen).toEqual([]);
});

test("show names the problem of a mandate that was changed, or is for other contracts", async () => {
	await create();
	const mandate = JSON.parse(readFileSync(file, "utf8"));
	const problemsOf = async (change: object) => {
		writeFileSync(file, JSON.stringify({ ...mandate, ...change }));
		const { stdout } = await runCli(["mandate", "show", file, "--json"], { env });
		return JSON.parse(stdout).problems;
	};
	expect(await problemsOf({})).toEqual([]);
	expect(await problemsOf({ period: 60 })).toEqual(["its signature is not the wallet's"]);
	expect(await problemsOf({ originVault: recipient })).toEqual([
		"its signature is not the wallet's",
		"it is for other contracts or attesters than the deployment file's",
	]);
	expect(await problemsOf({ outputs: [{ chainId: 31338, token: `0x${"ab".repeat(32)}` }] })).toHaveLength(1);
	expect(await problemsOf({ expiry: 1 })).toEqual(["its signature is not the wallet's", "it has expired"]);
});

test("options and files that cannot be read are refused before anything is signed", async () => {
	const wrong: [string[], string][] = [
		[["mandate", "create", ...limits.with(5, "100"), "--out", file], "USAGE"],
		[["mandate", "create", ...limits.with(5, "0:USDC"), "--out", file], "INVALID_AMOUNT"],
		[["mandate", "create", ...limits.with(7, "1 day"), "--out", file], "USAGE"],
		[["mandate", "create", ...limits.with(3, "0x12"), "--out", file], "INVALID_ADDRESS"],
		[["mandate", "create", ...limits.with(1, "solana"), "--out", file], "USAGE"],
		[["mandate", "create", ...limits.with(7, "999999999d"), "--out", file], "USAGE"],
		[["mandate", "create", ...limits, "--out", "/nowhere/mandate.json"], "USAGE"],
		[["mandate", "create", ...limits, "--cap", "1:USDC", "--out", file], "USAGE"],
		[["mandate", "show", "/nowhere/mandate.json"], "INVALID_MANDATE_FILE"],
		[["mandate", "revoke", "31337"], "NO_RPC"],
	];
	for (const [args, code] of wrong) {
		const answer = await runCli([...args, "--json"], { env });
		expect([answer.exit, errorOf(answer).code], args.join(" ")).toEqual([2, code]);
	}
});

test("swap --mandate sends the mandate with the quote, and refuses a key that is not the agent's", async () => {
	await create();
	const terms = [
		"swap",
		"--from",
		"31337:USDC",
		"--to",
		"31338:USDC",
		"--amount",
		"10",
		"--mandate",
		file,
		"--json",
	];
	expect(errorOf(await runCli(terms, { env }))).toMatchObject({ code: "INVALID_KEY" });
	const answer = await runCli(terms, { env: { ...env, GEOSWAP_EVM_KEY: agentKey } });
	const mandate = JSON.parse(readFileSync(file, "utf8"));
	const [quote] = service.seen.filter(({ path }) => path === "/swap/quote");
	service.seen.length = 0;
	await runCli([...terms, "--dry-run"], { env: { ...env, GEOSWAP_EVM_KEY: agentKey } });
	const [dryQuote] = service.seen.filter(({ path }) => path === "/swap/quote");
	expect(JSON.parse(dryQuote?.body ?? "{}")).toMatchObject({ mandate });
	expect(JSON.parse(quote?.body ?? "{}"), answer.stdout).toMatchObject({
		walletAddress: mandate.wallet,
		mandate,
	});
});
