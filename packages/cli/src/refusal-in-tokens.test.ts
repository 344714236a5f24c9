import { afterAll, beforeEach, expect, test } from "vitest";
import { pins, recipient, refusal, startFakeService } from "../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../test/run-cli.ts";

const service = await startFakeService();
afterAll(() => service.close());
const terms = ["--from", "31337:USDC", "--to", "31338:USDC", "--recipient", recipient];
let env: Record<string, string | undefined>;

beforeEach(async () => {
	service.reset();
	const home = makeHome();
	env = home.env;
	await runCli(initArgs(service.baseUrl, home.deployment), { env });
});

async function json(...args: string[]) {
	const { exit, stdout } = await runCli([...args, "--json"], { env });
	return { exit, ...JSON.parse(stdout) };
}

function refuse(code: string, next: string, details: object): void {
	service.handlers["/swap/quote"] = () => {
		const { status = 422, body } = refusal(422, code, next);
		return { status, body: { ...(body as object), details } };
	};
}

test.each([
	["NEEDS_LARGER_SIZE", { minimumAmount: "1250000" }, "Swap at least 1.25 USDC."],
	["NO_ROUTE", { reason: "capacity", maximumAmount: "250000000000" }, "Swap at most 250000 USDC."],
	["OUTSIDE_MANDATE", { reason: "amount", maximumAmount: "500000" }, "The mandate allows at most 0.5 USDC."],
	["MANDATE_EXCEEDED", { available: "1", required: "10000000" }, "Swap at most 0.000001 USDC"],
	[
		"INSUFFICIENT_BALANCE",
		{ balance: "7500000", required: "10000000" },
		"The wallet holds 7.5 USDC, and the swap takes 10 USDC.",
	],
	[
		"INVALID_REQUEST",
		{ issues: [{ path: "recipient", message: "is a token or a contract of this service" }] },
		"The service refuses --recipient (is a token or a contract of this service).",
	],
])(
	"for %s, quote, swap and its dry run name the amount in whole tokens, or the option at fault",
	async (code, details, text) => {
		refuse(code, "fix_request", details);
		for (const command of [["quote"], ["swap"], ["swap", "--dry-run"]]) {
			const { error } = await json(...command, ...terms, "--amount", "10");
			expect(error).toMatchObject({ code, details });
			expect(error.message).toContain(text);
		}
	},
);

test("a refusal without a readable amount keeps the message of the service", async () => {
	for (const details of [{ minimumAmount: "lots" }, { minimumAmount: 5 }, {}]) {
		refuse("NEEDS_LARGER_SIZE", "fix_request", details);
		const { error } = await json("quote", ...terms, "--amount", "10");
		expect(error.message).toBe("NEEDS_LARGER_SIZE happened. Do fix_request.");
	}
});

test("an id with other terms is refused with both amounts in whole tokens, and both tokens and chains by name", async () => {
	const first = ["swap", ...terms, "--slippage-bps", "50", "--amount", "10", "--id", "one"];
	await json(...first);
	const changed = async (...options: string[]) => (await json(...first, ...options)).error.message;
	expect(await changed("--amount", "9.5")).toContain("its amount is 10 USDC, not 9.5 USDC.");
	expect(await changed("--min-out", "1")).toContain("its minOutput is not given, not 1 USDC.");
	const [one, two] = pins.chains;
	expect(await changed("--to", "31337:USDC")).toContain(
		`its destinationChain is ${two?.name}, not ${one?.name}.`,
	);
});
