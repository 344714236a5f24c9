import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { recipient, refusal, startFakeService, swapId } from "../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../test/run-cli.ts";
import { CliError } from "./cli-error.ts";
import { describeError, errorLines } from "./describe-error.ts";
import { notSent } from "./payer.ts";

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

/** Returns the exit code, and each line on stderr by its label. */
async function people(...args: string[]) {
	const { exit, stderr } = await runCli(args, { env });
	const lines = stderr.split("\n").map((line) => [line.slice(0, 11).trim(), line.slice(11)]);
	return { exit, ...Object.fromEntries(lines) };
}

async function json(...args: string[]) {
	const { exit, stdout } = await runCli([...args, "--json"], { env });
	return { exit, ...JSON.parse(stdout) };
}

test("a swap id that neither the service nor this machine has leads to exit code 2, and to the commands that list swaps", async () => {
	service.handlers["/swap/status"] = () => refusal(404, "SWAP_NOT_FOUND", "fix_request");
	for (const path of [`/swaps/${swapId}/receipt`, `/swaps/${swapId}/share`]) {
		service.handlers[path] = () => refusal(404, "SWAP_NOT_FOUND", "fix_request");
	}
	for (const args of [
		["status", swapId],
		["status", swapId, "--no-wait"],
		["receipt", swapId],
		["share", swapId],
	]) {
		const { exit, error } = await json(...args);
		expect([exit, error]).toMatchObject([2, { code: "UNKNOWN_ID", next: "fix_request", retryable: false }]);
		expect(error).not.toHaveProperty("mayExecute");
		expect(error.message).toContain(swapId);
		expect(await people(...args)).toMatchObject({
			exit: 2,
			next: "list your swaps: geoswap history, or geoswap history --unfinished",
		});
	}
});

test("the next step resume, which only the command has, follows Ctrl-C as docs/cli.md states", async () => {
	const controller = new AbortController();
	service.handlers["/swap/status"] = () => {
		controller.abort();
		return "hold";
	};
	const args = ["swap", ...terms, "--slippage-bps", "50", "--amount", "10", "--json"];
	const { exit, stdout } = await runCli(args, { env, interrupt: controller.signal });
	expect([exit, JSON.parse(stdout).error]).toMatchObject([5, { code: "INTERRUPTED", next: "resume" }]);
	const page = readFileSync(join(import.meta.dirname, "../../../docs/cli.md"), "utf8");
	expect(page).toContain("or `resume`, as after Ctrl-C.");
});

test("share and receipt take the id of an intent that was started on this machine, as status does", async () => {
	await json("swap", ...terms, "--slippage-bps", "50", "--amount", "10", "--id", "rent");
	service.handlers[`/swaps/${swapId}/receipt`] = () => ({ body: { swapId, signature: "0x" } });
	service.handlers[`/swaps/${swapId}/share`] = () => ({
		body: { swapId, url: "https://x.example/s/1", token: "1" },
	});
	expect(await json("receipt", "rent")).toMatchObject({ exit: 0, swapId });
	expect(await json("share", "rent")).toMatchObject({ exit: 0, swapId });
	service.handlers["/swap/quote"] = () => refusal(422, "NO_ROUTE", "fix_request");
	await json("swap", ...terms, "--amount", "10", "--id", "refused");
	for (const command of ["receipt", "share"]) {
		expect(await json(command, "refused")).toMatchObject({ exit: 3, error: { code: "NOT_SUBMITTED" } });
		expect(await json(command, "never")).toMatchObject({ exit: 2, error: { code: "UNKNOWN_ID" } });
	}
});

test("a missing or wrong key of a wallet leads to advice about that key, and a refused API key to advice about the API key", async () => {
	for (const key of ["", "0x12"]) {
		env = { ...env, GEOSWAP_EVM_KEY: key };
		const { exit, error, next } = await people("swap", ...terms, "--amount", "10");
		expect([exit, next]).toEqual([2, "set the key that is missing or wrong"]);
		expect(error).toContain("GEOSWAP_EVM_KEY");
	}
	service.handlers["/chains"] = () => refusal(401, "UNAUTHORIZED", "check_key");
	expect(await people("chains")).toMatchObject({ exit: 3, next: "check the API key" });
});

test("a payer without gas leads to advice about the payer, and not about the input token", async () => {
	const payer = "0x00000000000000000000000000000000000000aa";
	const error = notSent(new Error("insufficient funds for gas"), {
		payer,
		code: "RESCUE_NOT_SENT",
		otherwise: "",
	});
	const { body } = await describeError(error);
	expect(errorLines(body)).toEqual(
		expect.arrayContaining([
			["error", expect.stringContaining(`${payer} has too little of the chain's own token for the gas.`)],
			["next", "send the wallet what it lacks"],
		]),
	);
	const poor = new CliError("It holds nothing.", { code: "NO_BALANCE", next: "fund_wallet" });
	expect(errorLines((await describeError(poor)).body)).toContainEqual([
		"next",
		"send the wallet some of the input token",
	]);
});
