import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import {
	makeEvmBuild,
	makeSolanaBuild,
	makeStatus,
	pending,
	pins,
	recipient,
	refusal,
	startFakeService,
	swapId,
} from "../../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../../test/run-cli.ts";

const service = await startFakeService();
afterAll(() => service.close());
const terms = [
	"swap",
	"--from",
	"31337:USDC",
	"--to",
	"31338:USDC",
	"--recipient",
	recipient,
	"--slippage-bps",
	"50",
];
let env: Record<string, string | undefined>;

beforeEach(async () => {
	service.reset();
	const home = makeHome();
	env = home.env;
	const rpc = `31337=${service.baseUrl}/rpc`;
	await runCli(initArgs(service.baseUrl, home.deployment, "--rpc", rpc), { env });
});

async function json(args: string[], interrupt?: AbortSignal) {
	const { exit, stdout, stderr } = await runCli([...args, "--json"], {
		env,
		...(interrupt && { interrupt }),
	});
	return { exit, stderr, body: JSON.parse(stdout) };
}
/** Leaves a signed intent, for which it is not known whether the service accepted it. */
async function interruptSubmit(id: string, ...options: string[]): Promise<void> {
	const controller = new AbortController();
	service.handlers["/swap/submit"] = () => {
		setTimeout(() => controller.abort(), 20);
		return "hold";
	};
	const args = [...terms, "--amount", "10", "--id", id, ...options];
	expect(await json(args, controller.signal)).toMatchObject({ exit: 5 });
	service.reset();
}

/** Sets the time from which no chain executes what was signed. */
function setDeadAt(id: string, deadAt: Date): void {
	const path = join(env.GEOSWAP_HOME ?? "", "swaps", `${id}.json`);
	const record = JSON.parse(readFileSync(path, "utf8"));
	writeFileSync(path, JSON.stringify({ ...record, submission: { ...record.submission, deadAt } }));
}
const paths = (part: string) => service.seen.filter(({ path }) => path.includes(part));

test("a swap that settles leads to exit code 0, and its id is the first line on stderr", async () => {
	const { exit, body, stderr } = await json([...terms, "--amount", "10", "--id", "order-17"]);
	expect({ exit, body }).toMatchObject({
		exit: 0,
		body: { id: "order-17", swap: { swapId, status: "settled" } },
	});
	expect(stderr.startsWith("id         order-17\n")).toBe(true);
	expect(stderr).toContain(pins.chains[0]?.settlementToken);
	expect(stderr).toContain(pins.chains[1]?.settlementToken);
});

test("a swap from Solana that settles leads to exit code 0", async () => {
	const build = await makeSolanaBuild();
	service.handlers["/swap/build-solana-tx"] = () => ({ body: build });
	const { exit, body } = await json([...terms.with(2, "solana:USDC"), "--amount", "10"]);
	expect({ exit, body }).toMatchObject({ exit: 0, body: { swap: { status: "settled" } } });
	expect(paths("/swap/submit-solana")).toHaveLength(1);
});

test("the same id gives the same swap, and the balance of the wallet is not read again", async () => {
	const max = [...terms, "--amount", "max", "--id", "all"];
	expect(await json(max)).toMatchObject({ exit: 0, body: { from: { amount: "10000000" } } });
	service.handlers["/rpc"] = () => {
		throw new Error("must not be asked");
	};
	expect(await json(max)).toMatchObject({
		exit: 0,
		body: { from: { amount: "10000000" }, swap: { swapId } },
	});
	expect(await json(["swap", "--resume", "all"])).toMatchObject({ exit: 0, body: { swap: { swapId } } });
	expect(paths("/swap/submit")).toHaveLength(1);
});

test.each([
	["--amount", "9"],
	["--min-out", "1"],
	["--slippage-bps", "51"],
	["--recipient", "0x00000000000000000000000000000000000000ff"],
	["--to", "31337:USDC"],
])("a known id with another %s is refused, and nothing is sent", async (option, value) => {
	const first = [...terms, "--amount", "10", "--id", "one"];
	await json(first);
	service.seen.length = 0;
	expect(await json([...first, option, value])).toMatchObject({
		exit: 2,
		body: { error: { code: "INTENT_CHANGED" } },
	});
	expect(service.seen).toEqual([]);
});

test("max is refused for an id with an amount, and another amount is refused for an id with max", async () => {
	await json([...terms, "--amount", "9", "--id", "nine"]);
	expect(await json([...terms, "--amount", "max", "--id", "nine"])).toMatchObject({
		exit: 2,
		body: { error: { code: "INTENT_CHANGED", details: { field: "amount", saved: "9000000", asked: "max" } } },
	});
	await json([...terms, "--amount", "max", "--id", "all"]);
	expect(await json([...terms, "--amount", "9", "--id", "all"])).toMatchObject({ exit: 2 });
});

const quoteOf = (output: string, minOutput: string) => {
	const quote = service.handlers["/swap/quote"];
	service.handlers["/swap/quote"] = (request) => {
		const answer = quote?.(request) as { body: object };
		return { body: { ...answer.body, output, minOutput } };
	};
};

test("a swap between stables for less than 97 % is not signed, and the error names the minimum and the options to pass", async () => {
	quoteOf("2", "1");
	const { exit, body } = await json([...terms, "--amount", "10"]);
	expect({ exit, body }).toMatchObject({
		exit: 3,
		body: {
			error: { code: "PRICE_NOT_ACCEPTED", mayExecute: false, details: { quoted: "1", floor: "9700000" } },
		},
	});
	for (const part of ["at least 0.000001 USDC", "9.7 USDC", "--min-out", "--accept-any-price"])
		expect(body.error.message).toContain(part);
	expect(paths("/swap/build")).toEqual([]);
	const shown = await runCli(["quote", ...terms.slice(1), "--amount", "10"], { env });
	expect(shown.stdout).toContain("elsewhere it needs --min-out or --accept-any-price");
});

test("a swap for less than 97 % is signed if an option accepts it, even for an id that was refused before", async () => {
	const order = { minOutput: 9_600_000n };
	quoteOf("9600000", "9600000");
	service.handlers["/swap/build-geo-op"] = () => ({ body: makeEvmBuild(order) });
	expect(await json([...terms, "--amount", "10", "--id", "low"])).toMatchObject({ exit: 3 });
	expect(await json(["swap", "--resume", "low"])).toMatchObject({
		exit: 3,
		body: { error: { code: "PRICE_NOT_ACCEPTED" } },
	});
	expect(await json(["swap", "--resume", "low", "--accept-any-price"])).toMatchObject({ exit: 0 });
	expect(await json([...terms, "--amount", "10", "--min-out", "9.6"])).toMatchObject({ exit: 0 });
	expect(await json([...terms, "--amount", "10", "--accept-any-price"])).toMatchObject({ exit: 0 });
	expect(await json([...terms, "--amount", "10", "--min-out", "9.7", "--accept-any-price"])).toMatchObject({
		exit: 3,
		body: { error: { code: "BELOW_MIN_OUTPUT" } },
	});
});

test.each([
	["the same --id", (...options: string[]) => [...terms, "--amount", "10", "--id", "low", ...options]],
	["--resume", (...options: string[]) => ["swap", "--resume", "low", ...options]],
])(
	"an intent that is not signed and has no minimum accepts --min-out with %s, and keeps it",
	async (_, again) => {
		quoteOf("9600000", "9600000");
		service.handlers["/swap/build-geo-op"] = () => ({ body: makeEvmBuild({ minOutput: 9_600_000n }) });
		expect(await json([...terms, "--amount", "10", "--id", "low"])).toMatchObject({
			exit: 3,
			body: { error: { code: "PRICE_NOT_ACCEPTED" } },
		});
		quoteOf("9500000", "9500000");
		const refused = { exit: 3, body: { error: { code: "BELOW_MIN_OUTPUT" } } };
		expect(await json(again("--min-out", "9.6"))).toMatchObject(refused);
		expect(await json(["swap", "--resume", "low"])).toMatchObject(refused);
		expect(await json(again("--min-out", "9.5"))).toMatchObject({
			exit: 2,
			body: { error: { code: "INTENT_CHANGED", details: { field: "minOutput" } } },
		});
		quoteOf("9600000", "9600000");
		expect(await json(again("--min-out", "9.6"))).toMatchObject({ exit: 0 });
	},
);

test("a call that is refused for its amount does not set the minimum of the intent", async () => {
	quoteOf("9600000", "9600000");
	service.handlers["/swap/build-geo-op"] = () => ({ body: makeEvmBuild({ minOutput: 9_600_000n }) });
	await json([...terms, "--amount", "10", "--id", "low"]);
	expect(await json([...terms, "--amount", "9", "--min-out", "9.9", "--id", "low"])).toMatchObject({
		exit: 2,
		body: { error: { code: "INTENT_CHANGED", details: { field: "amount" } } },
	});
	expect(await json(["swap", "--resume", "low", "--min-out", "9.6"])).toMatchObject({ exit: 0 });
});

test("a signed intent accepts no minimum, and the error has the command to resume it", async () => {
	await interruptSubmit("a");
	const record = { code: "INTENT_CHANGED", mayExecute: true, resume: "geoswap swap --resume a" };
	for (const args of [
		[...terms, "--amount", "10", "--id", "a"],
		["swap", "--resume", "a"],
	]) {
		expect(await json([...args, "--min-out", "9.6"])).toMatchObject({ exit: 5, body: { error: record } });
	}
	expect(await json(["swap", "--resume", "a"])).toMatchObject({ exit: 0 });
});

test("without a terminal, a swap from a volatile token is not signed without a minimum", async () => {
	const sol = [...terms.with(2, "solana:SOL"), "--amount", "1"];
	const { exit, body } = await json(sol);
	expect({ exit, body }).toMatchObject({
		exit: 3,
		body: { error: { code: "PRICE_NOT_ACCEPTED", message: expect.stringContaining("--min-out") } },
	});
	expect(paths("/swap/build")).toEqual([]);
});

test("an intent cannot be resumed with another wallet", async () => {
	service.handlers["/swap/quote"] = () => refusal(422, "INSUFFICIENT_BALANCE", "fund_wallet");
	expect(await json([...terms, "--amount", "10", "--id", "mine"])).toMatchObject({ exit: 3 });
	service.reset();
	env = { ...env, GEOSWAP_EVM_KEY: `0x${"22".repeat(32)}` };
	expect(await json(["swap", "--resume", "mine"])).toMatchObject({
		exit: 2,
		body: { error: { code: "INTENT_CHANGED", details: { field: "walletAddress" } } },
	});
	expect(service.seen).toEqual([]);
});

test.each<[string, string, string[], Record<string, string>]>([
	[
		"ABOVE_MAX_SPEND",
		"a lower --max-spend",
		[...terms, "--amount", "10", "--max-spend", "5", "--id", "a"],
		{},
	],
	["INTENT_CHANGED", "another amount", [...terms, "--amount", "9", "--id", "a"], {}],
	[
		"INTENT_CHANGED",
		"another wallet",
		["swap", "--resume", "a"],
		{ GEOSWAP_EVM_KEY: `0x${"22".repeat(32)}` },
	],
	["NO_KEY", "no API key", ["swap", "--resume", "a"], { GEOSWAP_API_KEY: "" }],
	[
		"INVALID_KEY",
		"an invalid wallet key",
		[...terms, "--amount", "10", "--id", "a"],
		{ GEOSWAP_EVM_KEY: "no" },
	],
	["USAGE", "an extra option", ["swap", "--resume", "a", "--amount", "1"], {}],
])(
	"for a signed id, %s for %s leads to exit code 5, and the error has the command to resume it",
	async (code, _, args, variables) => {
		await interruptSubmit("a");
		env = { ...env, ...variables };
		expect(await json(args)).toMatchObject({
			exit: 5,
			body: {
				error: {
					code,
					mayExecute: true,
					id: "a",
					swapId,
					resume: "geoswap swap --resume a",
					next: expect.stringMatching(/^(resume|check_key)$/),
				},
			},
		});
		expect(service.seen).toEqual([]);
	},
);

test.each(["config.json", "deployment.json"])(
	"for a signed id, a damaged %s leads to exit code 5, and the error has the command to resume it",
	async (file) => {
		await interruptSubmit("a");
		writeFileSync(join(env.GEOSWAP_HOME ?? "", file), "{}");
		for (const args of [
			[...terms, "--amount", "10", "--id", "a"],
			["swap", "--resume", "a"],
			["status", "a"],
			["status", swapId],
		]) {
			expect(await json(args)).toMatchObject({
				exit: 5,
				body: {
					error: {
						code: "INVALID_CONFIG",
						mayExecute: true,
						id: "a",
						swapId,
						resume: "geoswap swap --resume a",
					},
				},
			});
		}
		expect(await json([...terms, "--amount", "10", "--id", "new"])).toMatchObject({ exit: 2 });
	},
);

test("without a configuration, swap and status exit with 2 and create no folder", async () => {
	const { env: bare, home, deployment } = makeHome();
	for (const GEOSWAP_HOME of [home, join(deployment, "no-folder")]) {
		env = { ...bare, GEOSWAP_HOME };
		for (const args of [
			[...terms, "--amount", "10"],
			["swap", "--resume", "a"],
			["status", "a"],
		]) {
			expect(await json(args)).toMatchObject({ exit: 2 });
		}
		expect(existsSync(GEOSWAP_HOME)).toBe(false);
	}
});

test("a lower --max-spend for the id of a settled swap returns that swap", async () => {
	const args = [...terms, "--amount", "10", "--id", "done"];
	await json(args);
	expect(await json([...args, "--max-spend", "5"])).toMatchObject({
		exit: 0,
		body: { swap: { status: "settled" } },
	});
});

test("a resumed swap whose op has expired keeps its minimum and refuses a lower quote", async () => {
	await interruptSubmit("low", "--min-out", "9.9");
	setDeadAt("low", new Date(Date.now() - 1_000));
	const quote = service.handlers["/swap/quote"];
	service.handlers["/swap/quote"] = (request) => {
		const answer = quote?.(request) as { body: object };
		return { body: { ...answer.body, output: "9000000", minOutput: "8955000" } };
	};
	service.handlers["/swap/submit"] = () => refusal(410, "OP_EXPIRED", "requote");
	for (const _ of ["once", "and again"]) {
		expect(await json(["swap", "--resume", "low"])).toMatchObject({
			exit: 3,
			body: { error: { code: "BELOW_MIN_OUTPUT", mayExecute: false, id: "low" } },
		});
	}
});

test("while a signed op expires, swap prints the time of its expiry, and Ctrl-C leads to exit code 5", async () => {
	await interruptSubmit("dying");
	const until = new Date(Date.now() + 60_000);
	setDeadAt("dying", until);
	const controller = new AbortController();
	service.handlers["/swap/submit"] = () => {
		setTimeout(() => controller.abort(), 200);
		return refusal(410, "OP_EXPIRED", "requote");
	};
	const { exit, body, stderr } = await json(["swap", "--resume", "dying"], controller.signal);
	expect({ exit, body }).toMatchObject({
		exit: 5,
		body: { error: { code: "INTERRUPTED", mayExecute: true } },
	});
	expect(stderr).toContain(`at ${until.toISOString()}\n`);
});

test("a temporary refusal is printed with its code, without the advice to quote again", async () => {
	const controller = new AbortController();
	service.handlers["/swap/submit"] = () => {
		setTimeout(() => controller.abort(), 200);
		return refusal(409, "QUOTE_EXPIRED", "requote");
	};
	const { exit, stderr } = await json([...terms, "--amount", "10"], controller.signal);
	expect(exit).toBe(5);
	expect(stderr).toMatch(/not accepted yet \(QUOTE_EXPIRED\), retrying until /);
	expect(stderr).not.toContain("Do requote");
});

test("swap reports that it is still waiting when the service stops responding", async () => {
	service.handlers["/swap/submit"] = () => "hold";
	const { exit, stderr } = await json([...terms, "--amount", "10"], AbortSignal.timeout(6_500));
	expect(exit).toBe(5);
	expect(stderr).toContain(`still waiting for news from ${service.baseUrl}`);
}, 15_000);

test("a swap that is refunded or failed leads to exit code 4 with its reason once no chain can execute the op, and Ctrl-C before that leads to exit code 5", async () => {
	const failure = { code: "PRICE_MOVED", message: "The price moved." } as const;
	for (const status of ["refunded", "failed"] as const) {
		await interruptSubmit(status);
		const until = new Date(Date.now() + 60_000);
		setDeadAt(status, until);
		const controller = new AbortController();
		service.handlers["/swap/status"] = () => {
			setTimeout(() => controller.abort(), 200);
			return { body: makeStatus({ status, failure }) };
		};
		const early = await json(["swap", "--resume", status], controller.signal);
		expect(early).toMatchObject({ exit: 5, body: { error: { code: "INTERRUPTED", mayExecute: true } } });
		expect(early.stderr).toContain(`at ${until.toISOString()}\n`);
		setDeadAt(status, new Date(Date.now() - 1_000));
		expect(await json(["swap", "--resume", status])).toMatchObject({
			exit: 4,
			body: { swap: { status, failure } },
		});
	}
});

test("Ctrl-C while the swap is pending leads to exit code 5 with the command to resume it, and status still finds the swap", async () => {
	const controller = new AbortController();
	service.handlers["/swap/status"] = () => {
		setTimeout(() => controller.abort(), 50);
		return { body: pending };
	};
	const { exit, body } = await json([...terms, "--amount", "10", "--id", "left"], controller.signal);
	expect({ exit, body }).toMatchObject({
		exit: 5,
		body: {
			error: {
				code: "INTERRUPTED",
				next: "resume",
				mayExecute: true,
				id: "left",
				swapId,
				resume: "geoswap swap --resume left",
			},
		},
	});
	const others = [{}, { ...makeStatus(), status: "lost" }, { ...makeStatus(), swapId: "swp_other" }];
	for (const body of [pending, ...others]) {
		service.handlers["/swap/status"] = () => ({ body });
		expect(await json(["history", "--unfinished"])).toMatchObject({
			body: { unfinished: [{ id: "left", swapId, resume: "geoswap swap --resume left" }] },
		});
	}
	service.reset();
	expect(await json(["status", swapId])).toMatchObject({ exit: 0 });
	expect(await json(["status", "left"])).toMatchObject({ exit: 0, body: { id: "left", swap: { swapId } } });
	expect(await json(["history", "--unfinished"])).toMatchObject({ body: { unfinished: [] } });
});

test("Ctrl-C before anything is signed leads to exit code 3, and the swap is not submitted", async () => {
	const controller = new AbortController();
	service.handlers["/swap/quote"] = () => {
		setTimeout(() => controller.abort(), 50);
		return "hold";
	};
	expect(await json([...terms, "--amount", "10", "--id", "early"], controller.signal)).toMatchObject({
		exit: 3,
		body: { error: { code: "INTERRUPTED", mayExecute: false } },
	});
	expect(await json(["status", "early"])).toMatchObject({
		exit: 3,
		body: { error: { code: "NOT_SUBMITTED" } },
	});
});

test("Ctrl-C after a delegation was signed leads to exit code 3, and the error mentions the delegation", async () => {
	const controller = new AbortController();
	const [chain] = pins.chains;
	service.handlers["/swap/delegation"] = () => ({
		body: {
			delegated: false,
			originReady: false,
			delegationTarget: chain?.contracts.delegate,
			accountNonce: 0,
		},
	});
	service.handlers["/swap/build-geo-op"] = ({ body }) => {
		if (!("authorization" in body)) return refusal(409, "NEEDS_DELEGATION", "reauthorize");
		setTimeout(() => controller.abort(), 50);
		return "hold";
	};
	expect(await json([...terms, "--amount", "10", "--id", "first"], controller.signal)).toMatchObject({
		exit: 3,
		body: {
			error: {
				code: "INTERRUPTED",
				mayExecute: false,
				message: expect.stringContaining("delegation to the pinned contract"),
			},
		},
	});
});

test("after a signature, an error with malformed fields leads to exit code 5", async () => {
	service.handlers["/swap/submit"] = () => ({
		status: 401,
		body: { code: "UNAUTHORIZED", message: { a: 1 }, next: "toString", retryable: false, requestId: 5 },
	});
	expect(await json([...terms, "--amount", "10", "--id", "odd"])).toMatchObject({
		exit: 5,
		body: { error: { code: "UNAUTHORIZED", mayExecute: true, resume: "geoswap swap --resume odd" } },
	});
});

test("Ctrl-C during the submit leads to exit code 5, and the swap can be resumed by its id", async () => {
	const controller = new AbortController();
	service.handlers["/swap/submit"] = () => {
		setTimeout(() => controller.abort(), 50);
		return "hold";
	};
	expect(await json([...terms, "--amount", "10", "--id", "half way"], controller.signal)).toMatchObject({
		exit: 5,
		body: { error: { mayExecute: true, resume: "geoswap swap --resume 'half way'" } },
	});
	service.handlers["/swap/status"] = () => refusal(404, "SWAP_NOT_FOUND", "fix_request");
	expect(await json(["status", "half way"])).toMatchObject({
		exit: 5,
		body: { error: { code: "SWAP_NOT_FOUND", mayExecute: true, id: "half way" } },
	});
	service.reset();
	expect(await json(["swap", "--resume", "half way"])).toMatchObject({ exit: 0, body: { swap: { swapId } } });
});

test("a dry run verifies the build and submits nothing", async () => {
	service.seen.length = 0;
	expect(await json([...terms, "--amount", "10", "--dry-run"])).toMatchObject({
		exit: 0,
		body: { dryRun: true, verified: true, quote: { swapId } },
	});
	expect(service.seen.map(({ path }) => path)).toEqual(["/swap/quote", "/swap/build-geo-op"]);
	const build = service.handlers["/swap/build-geo-op"];
	service.handlers["/swap/build-geo-op"] = (request) => {
		const answer = build?.(request) as { body: { geoOp: object } };
		return { body: { ...answer.body, geoOp: { ...answer.body.geoOp, delegate: recipient } } };
	};
	expect(await json([...terms, "--amount", "10", "--dry-run"])).toMatchObject({
		exit: 3,
		body: { error: { code: "VERIFICATION_FAILED" } },
	});
});

test("a dry run of a wallet's first swap names the delegation and does not send one", async () => {
	const [chain] = pins.chains;
	service.handlers["/swap/build-geo-op"] = () => refusal(409, "NEEDS_DELEGATION", "reauthorize");
	service.handlers["/swap/delegation"] = () => ({
		body: {
			delegated: false,
			originReady: false,
			delegationTarget: chain?.contracts.delegate,
			accountNonce: 0,
		},
	});
	expect(await json([...terms, "--amount", "10", "--dry-run"])).toMatchObject({
		exit: 0,
		body: {
			dryRun: true,
			verified: false,
			why: expect.stringContaining("needs a delegation"),
			delegation: { chainId: 31337, delegate: chain?.contracts.delegate },
			quote: { swapId },
		},
	});
	const { stdout } = await runCli([...terms, "--amount", "10", "--dry-run"], { env });
	expect(stdout).toContain("at least 9.9301 USDC");
	expect(stdout).toContain(`would sign first a delegation to ${chain?.contracts.delegate}, as pinned`);
	expect(service.seen.some(({ body }) => body.includes("authorization"))).toBe(false);
});

/** Responds like a service whose wallet is not delegated, or is delegated to the account that accepts both forms. */
function serveTypedOnly({ isDelegated }: { isDelegated: boolean }): { address: string }[] {
	const { delegate, typedDelegate } = pins.chains[0]?.contracts ?? {};
	const authorizations: { address: string }[] = [];
	service.handlers["/swap/delegation"] = () => ({
		body: {
			delegated: isDelegated,
			originReady: isDelegated,
			accountNonce: 0,
			...(isDelegated
				? { delegatedTo: delegate }
				: { delegationTarget: delegate, typedDelegationTarget: typedDelegate }),
		},
	});
	service.handlers["/swap/build-geo-op"] = ({ body }) => {
		const authorization = body.authorization as { address: string } | undefined;
		if (authorization) authorizations.push(authorization);
		if (!authorization && !isDelegated) return refusal(409, "NEEDS_DELEGATION", "reauthorize");
		const build = makeEvmBuild();
		return { body: { ...build, geoOp: { ...build.geoOp, delegate: authorization?.address ?? delegate } } };
	};
	return authorizations;
}

test.each([{ isDelegated: false }, { isDelegated: true }])(
	"--typed-only delegates the wallet to the account for typed data only: $isDelegated",
	async (state) => {
		const typedDelegate = pins.chains[0]?.contracts.typedDelegate;
		const authorizations = serveTypedOnly(state);
		const dry = await json([...terms, "--amount", "10", "--typed-only", "--dry-run"]);
		expect(dry).toMatchObject({
			exit: 0,
			body: { verified: state.isDelegated, delegation: { delegate: typedDelegate } },
		});
		expect(authorizations).toEqual([]);
		expect(await json([...terms, "--amount", "10", "--typed-only"])).toMatchObject({ exit: 0 });
		expect(authorizations).toMatchObject([{ address: typedDelegate }]);
	},
);

test("without --typed-only a wallet is delegated to the account that accepts both forms", async () => {
	const authorizations = serveTypedOnly({ isDelegated: false });
	expect(await json([...terms, "--amount", "10"])).toMatchObject({ exit: 0 });
	expect(authorizations).toMatchObject([{ address: pins.chains[0]?.contracts.delegate }]);
});

test("--typed-only holds for a resumed intent, and is refused for another one and for Solana", async () => {
	const first = [...terms, "--amount", "10", "--id", "typed"];
	service.handlers["/swap/quote"] = () => refusal(503, "NO_ROUTE", "fix_request");
	expect(await json([...first, "--typed-only"])).toMatchObject({ exit: 3 });
	service.reset();
	expect(await json(first)).toMatchObject({ exit: 2, body: { error: { code: "INTENT_CHANGED" } } });
	const authorizations = serveTypedOnly({ isDelegated: true });
	expect(await json(["swap", "--resume", "typed"])).toMatchObject({ exit: 0 });
	expect(authorizations).toMatchObject([{ address: pins.chains[0]?.contracts.typedDelegate }]);
	expect(await json([...terms.with(2, "solana:USDC"), "--amount", "10", "--typed-only"])).toMatchObject({
		exit: 2,
		body: { error: { code: "USAGE" } },
	});
});

test("an intent cannot be resumed at another service", async () => {
	await json([...terms, "--amount", "10", "--id", "moved"]);
	await runCli(["init", "--base-url", "https://other.example"], { env });
	expect(await json(["swap", "--resume", "moved"])).toMatchObject({
		exit: 2,
		body: { error: { code: "INTENT_CHANGED" } },
	});
});

test("the output of a swap contains no key", async () => {
	const { stdout, stderr } = await runCli([...terms, "--amount", "10", "--json"], {
		env: { ...env, GEOSWAP_DEBUG: "1" },
	});
	for (const secret of ["11".repeat(32), "key-1", "17,17"]) expect(stdout + stderr).not.toContain(secret);
});
