import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { pending, pins, recipient, refusal, startFakeService, swapId } from "../test/fake-service.ts";
import { initArgs, makeHome, type Result, runCli } from "../test/run-cli.ts";
import { exitCodeHelp } from "./exit-code.ts";

const service = await startFakeService();
afterAll(() => service.close());
const { env, home, deployment } = makeHome();
await runCli(initArgs(service.baseUrl, deployment, "--rpc", `31337=${service.baseUrl}/rpc`), { env });
beforeEach(() => service.reset());

const terms = ["--from", "31337:USDC", "--to", "31338:USDC", "--amount", "10", "--recipient", recipient];
const usdc = pins.chains[0]?.settlementToken;

/** Runs with --json, and returns the one document on stdout. */
async function json(
	...args: string[]
): Promise<{ exit: number; body: Record<string, never>; stderr: string }> {
	const { exit, stdout, stderr }: Result = await runCli([...args, "--json"], { env });
	return { exit, stderr, body: JSON.parse(stdout) };
}

test("quote prints the price and every resolved address, and not the sealed token", async () => {
	const { exit, body } = await json("quote", ...terms, "--slippage-bps", "50");
	expect(exit).toBe(0);
	expect(body).toMatchObject({
		from: { chainId: 31337, symbol: "USDC", token: usdc, amount: "10000000" },
		to: { chainId: 31338, symbol: "USDC", token: pins.chains[1]?.settlementToken },
		quote: { output: "9980000", minOutput: "9930100", swapId },
	});
	expect(JSON.stringify(body)).not.toContain("sealed-quote");
	expect(service.seen.map(({ path, apiKey }) => [path, apiKey])).toEqual([["/swap/quote", "key-1"]]);
});

test("quote with max requests a quote for the whole balance of the wallet", async () => {
	const { exit } = await json("quote", ...terms.with(5, "max"));
	expect(exit).toBe(0);
	const asked = service.seen.find(({ path }) => path === "/swap/quote");
	expect(JSON.parse(asked?.body ?? "")).toMatchObject({ amount: "10000000" });
});

test("chains, tokens, delegation, history and balance each answer with one JSON document", async () => {
	expect(await json("chains")).toMatchObject({
		exit: 0,
		body: {
			chains: [
				{ chainId: 31337, differs: [], hasRpc: true },
				{ chainId: 31338, hasRpc: false },
			],
		},
	});
	expect(await json("tokens")).toMatchObject({
		exit: 0,
		body: { tokens: [{ symbol: "USDC", address: usdc }, {}] },
	});
	expect(await json("delegation", "31337")).toMatchObject({
		exit: 0,
		body: { ready: true, delegate: pins.chains[0]?.contracts.delegate, typedOnly: false },
	});
	expect(await json("delegation", "solana")).toMatchObject({ exit: 0, body: { ready: true, needed: false } });
	expect(await json("history")).toMatchObject({ exit: 0, body: { swaps: [{ swapId, status: "settled" }] } });
	expect(await json("history", "--unfinished")).toMatchObject({ exit: 0, body: { unfinished: [] } });
	expect(await json("balance", "31337")).toMatchObject({
		exit: 0,
		body: { chains: [{ chainId: 31337, balances: [{ symbol: "USDC", amount: "10000000", shown: "10" }] }] },
	});
});

test("chains shows both delegates of each EVM chain, and one that differs from the file", async () => {
	const [chain] = pins.chains;
	const { stdout } = await runCli(["chains"], { env });
	expect(stdout).toContain(`delegate ${chain?.contracts.delegate}\n`);
	expect(stdout).toContain(`delegate for typed data only ${chain?.contracts.typedDelegate}\n`);
	const chains = service.handlers["/chains"];
	service.handlers["/chains"] = (request) => {
		const answer = chains?.(request) as { body: { chains: { contracts: object }[] } };
		const [first] = answer.body.chains;
		return { body: { chains: [{ ...first, contracts: { ...first?.contracts, typedDelegate: usdc } }] } };
	};
	expect((await json("chains")).body).toMatchObject({
		chains: [{ differs: [`typedDelegate is ${usdc}, not ${chain?.contracts.typedDelegate}`] }],
	});
});

test("delegation shows whether the wallet accepts typed data only, and whether its delegate is an earlier one", async () => {
	const [chain] = pins.chains;
	const { delegate, typedDelegate, earlierDelegates } = chain?.contracts ?? {};
	const answer = (body: object) => {
		service.handlers["/swap/delegation"] = () => ({ body });
	};
	answer({ delegated: true, originReady: true, delegatedTo: typedDelegate });
	expect(await json("delegation", "31337")).toMatchObject({
		exit: 0,
		body: { ready: true, delegate: typedDelegate, typedOnly: true },
	});
	answer({
		delegated: true,
		originReady: false,
		delegatedTo: earlierDelegates?.[0],
		delegationTarget: delegate,
		accountNonce: 0,
	});
	expect(await json("delegation", "31337")).toMatchObject({ exit: 0, body: { ready: false, delegate } });
	const { stdout } = await runCli(["delegation", "31337"], { env });
	expect(stdout).toContain("its next swap from Chain 31337 signs another delegation");
});

test("balance reports each chain without an endpoint, and the balances on the others", async () => {
	expect((await json("balance")).body).toMatchObject({
		chains: [
			{ balances: [{ shown: "10" }] },
			{ problem: { code: "NO_RPC" } },
			{ problem: { code: "NO_RPC" } },
		],
	});
	expect(await json("balance", "31338")).toMatchObject({ exit: 2, body: { error: { code: "NO_RPC" } } });
});

test("an endpoint of another chain is refused, and errors do not show the key in its URL", async () => {
	const withKey = `${service.baseUrl}/rpc?key=hidden`;
	const other = await json("init", "--rpc", `31338=${withKey}`);
	expect(other).toMatchObject({ exit: 2, body: { error: { code: "RPC_UNAVAILABLE" } } });
	const rpc = service.handlers["/rpc"];
	service.handlers["/rpc"] = () => ({ status: 500, body: {} });
	expect(await json("init", "--rpc", `31338=${withKey}`)).toMatchObject({ exit: 0 });
	const broken = await json("balance", "31338");
	expect(broken).toMatchObject({ exit: 3, body: { error: { code: "RPC_UNAVAILABLE", retryable: true } } });
	// The node that answers again is that of another chain.
	if (rpc) service.handlers["/rpc"] = rpc;
	const answering = await json("balance", "31338");
	expect(answering).toMatchObject({ exit: 2, body: { error: { code: "RPC_UNAVAILABLE" } } });
	expect(JSON.stringify([other, broken, answering])).not.toContain("hidden");
});

test("status exits with 0 for settled, 4 for refunded or failed, and 5 for pending", async () => {
	expect(await json("status", swapId)).toMatchObject({ exit: 0, body: { swap: { status: "settled" } } });
	for (const status of ["refunded", "failed"] as const) {
		service.handlers["/swap/status"] = () => ({ body: { ...pending, status } });
		expect(await json("status", swapId)).toMatchObject({ exit: 4, body: { swap: { status } } });
	}
	service.handlers["/swap/status"] = () => ({ body: pending });
	expect(await json("status", swapId, "--no-wait")).toMatchObject({
		exit: 5,
		body: { swap: { status: "pending" } },
	});
});

test("differences between the service and the deployment file are reported", async () => {
	const original = service.handlers["/tokens"];
	service.handlers["/tokens"] = (request) => {
		const answer = original?.(request) as { body: { tokens: object[] } };
		return {
			body: {
				tokens: [
					{ ...answer.body.tokens[0], decimals: 18 },
					{ ...answer.body.tokens[1], address: usdc },
				],
			},
		};
	};
	const { body } = await json("tokens");
	expect(body).toMatchObject({
		tokens: [{ differs: expect.stringContaining("6 decimals") }, { differs: "not in the deployment file" }],
	});
	service.handlers["/swap/delegation"] = () => ({
		body: { delegated: false, originReady: false, delegationTarget: usdc, accountNonce: 0 },
	});
	expect(await json("delegation", "31337")).toMatchObject({
		exit: 3,
		body: { error: { code: "VERIFICATION_FAILED" } },
	});
});

test.each([
	[["quote"], "USAGE"],
	[["swap", "--from", "31337:USDC"], "USAGE"],
	[["nonsense"], "USAGE"],
	[["quote", "--unknown"], "USAGE"],
	[["status"], "USAGE"],
	[["chains", "excess"], "USAGE"],
	[["history", "--limit", "1000"], "USAGE"],
	[["history", "--status", "lost"], "USAGE"],
	[["quote", ...terms, "--slippage-bps", "0"], "USAGE"],
	[["quote", ...terms, "--top-up-usd", "a dollar"], "USAGE"],
	[["quote", ...terms, "--top-up-usd", "1", "--top-up", "1"], "USAGE"],
	[["quote", ...terms, "--top-up", "1"], "USAGE"],
	[["swap", ...terms, "--id", swapId], "USAGE"],
	[["swap", "--resume", "x", "--amount", "1"], "USAGE"],
	[["swap", "--resume", "nobody"], "UNKNOWN_ID"],
	[["status", "nobody"], "UNKNOWN_ID"],
	[["status", "swp_nobody"], "UNKNOWN_ID"],
	[["quote", ...terms.with(1, "base:USDC")], "UNKNOWN_CHAIN"],
	[["quote", ...terms.with(1, "31337:USDT")], "UNKNOWN_TOKEN"],
	[["quote", ...terms.with(5, "1.0000001")], "INVALID_AMOUNT"],
	[["quote", ...terms.with(7, "0xabc")], "INVALID_ADDRESS"],
])("%j is wrong input with exit code 2, and the service is not called", async (args, code) => {
	const { exit, body } = await json(...args);
	expect({ exit, body }).toMatchObject({
		exit: 2,
		body: { error: { code, message: expect.any(String), next: "fix_request", retryable: false } },
	});
	expect(body.error).toHaveProperty("docs", expect.stringMatching(`^${service.baseUrl}/docs/cli\\.md`));
	expect(service.seen).toEqual([]);
});

test("a refusal of the service leads to exit code 3, with the fields of its error", async () => {
	service.handlers["/swap/quote"] = () => refusal(422, "NEEDS_LARGER_SIZE", "fix_request");
	expect(await json("quote", ...terms)).toMatchObject({
		exit: 3,
		body: {
			error: {
				code: "NEEDS_LARGER_SIZE",
				next: "fix_request",
				retryable: false,
				requestId: "req-1",
				docs: `${service.baseUrl}/docs/errors/NEEDS_LARGER_SIZE`,
			},
		},
	});
});

test("--max-spend and --min-out are enforced before anything is built, with exit code 3", async () => {
	for (const command of [["quote"], ["swap"], ["swap", "--dry-run"]]) {
		expect(await json(...command, ...terms, "--max-spend", "9.999999")).toMatchObject({
			exit: 3,
			body: { error: { code: "ABOVE_MAX_SPEND" } },
		});
		expect(await json(...command, ...terms, "--min-out", "9.930101")).toMatchObject({
			exit: 3,
			body: { error: { code: "BELOW_MIN_OUTPUT", message: expect.stringContaining("9.9301 USDC") } },
		});
	}
	expect(service.seen.filter(({ path }) => /build|submit/.test(path))).toEqual([]);
});

test("a missing configuration and a missing key lead to exit code 2", async () => {
	const bare = makeHome();
	const noConfig = await runCli(["chains", "--json"], { env: bare.env });
	expect(noConfig.exit).toBe(2);
	expect(JSON.parse(noConfig.stdout).error.code).toBe("NOT_CONFIGURED");
	const noKey = await runCli(["chains", "--json"], { env: { ...env, GEOSWAP_API_KEY: "" } });
	expect(noKey.exit).toBe(2);
	expect(JSON.parse(noKey.stdout).error).toMatchObject({ code: "NO_KEY", next: "check_key" });
});

test("an unexpected error leads to exit code 1 with a JSON document", async () => {
	service.handlers["/chains"] = () => ({ body: { chains: "none" } });
	expect(await json("chains")).toMatchObject({ exit: 1, body: { error: { code: "UNEXPECTED" } } });
});

test("help exits with 0, lists the exit codes and fits 80 columns", async () => {
	for (const args of [["--help"], ["swap", "--help"], ["init", "--help"], ["status", "--help"]]) {
		const { exit, stdout, stderr } = await runCli(args, { env: {} });
		expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
		for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
	}
	expect((await runCli(["--help"], { env: {} })).stdout).toContain(exitCodeHelp);
	expect(JSON.parse((await runCli(["--help", "--json"], { env: {} })).stdout).help).toContain(exitCodeHelp);
});

test("without a command the help is printed, with exit code 0", async () => {
	const help = await runCli(["--help"], { env: {} });
	expect(await runCli([], { env: {} })).toEqual(help);
	expect(JSON.parse((await runCli(["--json"], { env: {} })).stdout)).toEqual({ help: help.stdout });
});

test("control characters in a message of the service do not reach the terminal", async () => {
	service.handlers["/swap/quote"] = () => ({
		status: 422,
		body: { code: "NO_ROUTE", message: "no\u001b[2J\u202eway", next: "fix_request", requestId: "r" },
	});
	const { stderr } = await runCli(["quote", ...terms], { env });
	expect(stderr).toContain("no\\u001b[2J\\u202eway");
});

test("GEOSWAP_DEBUG prints no control characters either", async () => {
	service.handlers["/chains"] = () => ({
		status: 422,
		body: { code: "NO_ROUTE", message: "no\u001b[2J\u0007way", next: "fix_request", requestId: "r" },
	});
	const { stderr } = await runCli(["chains"], { env: { ...env, GEOSWAP_DEBUG: "1" } });
	expect(stderr).toMatch(/\n {4}at /);
	expect(stderr).not.toContain("\u001b");
	expect(stderr).not.toContain("\u0007");
});

test("an error of the service with unusual fields does not change the exit code", async () => {
	service.handlers["/chains"] = () => ({
		status: 401,
		body: { code: "UNAUTHORIZED", message: "no", next: "constructor", requestId: 5 },
	});
	const { exit, stderr } = await runCli(["chains"], { env });
	expect(exit).toBe(3);
	expect(stderr).toContain("next       constructor\n");
});

test.each([
	[["quote", ...terms], "/swap/quote"],
	[["swap", ...terms, "--dry-run"], "/swap/quote"],
	[["swap", ...terms.with(5, "max"), "--id", "slow-node"], "/rpc"],
	[["chains"], "/chains"],
	[["tokens"], "/tokens"],
	[["history"], "/swaps"],
	[["delegation", "31337"], "/swap/delegation"],
	[["balance", "31337"], "/rpc"],
])("Ctrl-C ends %j with exit code 3 and one JSON document", async (args, path) => {
	const controller = new AbortController();
	service.handlers[path] = () => {
		setTimeout(() => controller.abort(), 20);
		return "hold";
	};
	const { exit, stdout } = await runCli([...args, "--json"], { env, interrupt: controller.signal });
	expect(exit).toBe(3);
	expect(JSON.parse(stdout)).toMatchObject({ error: { code: "INTERRUPTED", retryable: true } });
});

test("Ctrl-C while the result is printed adds no second document and does not change the exit code", async () => {
	for (const args of [["history"], ["swap", ...terms, "--dry-run"]]) {
		const controller = new AbortController();
		const onStdout = async () => {
			controller.abort();
			await new Promise((resolve) => setTimeout(resolve, 50));
		};
		const { exit, stdout } = await runCli([...args, "--json"], {
			env,
			interrupt: controller.signal,
			onStdout,
		});
		expect(exit).toBe(0);
		expect(JSON.parse(stdout)).not.toHaveProperty("error");
	}
});

test("a response that arrives after Ctrl-C is not printed, and the error is the only document", async () => {
	const controller = new AbortController();
	service.handlers["/chains"] = () => {
		controller.abort();
		return { body: { chains: [] } };
	};
	const { exit, stdout } = await runCli(["chains", "--json"], {
		env,
		interrupt: controller.signal,
		onStdout: () => new Promise((resolve) => setTimeout(resolve, 200)),
	});
	expect(exit).toBe(3);
	expect(JSON.parse(stdout)).toMatchObject({ error: { code: "INTERRUPTED" } });
});

test("a damaged intent file is reported, and history still works", async () => {
	const path = join(home, "intents", "damaged.json");
	for (const text of ["", "{}", '{"version":1}']) {
		writeFileSync(path, text);
		expect(await json("history")).toMatchObject({ exit: 0, body: { swaps: [{ swapId }] } });
		expect(await json("history", "--unfinished")).toMatchObject({
			exit: 0,
			body: { unfinished: [], unreadable: [path] },
		});
		expect((await runCli(["history", "--unfinished"], { env })).stdout).toContain(path);
	}
	rmSync(path);
});
