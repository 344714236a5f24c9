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

/** Interrupts a swap when it calls this path of the service, after running what a test wants to see meanwhile. */
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
	"a key that is refused": () => refusal(401, "UNAUTHORIZED", "check_key"),
	"a swap that it does not know": () => refusal(404, "SWAP_NOT_FOUND", "fix_request"),
	"a proxy's words": () => ({ status: 502, body: "away" }),
	"a list": () => ({ body: [] }),
	"another swap": () => ({ body: makeStatus({ swapId: "swp_01m7g1sa2be008j9r4pw0rzatg" }) }),
	"no status that there is": () => ({ body: { ...makeStatus(), status: "lost" } }),
};

test.each(Object.keys(answers) as (keyof typeof answers)[])(
	"of a swap that was signed here %s is exit 5, by either id, with the command that goes on",
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

test.each(["a key that is refused", "a swap that it does not know"] as const)(
	"%s ends the waiting with exit 5",
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

test("a swap that was begun elsewhere and cannot be asked for is exit 5 too, and is followed by its own id", async () => {
	service.handlers["/swap/status"] = answers["a key that is refused"];
	expect(await json(["status", swapId])).toMatchObject({
		exit: 5,
		body: { error: { mayExecute: true, swapId, resume: `geoswap status ${swapId}` } },
	});
});

test("a service that was set back forgets a swap: the command that is named sends it again", async () => {
	await holdSwap("/swap/status", "a");
	service.handlers["/swap/status"] = answers["a swap that it does not know"];
	const { body } = await json(["status", swapId]);
	expect(body.error.resume).toBe("geoswap swap --resume a");
	let isSent = false;
	service.handlers["/swap/submit"] = () => {
		isSent = true;
		return { body: { swapId, status: "pending" } };
	};
	service.handlers["/swap/status"] = () =>
		isSent ? { body: makeStatus() } : answers["a swap that it does not know"]();
	expect(await json(["swap", "--resume", "a"])).toMatchObject({ exit: 0, body: { swap: { swapId } } });
});

test("a swap whose end is kept here is told from there, whatever the service and the keys have become", async () => {
	await json([...terms, "--id", "a"]);
	env = { ...env, GEOSWAP_API_KEY: "" };
	service.handlers["/swap/status"] = answers["a swap that it does not know"];
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

test("Ctrl-C before anything was asked is exit 5 for what may execute, by either id", async () => {
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

test("who looks at an intent is taken for nobody who signs it", async () => {
	service.handlers["/swap/quote"] = () => refusal(422, "NO_ROUTE", "fix_request");
	await json([...terms, "--id", "u"]);
	const looks = Array.from({ length: 4 }, () => json(["status", "u"]));
	const swap = json([...terms, "--id", "u"]);
	for (const answer of await Promise.all(looks)) {
		expect(answer).toMatchObject({ exit: 3, body: { error: { code: "NOT_SUBMITTED", mayExecute: false } } });
	}
	expect(await swap).toMatchObject({ exit: 3, body: { error: { code: "NO_ROUTE" } } });
});

test("a settled swap is exit 0 though the answer does not say where the money is", async () => {
	const { funds: _, ...swap } = makeStatus();
	service.handlers["/swap/status"] = () => ({ body: swap });
	expect(await json(["status", swapId])).toMatchObject({ exit: 0, body: { swap: { status: "settled" } } });
	expect(await json([...terms, "--id", "a"])).toMatchObject({ exit: 0 });
});

test("while another process is about to sign, nothing says that nothing will happen", async () => {
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

test("a service that is away is not waited for in silence", async () => {
	service.handlers["/swap/status"] = () => refusal(503, "UNAVAILABLE", "retry", true);
	const { exit, stderr } = await runCli(["status", swapId], { env, interrupt: AbortSignal.timeout(5_500) });
	expect(exit).toBe(5);
	expect(stderr).toContain(`still waiting for news from ${service.baseUrl}`);
});
