import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ModelService, type Path, startModelService } from "../test/model-service.ts";
import { account } from "../test/op-fixture.ts";
import { quickness } from "../test/quick-sleep.ts";
import { buildPaths, makeSwapRequest, origins, submitPaths, walletOf } from "../test/swap-request.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { solanaSigner } from "./solana-signer.ts";
import { type SwapProgress, type SwapRequest, swap } from "./swap.ts";
import { memoryStore, type SwapStore } from "./swap-store.ts";

vi.mock("./sleep.ts", async (original) => (await import("../test/quick-sleep.ts")).quickSleep(original));

/** Of an op that is to expire. */
const opMs = 1_500;
let service: ModelService;
beforeEach(async () => {
	service = await startModelService();
	service.knobs.settleMs = 60;
	service.knobs.holdMs = 30;
});
afterEach(() => service.close());

const errorOf = (promise: Promise<unknown>): Promise<GeoswapError> =>
	promise.then(
		() => expect.unreachable("it should fail"),
		(error: unknown) => {
			expect(error).toBeInstanceOf(GeoswapError);
			return error as GeoswapError;
		},
	);
const bodiesOf = (path: Path) =>
	service.requests.filter((request) => request.path === path).map(({ body }) => body);

describe.each(origins)("from %s", (origin) => {
	const submitPath = submitPaths[origin];
	const buildPath = buildPaths[origin];
	const signed = () => new Set(bodiesOf(submitPath)).size;
	const executions = () => service.openedBy(walletOf(origin)).length;
	const run = async (changes: Partial<SwapRequest> = {}) =>
		swap(service.client, await makeSwapRequest(origin, changes));
	const named = (changes: Partial<SwapRequest> = {}) => ({
		id: "intent-1",
		store: memoryStore(),
		...changes,
	});

	test("one call does all of it, and tells each step once", async () => {
		const steps: string[] = [];
		const ended = await run({ onProgress: ({ step }) => steps.push(step) });
		expect(ended).toMatchObject({ status: "settled", funds: { holder: "recipient" } });
		expect(steps.slice(0, 4)).toEqual(["quoted", "signed", "submitted", "status"]);
		expect(executions()).toBe(1);
	});

	test.each(["refunded", "failed"] as const)(
		"a swap that has %s is an answer, not an error",
		async (endsAs) => {
			service.knobs.endsAs = endsAs;
			expect(await run()).toMatchObject({ status: endsAs, funds: { holder: "wallet" } });
		},
	);

	test("an intent that has ended is answered from its record, without a call", async () => {
		const request = named();
		const ended = await run(request);
		const calls = service.requests.length;
		expect(await run(request)).toEqual(ended);
		expect(service.requests).toHaveLength(calls);
	});

	test.each(["quoted", "signed", "submitted", "status"] as const)(
		"who is stopped once it is %s goes on where he was, and makes one swap",
		async (step) => {
			const request = named();
			// Long enough that the first word of it is not its last.
			service.knobs.settleMs = 1_000;
			const stop = new AbortController();
			const reason = new Error("stopped");
			const onProgress = (progress: SwapProgress) => progress.step === step && stop.abort(reason);
			await expect(run({ ...request, onProgress, signal: stop.signal })).rejects.toBe(reason);
			const resumed: string[] = [];
			expect(await run({ ...request, onProgress: (next) => resumed.push(next.step) })).toMatchObject({
				status: "settled",
			});
			expect(resumed.includes("resumed")).toBe(step !== "quoted");
			expect(resumed.includes("quoted")).toBe(step === "quoted");
			expect(signed()).toBe(1);
			expect(executions()).toBe(1);
		},
	);

	test("a signal ends the waiting and not the swap", async () => {
		const request = named();
		const stop = new AbortController();
		const reason = new Error("enough");
		const onProgress = ({ step }: SwapProgress) => step === "status" && stop.abort(reason);
		await expect(run({ ...request, onProgress, signal: stop.signal })).rejects.toBe(reason);
		await delay(80);
		expect(await run(request)).toMatchObject({ status: "settled" });
		expect(service.countOf(submitPath)).toBe(1);
	});

	test("a signal ends the waiting for a wallet that does not answer", async () => {
		const stop = new AbortController();
		const reason = new Error("enough");
		const hang = () => {
			stop.abort(reason);
			return new Promise<never>(() => {});
		};
		const signer =
			origin === "evm"
				? { address: account.address, signMessage: hang }
				: await solanaSigner({ address: walletOf(origin), signTransaction: hang });
		await expect(run({ signer, signal: stop.signal })).rejects.toBe(reason);
		expect(service.countOf(submitPath)).toBe(0);
	});

	test("what is refused for now is sent again, the same bytes, until it is taken", async () => {
		service.refuse(submitPath, { code: "INSUFFICIENT_BALANCE", times: 3 });
		const refused: string[] = [];
		const onProgress = (progress: SwapProgress) =>
			progress.step === "refused" && refused.push(progress.error.code);
		expect(await run({ onProgress })).toMatchObject({ status: "settled" });
		expect(refused).toEqual(["INSUFFICIENT_BALANCE"]);
		expect(bodiesOf(submitPath)).toHaveLength(4);
		expect(signed()).toBe(1);
	});

	test("nothing else is signed before the service has said that the first op has expired; then it is quoted again", async () => {
		service.knobs.opMs = opMs;
		service.refuse(submitPath, { code: "LIQUIDITY_CHANGED", times: 1_000 });
		const ending = run();
		await vi.waitFor(() => expect(service.countOf("/swap/quote")).toBe(2), { timeout: 5_000 });
		service.clearRefusals();
		expect(await ending).toMatchObject({ status: "settled" });
		const [first, second] = service.requests.filter(({ path }) => path === "/swap/quote");
		const between = service.requests.filter(
			({ path, atMs }) => path === submitPath && atMs <= (second?.atMs ?? 0),
		);
		expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(opMs);
		expect(between.length).toBeGreaterThan(3);
		expect(new Set(between.map(({ body }) => body)).size).toBe(1);
		expect(signed()).toBe(2);
		expect(executions()).toBe(1);
	});

	test("what quoting cannot mend is told once the op has expired, and that nothing was executed; a later call begins anew", async () => {
		const request = named();
		service.knobs.opMs = opMs;
		service.refuse(submitPath, { code: "INSUFFICIENT_BALANCE", times: 1_000 });
		expect(await errorOf(run(request))).toMatchObject({
			code: "INSUFFICIENT_BALANCE",
			next: "fund_wallet",
			mayExecute: false,
		});
		expect(executions()).toBe(0);
		expect(service.countOf("/swap/quote")).toBe(1);
		service.clearRefusals();
		expect(await run(request)).toMatchObject({ status: "settled" });
		expect(executions()).toBe(1);
	});

	test("after five quotes that came to nothing it gives up, and nothing was executed", async () => {
		service.refuse(buildPath, { code: "SIMULATION_FAILED", times: 1_000 });
		expect(await errorOf(run())).toMatchObject({ code: "SIMULATION_FAILED", mayExecute: false });
		expect(service.countOf("/swap/quote")).toBe(5);
	});

	test("however often it is quoted, nothing is signed for less than the caller's minimum", async () => {
		const request = named({ minOutput: 9_900_000n });
		service.knobs.opMs = opMs;
		service.refuse(submitPath, { code: "LIQUIDITY_CHANGED", times: 1_000 });
		const onProgress = ({ step }: SwapProgress) => {
			if (step === "refused") service.knobs.output = 9_900_000n;
		};
		expect(await errorOf(run({ ...request, onProgress }))).toMatchObject({
			code: "BELOW_MIN_OUTPUT",
			mayExecute: false,
			details: { quoted: "9850500", minOutput: "9900000" },
		});
		expect(service.countOf(buildPath)).toBe(1);
		expect(executions()).toBe(0);
	});

	test("a quote that has expired before it is built is asked for again", async () => {
		service.refuse(buildPath, { code: "QUOTE_EXPIRED" });
		expect(await run()).toMatchObject({ status: "settled" });
		expect(service.countOf("/swap/quote")).toBe(2);
	});

	test.each(["quote", "build", "submit", "status"] as const)(
		"it leaves the service alone for as long as it asks at %s",
		async (step) => {
			const paths = {
				quote: "/swap/quote",
				build: buildPath,
				submit: submitPath,
				status: "/swap/status",
			} as const;
			const path = paths[step];
			service.refuse(path, { code: "RATE_LIMITED", retryAfterSeconds: 10 });
			expect(await run()).toMatchObject({ status: "settled" });
			const [first, second] = service.requests.filter((request) => request.path === path);
			expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(10_000 / quickness - 5);
			expect(executions()).toBe(1);
		},
	);

	test("through an outage the same bytes are sent until they are taken", async () => {
		service.refuse(submitPath, { code: "UPSTREAM_UNAVAILABLE", times: 4 });
		expect(await run()).toMatchObject({ status: "settled" });
		expect(service.countOf(submitPath)).toBe(5);
		expect(signed()).toBe(1);
	});

	test("a service that has forgotten the swap is sent the same bytes again", async () => {
		const request = named();
		let isRestored = false;
		const onProgress = ({ step }: SwapProgress) => {
			if (step !== "submitted" || isRestored) return;
			isRestored = true;
			service.restore();
		};
		expect(await run({ ...request, onProgress })).toMatchObject({ status: "settled" });
		expect(bodiesOf(submitPath)).toHaveLength(2);
		expect(signed()).toBe(1);
		expect(executions()).toBe(1);
	});

	test("a service that takes it and never knows of it is not asked without a pause", async () => {
		service.refuse("/swap/status", { code: "SWAP_NOT_FOUND", times: 1_000 });
		await expect(run({ signal: AbortSignal.timeout(400) })).rejects.toMatchObject({ name: "TimeoutError" });
		expect(service.countOf(submitPath)).toBeLessThan(10);
		expect(executions()).toBe(1);
	});

	test.each([
		{ code: "OP_EXPIRED", next: "contact_operator" },
		{ code: "TRANSACTION_CHANGED", next: "contact_operator" },
		{ code: "UNAUTHORIZED" },
		{ code: "INVALID_TOKEN" },
		{ code: "INVALID_REQUEST" },
		{ code: "NOT_FOUND" },
	] as const)(
		"after $code ($next) at submit it may still be executed, and nothing else is signed",
		async (refusal) => {
			const request = named();
			service.refuse(submitPath, refusal);
			expect(await errorOf(run(request))).toMatchObject({ code: refusal.code, mayExecute: true });
			expect(service.countOf("/swap/quote")).toBe(1);
			expect(await run(request)).toMatchObject({ status: "settled" });
			expect(signed()).toBe(1);
			expect(executions()).toBe(1);
		},
	);

	test("what was taken is found by its id where its token cannot be read any more", async () => {
		const request = named();
		service.knobs.fault = (path) => (path === submitPath ? { kind: "answer lost" } : undefined);
		const stop = new AbortController();
		const stopped = run({ ...request, signal: stop.signal });
		await vi.waitFor(() => expect(executions()).toBe(1), { timeout: 5_000 });
		stop.abort(new Error("stopped"));
		await expect(stopped).rejects.toThrow("stopped");
		service.knobs.fault = undefined;
		service.forgetTokens();
		expect(await run(request)).toMatchObject({ status: "settled" });
		expect(executions()).toBe(1);
	});

	test("before anything is signed a refusal of the caller says that nothing was executed", async () => {
		for (const path of ["/swap/quote", buildPath] as const) {
			service.refuse(path, { code: "UNAUTHORIZED" });
			expect(await errorOf(run())).toMatchObject({ code: "UNAUTHORIZED", mayExecute: false });
		}
		expect(service.countOf(submitPath)).toBe(0);
	});

	test("an answer that does not name the swap is not taken for one that does", async () => {
		const request = named();
		service.knobs.lie = (path, body) => (path === submitPath ? { ok: true } : body);
		expect(await errorOf(run(request))).toMatchObject({ code: "UNEXPECTED_RESPONSE", mayExecute: true });
		let lies = 2;
		service.knobs.lie = (path, body) => (path === "/swap/status" && lies-- > 0 ? { ok: true } : body);
		expect(await run(request)).toMatchObject({ status: "settled", orderId: expect.any(String) });
		expect(executions()).toBe(1);
	});

	test("an id names one intent: whatever else is asked for under it is refused by its name", async () => {
		const request = named();
		await run(request);
		const calls = service.requests.length;
		const others: Partial<SwapRequest> = {
			destinationChain: 1,
			outputToken: walletOf("evm"),
			amount: 10_000_001n,
			recipient: walletOf("evm"),
			slippageBps: 51,
		};
		for (const [field, other] of Object.entries(others)) {
			expect(await errorOf(run({ ...request, [field]: other })), field).toMatchObject({
				code: "INTENT_CHANGED",
				details: { field },
				mayExecute: true,
			});
		}
		const { recipient: _, ...rest } = await makeSwapRequest(origin, request);
		expect(await errorOf(swap(service.client, rest))).toMatchObject({ details: { field: "recipient" } });
		expect(service.requests).toHaveLength(calls);
	});

	test("two calls at once for one intent make one swap: the second is told, and may ask again", async () => {
		const request = named();
		const [first, second] = await Promise.allSettled([run(request), run(request)]);
		expect(first).toMatchObject({ status: "fulfilled", value: { status: "settled" } });
		expect(second).toMatchObject({ reason: { code: "SWAP_IN_PROGRESS", mayExecute: true, next: "retry" } });
		expect(await run(request)).toEqual((first as PromiseFulfilledResult<unknown>).value);
		expect(executions()).toBe(1);
	});

	test.each(["lock", "get", "set"] as const)(
		"where the store cannot %s nothing is sent, and it is told as an error of this package",
		async (method) => {
			const broken = { ...memoryStore(), [method]: async () => Promise.reject(new Error("disk is full")) };
			expect(await errorOf(run({ id: "intent-1", store: broken }))).toMatchObject({
				code: "INTERRUPTED",
				mayExecute: true,
				cause: { message: "disk is full" },
			});
			expect(service.countOf(submitPath)).toBe(0);
		},
	);

	test("a store that cannot write any more once it was sent leaves a record to go on from", async () => {
		const store = memoryStore();
		let writes = 0;
		const failing: SwapStore = {
			...store,
			set: async (id, text) => {
				if (++writes === 2) throw new Error("disk is full");
				await store.set(id, text);
			},
		};
		expect(await errorOf(run({ id: "intent-1", store: failing }))).toMatchObject({ mayExecute: true });
		expect(await run({ id: "intent-1", store })).toMatchObject({ status: "settled" });
		expect(executions()).toBe(1);
	});

	test("a lock that cannot be given back does not hide what became of the swap", async () => {
		const store: SwapStore = {
			...memoryStore(),
			lock: async () => async () => Promise.reject(new Error("gone")),
		};
		expect(await run({ id: "intent-1", store })).toMatchObject({ status: "settled" });
	});

	test("a callback that throws interrupts it, and the next call goes on", async () => {
		const request = named();
		for (const step of ["quoted", "signed", "submitted"]) {
			const onProgress = (progress: SwapProgress) => {
				if (progress.step === step) throw new Error("a page that is gone");
			};
			const mayExecute = step === "submitted";
			expect(await errorOf(run({ ...request, onProgress }))).toMatchObject({
				code: "INTERRUPTED",
				mayExecute,
			});
		}
		expect(await run(request)).toMatchObject({ status: "settled" });
		expect(executions()).toBe(1);
	});

	test.each(["{", '{"version":2}', "null"])(
		"a record that reads %s is not taken for no record",
		async (text) => {
			const request = named();
			await request.store.set("intent-1", text);
			expect(await errorOf(run(request))).toMatchObject({ code: "RECORD_UNREADABLE", mayExecute: true });
			expect(service.requests).toEqual([]);
		},
	);

	test("an id without a store is refused: it would be forgotten at once", async () => {
		await expect(run({ id: "intent-1" })).rejects.toThrow(TypeError);
		expect(service.requests).toEqual([]);
	});

	test("a quote in any form is refused before it is built", async () => {
		for (const quote of [{}, { minOutput: "x" }, { minOutput: 5 }, { swapId: 5, minOutput: "5" }]) {
			service.knobs.lie = () => quote;
			expect(await errorOf(run({ minOutput: 1n }))).toMatchObject({ mayExecute: false });
		}
		expect(service.countOf(submitPath)).toBe(0);
	});
});
