import { afterAll, beforeEach, expect, test } from "vitest";
import { makeStatus, recipient, refusal, startFakeService, swapId } from "../../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../../test/run-cli.ts";

const service = await startFakeService();
afterAll(() => service.close());
const terms = [
	...["swap", "--from", "31337:USDC", "--to", "31338:USDC", "--amount", "10"],
	...["--recipient", recipient, "--slippage-bps", "50"],
];
let env: Record<string, string | undefined>;

beforeEach(async () => {
	service.reset();
	const home = makeHome();
	env = home.env;
	await runCli(initArgs(service.baseUrl, home.deployment), { env });
});

async function json(args: string[], interrupt?: AbortSignal) {
	const { exit, stdout } = await runCli([...args, "--json"], { env, ...(interrupt && { interrupt }) });
	return { exit, body: JSON.parse(stdout) };
}

/** Interrupts a swap when it calls this path of the service, after running `meanwhile`. */
async function holdSwap(path: string, id: string, meanwhile = async () => {}): Promise<void> {
	const controller = new AbortController();
	let looked: Promise<void> | undefined;
	service.handlers[path] = () => {
		looked = meanwhile().finally(() => controller.abort());
		return "hold";
	};
	await json([...terms, "--id", id], controller.signal);
	await looked;
	service.reset();
}

const answers = {
	"a refused API key": () => refusal(401, "UNAUTHORIZED", "check_key"),
	"a swap unknown to the service": () => refusal(404, "SWAP_NOT_FOUND", "fix_request"),
	"an answer of a proxy": () => ({ status: 502, body: "away" }),
	"a list": () => ({ body: [] }),
	"the status of another swap": () => ({ body: makeStatus({ swapId: "swp_01m7g1sa2be008j9r4pw0rzatg" }) }),
	"an invalid status": () => ({ body: { ...makeStatus(), status: "lost" } }),
};

test.each(Object.keys(answers) as (keyof typeof answers)[])(
	"for a swap signed here, %s leads to exit code 5 by either id, and the error has the command to resume it",
	async (answer) => {
		await holdSwap("/swap/submit", "a");
		service.handlers["/swap/status"] = answers[answer];
		for (const name of ["a", swapId]) {
			expect(await json(["status", name, "--no-wait"])).toMatchObject({
				exit: 5,
				body: { error: { mayExecute: true, id: "a", swapId, resume: "geoswap swap --resume a" } },
			});
		}
	},
);

test.each(["a refused API key", "a swap unknown to the service"] as const)(
	"%s ends the waiting with exit code 5",
	async (answer) => {
		await holdSwap("/swap/submit", "a");
		service.handlers["/swap/status"] = answers[answer];
		expect(await json(["status", "a"])).toMatchObject({ exit: 5, body: { error: { mayExecute: true } } });
		env = { ...env, GEOSWAP_API_KEY: "" };
		expect(await json(["status", "a"])).toMatchObject({
			exit: 5,
			body: { error: { code: "NO_KEY", mayExecute: true, resume: "geoswap swap --resume a" } },
		});
	},
);

test("for a swap signed elsewhere, a refused API key leads to exit code 5, and the error has the command that follows the swap", async () => {
	service.handlers["/swap/status"] = answers["a refused API key"];
	expect(await json(["status", swapId])).toMatchObject({
		exit: 5,
		body: { error: { mayExecute: true, swapId, resume: `geoswap status ${swapId}` } },
	});
});

test("if the service lost a swap, the command in the error submits it again", async () => {
	await holdSwap("/swap/status", "a");
	service.handlers["/swap/status"] = answers["a swap unknown to the service"];
	const { body } = await json(["status", swapId]);
	expect(body.error.resume).toBe("geoswap swap --resume a");
	let isSent = false;
	service.handlers["/swap/submit"] = () => {
		isSent = true;
		return { body: { swapId, status: "pending" } };
	};
	service.handlers["/swap/status"] = () =>
		isSent ? { body: makeStatus() } : answers["a swap unknown to the service"]();
	expect(await json(["swap", "--resume", "a"])).toMatchObject({ exit: 0, body: { swap: { swapId } } });
});

test("a finished swap is read from its record, even without a key and if the service does not have it", async () => {
	await json([...terms, "--id", "a"]);
	env = { ...env, GEOSWAP_API_KEY: "" };
	service.handlers["/swap/status"] = answers["a swap unknown to the service"];
	for (const args of [
		["status", "a"],
		["status", swapId, "--no-wait"],
	]) {
		expect(await json(args)).toMatchObject({
			exit: 0,
			body: { id: "a", swap: { swapId, status: "settled" } },
		});
	}
});

test("Ctrl-C before the first answer leads to exit code 5 for a swap that may execute, by either id", async () => {
	await holdSwap("/swap/submit", "a");
	for (const [name, resume] of [
		["a", "geoswap swap --resume a"],
		[swapId, "geoswap swap --resume a"],
		["swp_01m7g1sa2be008j9r4pw0rzatg", "geoswap status swp_01m7g1sa2be008j9r4pw0rzatg"],
	] as const) {
		const controller = new AbortController();
		const answer = json(["status", name], controller.signal);
		controller.abort();
		expect(await answer).toMatchObject({
			exit: 5,
			body: { error: { code: "INTERRUPTED", mayExecute: true, resume } },
		});
	}
});

test("status commands do not make a swap of the same intent fail as in progress", async () => {
	service.handlers["/swap/quote"] = () => refusal(422, "NO_ROUTE", "fix_request");
	await json([...terms, "--id", "u"]);
	const looks = Array.from({ length: 4 }, () => json(["status", "u"]));
	const swap = json([...terms, "--id", "u"]);
	for (const answer of await Promise.all(looks)) {
		expect(answer).toMatchObject({ exit: 3, body: { error: { code: "NOT_SUBMITTED", mayExecute: false } } });
	}
	expect(await swap).toMatchObject({ exit: 3, body: { error: { code: "NO_ROUTE" } } });
});

test("a settled swap leads to exit code 0 even if the answer has no funds", async () => {
	const { funds: _, ...swap } = makeStatus();
	service.handlers["/swap/status"] = () => ({ body: swap });
	expect(await json(["status", swapId])).toMatchObject({ exit: 0, body: { swap: { status: "settled" } } });
	expect(await json([...terms, "--id", "a"])).toMatchObject({ exit: 0 });
});

test("while another process works on an intent, status and swap exit with 5 and SWAP_IN_PROGRESS", async () => {
	await holdSwap("/swap/build-geo-op", "w", async () => {
		const inProgress = {
			exit: 5,
			body: {
				error: { code: "SWAP_IN_PROGRESS", mayExecute: true, id: "w", resume: "geoswap swap --resume w" },
			},
		};
		expect(await json(["status", "w"])).toMatchObject(inProgress);
		expect(await json([...terms, "--id", "w"])).toMatchObject(inProgress);
		expect(await json(["swap", "--resume", "w"])).toMatchObject(inProgress);
		expect(await json([...terms, "--id", "w", "--max-spend", "5"])).toMatchObject(inProgress);
		expect(await json(["history", "--unfinished"])).toMatchObject({
			body: { unfinished: [{ id: "w", state: "working" }] },
		});
	});
	expect(await json(["status", "w"])).toMatchObject({
		exit: 3,
		body: { error: { code: "NOT_SUBMITTED", mayExecute: false } },
	});
	expect(await json(["history", "--unfinished"])).toMatchObject({ body: { unfinished: [] } });
});

test("status reports that it is still waiting while the service is unavailable", async () => {
	service.handlers["/swap/status"] = () => refusal(503, "UNAVAILABLE", "retry", true);
	const { exit, stderr } = await runCli(["status", swapId], { env, interrupt: AbortSignal.timeout(5_500) });
	expect(exit).toBe(5);
	expect(stderr).toContain(`still waiting for news from ${service.baseUrl}`);
});
