import { setTimeout as delay } from "node:timers/promises";
import { test as base, describe, expect, vi } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { type Path, startModelService } from "../test/model-service.ts";
import { account } from "../test/op-fixture.ts";
import { quickness } from "../test/quick-time.ts";
import { makePins } from "../test/solana-op-fixture.ts";
import {
	buildPaths,
	makeSwapRequest,
	type Origin,
	origins,
	submitPaths,
	walletOf,
} from "../test/swap-request.ts";
import { evmSigner } from "./evm-signer.ts";
import type { OriginSigner } from "./origin-signer.ts";
import { sleep } from "./sleep.ts";
import { solanaSigner } from "./solana-signer.ts";
import { swap } from "./swap.ts";
import type { SwapProgress, SwapRequest, SwapTerms } from "./swap-request.ts";
import { memoryStore, type SwapStore } from "./swap-store.ts";

vi.mock("./sleep.ts", async (original) => (await import("../test/quick-time.ts")).quickTime(original));

/** Lifetimes of an op that is to expire, and of the order that can be opened after it. */
const shortLives = { opMs: 30_000, openMs: 40_000 };
/** Duration of a swap whose first status is not to be its last. */
const longMs = 30_000;
/** Time for which the chain would execute such an op. */
const livesMs = { evm: 39_000, solana: 100_000 };

/** Changes the record to one of an older version, which did not store how long a submission lives. */
async function forgetDeadAt(store: SwapStore): Promise<void> {
	const { submission, ...record } = JSON.parse((await store.get("intent-1")) ?? "");
	const { deadAt: _, ...older } = submission;
	await store.set("intent-1", JSON.stringify({ ...record, submission: older }));
}

/** Returns pins in which no token is a stable. */
function volatilePins(): SwapRequest["pins"] {
	const { chains, solana } = makePins();
	const volatile = <A extends { kind: string }>(assets: A[]) =>
		assets.map((asset) => ({ ...asset, kind: "volatile" as const }));
	return {
		chains: chains.map((chain) => ({ ...chain, assets: volatile(chain.assets) })),
		...(solana && { solana: { ...solana, assets: volatile(solana.assets) } }),
	};
}

/** Starts a service for one test, so that tests can wait concurrently. */
async function startWorld(origin: Origin) {
	const service = await startModelService();
	const bodiesOf = (path: Path) =>
		service.requests.filter((request) => request.path === path).map(({ body }) => body);
	return {
		service,
		bodiesOf,
		/** The number of different submissions that were ever sent. */
		signed: () => new Set(bodiesOf(submitPaths[origin])).size,
		executions: () => service.openedBy(walletOf(origin)).length,
		run: async (changes: Partial<SwapRequest> = {}) =>
			swap(service.client, await makeSwapRequest(origin, changes)),
	};
}
type World = Awaited<ReturnType<typeof startWorld>>;

describe.each(origins)("from %s", { concurrent: true }, (origin) => {
	const test = base.extend<{ world: World }>({
		// biome-ignore lint/correctness/noEmptyPattern: what a fixture needs is read from its pattern
		world: async ({}, use) => {
			const world = await startWorld(origin);
			await use(world);
			await world.service.close();
		},
	});
	const submitPath = submitPaths[origin];
	const buildPath = buildPaths[origin];
	const named = (changes: Partial<SwapRequest> = {}) => ({
		id: "intent-1",
		store: memoryStore(),
		...changes,
	});

	test("one call quotes, signs and submits, and returns the settled swap", async ({
		world: { executions, run },
	}) => {
		const steps: string[] = [];
		const ended = await run({ onProgress: ({ step }) => steps.push(step) });
		expect(ended).toMatchObject({ status: "settled", funds: { holder: "recipient" } });
		expect(steps.slice(0, 4)).toEqual(["quoted", "signed", "submitted", "status"]);
		expect(executions()).toBe(1);
	});

	test.for(["refunded", "failed"] as const)(
		"a swap that ends as %s is returned, not thrown",
		async (endsAs, { world: { service, run } }) => {
			Object.assign(service.knobs, shortLives, { endsAs });
			expect(await run()).toMatchObject({ status: endsAs, funds: { holder: "wallet" } });
		},
	);

	test.for(["refunded", "failed"] as const)(
		"if the service reports %s while a chain could still execute the op, the call continues polling and reports each status once",
		async (said, { world: { service, executions, run } }) => {
			Object.assign(service.knobs, shortLives, { settleMs: 0 });
			const waits: string[] = [];
			const statuses: string[] = [];
			service.knobs.lie = (path, body: object) =>
				path === "/swap/status" && !(Date.now() > Date.parse(waits[0] ?? ""))
					? { ...body, status: said }
					: body;
			const onProgress = (progress: SwapProgress) => {
				if (progress.step === "waiting") waits.push(progress.until);
				if (progress.step === "status") statuses.push(progress.swap.status);
			};
			expect(await run({ onProgress })).toMatchObject({ status: "settled" });
			expect(waits).toHaveLength(1);
			expect(statuses).toEqual([said, "settled"]);
			expect(executions()).toBe(1);
		},
	);

	test("with a record of an older version, which has no expiry, a terminal status is accepted immediately", async ({
		world: { service, run },
	}) => {
		const request = named();
		service.knobs.endsAs = "refunded";
		const stop = new AbortController();
		const reason = new Error("enough");
		const onStatus = ({ step }: SwapProgress) => step === "status" && stop.abort(reason);
		await expect(run({ ...request, onProgress: onStatus, signal: stop.signal })).rejects.toBe(reason);
		await forgetDeadAt(request.store);
		const steps: string[] = [];
		const onProgress = ({ step }: SwapProgress) => steps.push(step);
		expect(await run({ ...request, onProgress })).toMatchObject({ status: "refunded" });
		expect(steps).not.toContain("waiting");
	});

	test("a finished intent is returned from its record without a request", async ({
		world: { service, run },
	}) => {
		const request = named();
		const ended = await run(request);
		const calls = service.requests.length;
		expect(await run(request)).toEqual(ended);
		expect(service.requests).toHaveLength(calls);
	});

	test.for(["quoted", "signed", "submitted", "status"] as const)(
		"a call that was stopped at the step %s is continued by the next call, and there is one swap",
		async (step, { world: { service, signed, executions, run } }) => {
			const request = named();
			service.knobs.settleMs = longMs;
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

	test("the signal ends the waiting, not the swap", async ({ world: { service, run } }) => {
		const request = named();
		service.knobs.settleMs = longMs;
		const stop = new AbortController();
		const reason = new Error("enough");
		const onProgress = ({ step }: SwapProgress) => step === "status" && stop.abort(reason);
		await expect(run({ ...request, onProgress, signal: stop.signal })).rejects.toBe(reason);
		await delay(longMs / quickness);
		expect(await run(request)).toMatchObject({ status: "settled" });
		expect(service.countOf(submitPath)).toBe(1);
	});

	test("the signal ends the waiting for a wallet that does not respond", async ({
		world: { service, run },
	}) => {
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

	test("a submit that is refused temporarily is sent again with the same bytes until it is accepted", async ({
		world: { service, bodiesOf, signed, run },
	}) => {
		service.refuse(submitPath, { code: "INSUFFICIENT_BALANCE", times: 3 });
		const refused: string[] = [];
		const onProgress = (progress: SwapProgress) =>
			progress.step === "refused" && refused.push(progress.error.code);
		expect(await run({ onProgress })).toMatchObject({ status: "settled" });
		expect(refused).toEqual(["INSUFFICIENT_BALANCE"]);
		expect(bodiesOf(submitPath)).toHaveLength(4);
		expect(signed()).toBe(1);
	});

	test("nothing else is signed until no chain can execute the first op; then the call requests a new quote", async ({
		world: { service, signed, executions, run },
	}) => {
		Object.assign(service.knobs, shortLives);
		service.refuse(submitPath, { code: "LIQUIDITY_CHANGED", times: 1_000 });
		const waits: string[] = [];
		const onProgress = (progress: SwapProgress) => progress.step === "waiting" && waits.push(progress.until);
		const ending = run({ onProgress });
		await vi.waitFor(() => expect(service.countOf("/swap/quote")).toBe(2), { timeout: 30_000 });
		service.clearRefusals();
		expect(await ending).toMatchObject({ status: "settled" });
		const [first, second] = service.requests.filter(({ path }) => path === "/swap/quote");
		const between = service.requests.filter(
			({ path, atMs }) => path === submitPath && atMs <= (second?.atMs ?? 0),
		);
		expect(waits).toHaveLength(1);
		expect(second?.atMs).toBeGreaterThan(Date.parse(waits[0] ?? ""));
		expect(Date.parse(waits[0] ?? "") - (first?.atMs ?? 0)).toBeGreaterThan(livesMs[origin]);
		expect(between.length).toBeGreaterThan(3);
		expect(new Set(between.map(({ body }) => body)).size).toBe(1);
		expect(signed()).toBe(2);
		expect(executions()).toBe(1);
	});

	test.for(["OP_EXPIRED", "INVALID_SIGNATURE", "INVALID_AUTHORIZATION"] as const)(
		"if a service keeps a signed op, answers %s and executes it later, one swap is executed per intent",
		async (says, { world: { service, run, signed, executions } }) => {
			const request = named();
			const lateMs = 20_000;
			let isKept = false;
			service.knobs.fault = (path) => {
				if (path !== submitPath || isKept) return undefined;
				isKept = true;
				return { kind: "kept", says, lateMs };
			};
			Object.assign(service.knobs, shortLives);
			const first = await run(request).catch((error: unknown) => error);
			if (says === "INVALID_SIGNATURE") expect(first).toMatchObject({ code: says, mayExecute: true });
			await service.allArrived();
			expect(await run(request)).toMatchObject({ status: "settled" });
			expect(executions()).toBe(1);
			// On an EVM chain two ops of one quote have the same nonce, so a second one may be signed.
			if (origin === "solana" || says !== "INVALID_AUTHORIZATION") expect(signed()).toBe(1);
		},
	);

	test("an op that was signed too late to be submitted is dropped, and a new quote is signed without waiting", async ({
		world: { service, run, signed },
	}) => {
		Object.assign(service.knobs, shortLives);
		const steps: string[] = [];
		const onProgress = ({ step }: SwapProgress) => steps.push(step);
		const { signer } = await makeSwapRequest(origin);
		const quick = "origin" in signer ? signer : evmSigner(signer);
		let signatures = 0;
		const slow: OriginSigner = {
			...quick,
			sign: async (...terms) => {
				const submission = await quick.sign(...terms);
				if (signatures++ === 0) await sleep(shortLives.opMs);
				return submission;
			},
		};
		expect(await run({ signer: slow, onProgress })).toMatchObject({ status: "settled" });
		expect(steps.slice(0, 4)).toEqual(["quoted", "quoted", "signed", "submitted"]);
		expect(signed()).toBe(1);
	});

	test("an op that has already expired by a fast local clock is still signed and submitted", async ({
		world: { service, run, signed },
	}) => {
		service.knobs.lie = (path, body: object) =>
			path === buildPath ? { ...body, expiresAt: new Date(Date.now() - 10_000).toISOString() } : body;
		expect(await run()).toMatchObject({ status: "settled" });
		expect(service.countOf("/swap/quote")).toBe(1);
		expect(signed()).toBe(1);
	});

	test("the signal ends the waiting for an op to expire; an older record waits 15 minutes from when it is first resumed", async ({
		world: { service, run },
	}) => {
		const request = named();
		Object.assign(service.knobs, shortLives);
		service.refuse(submitPath, { code: "OP_EXPIRED", times: 1_000 });
		const waitUntil = async (changes: Partial<SwapRequest>) => {
			const stop = new AbortController();
			const reason = new Error("enough");
			let until = "";
			const onProgress = (progress: SwapProgress) => {
				if (progress.step !== "waiting") return;
				until = progress.until;
				stop.abort(reason);
			};
			await expect(
				run({ ...request, ...changes, onProgress, signal: stop.signal } as SwapRequest),
			).rejects.toBe(reason);
			return Date.parse(until);
		};
		const until = await waitUntil({});
		expect(await waitUntil({})).toBe(until);
		await forgetDeadAt(request.store);
		const resumedMs = Date.now();
		const latest = await waitUntil({});
		expect(latest).toBeGreaterThanOrEqual(resumedMs + 15 * 60_000);
		expect(await waitUntil({})).toBe(latest);
	});

	test("an error that a new quote cannot fix is thrown once the op has expired, with nothing executed; a later call starts again", async ({
		world: { service, executions, run },
	}) => {
		const request = named();
		Object.assign(service.knobs, shortLives);
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

	test("if the service is too busy until the op expires, each error is reported once and the call ends with RATE_LIMITED", async ({
		world: { service, executions, run },
	}) => {
		Object.assign(service.knobs, shortLives);
		service.refuse(
			submitPath,
			{ code: "RATE_LIMITED", times: 4 },
			{ code: "UPSTREAM_UNAVAILABLE", times: 4 },
		);
		const refused: string[] = [];
		const onProgress = (progress: SwapProgress) =>
			progress.step === "refused" && refused.push(progress.error.code);
		expect(await errorOf(run({ onProgress }))).toMatchObject({
			code: "RATE_LIMITED",
			next: "retry",
			mayExecute: false,
		});
		expect(refused).toEqual(["RATE_LIMITED", "UPSTREAM_UNAVAILABLE"]);
		expect(service.countOf("/swap/quote")).toBe(1);
		expect(executions()).toBe(0);
	});

	test("the call ends with a refusal of the swap rather than with rate limiting before or after it", async ({
		world: { service, run },
	}) => {
		Object.assign(service.knobs, shortLives);
		const busy = { code: "RATE_LIMITED" } as const;
		service.refuse(submitPath, busy, { code: "INSUFFICIENT_BALANCE" }, { ...busy, times: 8 });
		expect(await errorOf(run())).toMatchObject({ code: "INSUFFICIENT_BALANCE", mayExecute: false });
	});

	test("the call gives up after five quotes that failed, with nothing executed", async ({
		world: { service, run },
	}) => {
		service.refuse(buildPath, { code: "SIMULATION_FAILED", times: 1_000 });
		expect(await errorOf(run())).toMatchObject({ code: "SIMULATION_FAILED", mayExecute: false });
		expect(service.countOf("/swap/quote")).toBe(5);
	});

	test("nothing is signed for less than the caller's minimum, even after another quote", async ({
		world: { service, executions, run },
	}) => {
		const request = named({ minOutput: 9_900_000n });
		Object.assign(service.knobs, shortLives);
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

	test("between two stables nothing is signed for less than 97 % unless the caller gives a minimum", async ({
		world: { service, executions, run },
	}) => {
		service.knobs.output = 9_740_000n;
		expect(await errorOf(run())).toMatchObject({
			code: "PRICE_NOT_ACCEPTED",
			mayExecute: false,
			details: { quoted: "9691300", floor: "9700000" },
		});
		service.knobs.output = 2n;
		expect(await errorOf(run())).toMatchObject({ code: "PRICE_NOT_ACCEPTED", mayExecute: false });
		expect(service.countOf(buildPath)).toBe(0);
		expect(executions()).toBe(0);
		service.knobs.output = 9_740_000n;
		expect(await run({ minOutput: 9_600_000n })).toMatchObject({ status: "settled" });
	});

	test("for a token that the pins do not call a stable, only a minimum that was given or approved is signed", async ({
		world: { service, executions, run },
	}) => {
		const pins = volatilePins();
		expect(await errorOf(run({ pins }))).toMatchObject({ code: "PRICE_NOT_ACCEPTED", mayExecute: false });
		const refusing = { pins, onBeforeSign: () => false };
		expect(await errorOf(run(refusing))).toMatchObject({ code: "DECLINED", mayExecute: false });
		expect(service.countOf(buildPath)).toBe(0);
		expect(executions()).toBe(0);
		expect(await run({ pins, minOutput: 9_900_000n })).toMatchObject({ status: "settled" });
		expect(await run({ pins, onBeforeSign: async () => true })).toMatchObject({ status: "settled" });
	});

	test("the approver gets the terms of the request, also if its minimum is lower than the quote's, and can reject them", async ({
		world: { service, run },
	}) => {
		const seen: SwapTerms[] = [];
		const onBeforeSign = (terms: SwapTerms) => seen.push(terms) > 1;
		const request = { minOutput: 9_900_000n, onBeforeSign };
		expect(await errorOf(run(request))).toMatchObject({
			code: "DECLINED",
			mayExecute: false,
			details: { quoted: "9930100" },
		});
		expect(service.countOf(buildPath)).toBe(0);
		expect(await run(request)).toMatchObject({ status: "settled" });
		const wallet = walletOf(origin);
		const { amount, recipient = wallet } = await makeSwapRequest(origin);
		expect(seen).toHaveLength(2);
		expect(seen[1]).toMatchObject({ amount, recipient, walletAddress: wallet, minOutput: 9_930_100n });
	});

	test("an exact output is signed for at most the given input, resumed by its id, and needs no approval", async ({
		world: { service, executions, run },
	}) => {
		const pins = volatilePins();
		const [store, id] = [memoryStore(), "receive-25"];
		const exact = { amount: undefined, outputAmount: 25_000_000n, pins, store, id } as const;
		service.knobs.input = 25_300_001n;
		const above = await errorOf(run({ ...exact, maxInput: 25_300_000n }));
		expect(above).toMatchObject({
			code: "ABOVE_MAX_INPUT",
			mayExecute: false,
			details: { quoted: "25300001", maxInput: "25300000" },
		});
		expect(service.countOf(buildPath)).toBe(0);
		const allowed = { ...exact, maxInput: 25_300_001n };
		expect(await run(allowed)).toMatchObject({ status: "settled" });
		const [order] = service.openedBy(walletOf(origin));
		expect(order?.inputAmount).toBe(25_300_001n);
		expect(order?.minOutput).toBeGreaterThanOrEqual(25_000_000n);
		expect(await run(allowed)).toMatchObject({ status: "settled" });
		expect(await errorOf(run({ ...allowed, outputAmount: 25_000_001n }))).toMatchObject({
			code: "INTENT_CHANGED",
		});
		expect(executions()).toBe(1);
	});

	test("an approver of an exact output is called again if the input has risen, and never signs for more", async ({
		world: { service, run },
	}) => {
		service.refuse(buildPath, { code: "SIMULATION_FAILED", times: 2 });
		const asked: bigint[] = [];
		const inputs = [25_400_000n, 25_350_000n];
		const onBeforeSign = ({ amount }: SwapTerms) => {
			service.knobs.input = inputs.shift() ?? service.knobs.input;
			return asked.push(amount) > 0;
		};
		service.knobs.input = 25_300_000n;
		const exact = { amount: undefined, outputAmount: 25_000_000n, maxInput: 26_000_000n };
		expect(await run({ ...exact, onBeforeSign })).toMatchObject({ status: "settled" });
		expect(asked).toEqual([25_300_000n, 25_400_000n]);
		expect(service.openedBy(walletOf(origin))[0]?.inputAmount).toBe(25_350_000n);
	});

	test("the order has the requested top-up in native units, or the quoted one of a value in USD", async ({
		world: { service, run },
	}) => {
		const [store, id] = [memoryStore(), "topped-up"];
		const named = { minOutput: 9_900_000n, store, id };
		expect(await run({ topUp: 3_000_000n, ...named })).toMatchObject({ status: "settled" });
		expect(await errorOf(run({ topUp: 3_000_001n, ...named }))).toMatchObject({ code: "INTENT_CHANGED" });
		expect(await run({ topUpUsd: "0.25" })).toMatchObject({ status: "settled" });
		expect(service.openedBy(walletOf(origin)).map(({ topUp }) => topUp)).toEqual([3_000_000n, 2_000_000n]);
	});

	test("an approver gets the top-up, and what is signed has the approved one even if the native token's price moves", async ({
		world: { service, run },
	}) => {
		service.refuse(buildPath, { code: "SIMULATION_FAILED", times: 1 });
		const asked: bigint[] = [];
		const onBeforeSign = ({ topUp }: SwapTerms) => {
			service.knobs.topUp -= 1_000n;
			return asked.push(topUp) > 0;
		};
		expect(await run({ topUpUsd: "0.25", onBeforeSign })).toMatchObject({ status: "settled" });
		expect(asked).toEqual([2_000_000n]);
		expect(service.openedBy(walletOf(origin))[0]?.topUp).toBe(2_000_000n);
	});

	test("between stables a top-up in USD lowers the minimum that needs no approval, and one in native units needs a minimum", async ({
		world: { service, run },
	}) => {
		service.knobs.output = 9_480_000n;
		expect(await errorOf(run({}))).toMatchObject({ code: "PRICE_NOT_ACCEPTED" });
		expect(await errorOf(run({ topUp: 1n }))).toMatchObject({ code: "PRICE_NOT_ACCEPTED" });
		expect(await run({ topUpUsd: "0.50" })).toMatchObject({ status: "settled" });
		expect(await run({ topUp: 1n, minOutput: 9_400_000n })).toMatchObject({ status: "settled" });
		service.knobs.output = 9_200_000n;
		expect(await errorOf(run({ topUpUsd: "0.50" }))).toMatchObject({ code: "PRICE_NOT_ACCEPTED" });
	});

	test("an approver who takes minutes is called once, because the next quote keeps the approved terms", async ({
		world: { service, executions, run },
	}) => {
		const asked: bigint[] = [];
		const onBeforeSign = async ({ minOutput }: SwapTerms) => {
			asked.push(minOutput);
			// The price falls while the approver decides, by less than the slippage.
			service.knobs.output -= 20_000n;
			await sleep(120_000);
			return true;
		};
		expect(await run({ onBeforeSign })).toMatchObject({ status: "settled" });
		expect(asked).toHaveLength(1);
		const [order] = service.openedBy(walletOf(origin));
		expect(order?.minOutput).toBeGreaterThanOrEqual(asked[0] ?? 0n);
		expect(executions()).toBe(1);
	});

	test("an approver is called again only if no quote keeps the approved minimum any more", async ({
		world: { service, run },
	}) => {
		service.refuse(buildPath, { code: "SIMULATION_FAILED", times: 2 });
		const asked: bigint[] = [];
		const outputs = [9_800_000n, 9_990_000n];
		const onBeforeSign = ({ minOutput }: SwapTerms) => {
			service.knobs.output = outputs.shift() ?? service.knobs.output;
			return asked.push(minOutput) > 0;
		};
		expect(await run({ onBeforeSign })).toMatchObject({ status: "settled" });
		expect(asked).toEqual([9_930_100n, 9_751_000n]);
		expect(service.countOf("/swap/quote")).toBe(3);
	});

	test("an abort ends the wait for an approver, and nothing is signed", async ({
		world: { service, run },
	}) => {
		const controller = new AbortController();
		const onBeforeSign = () => {
			controller.abort(new Error("enough"));
			return new Promise<boolean>(() => {});
		};
		await expect(run({ onBeforeSign, signal: controller.signal })).rejects.toThrow("enough");
		expect(service.countOf(buildPath)).toBe(0);
	});

	test("a quote that expires before it is built is requested again", async ({ world: { service, run } }) => {
		service.refuse(buildPath, { code: "QUOTE_EXPIRED" });
		expect(await run()).toMatchObject({ status: "settled" });
		expect(service.countOf("/swap/quote")).toBe(2);
	});

	test.for(["quote", "build", "submit", "status"] as const)(
		"the call waits for the Retry-After of the step %s",
		async (step, { world: { service, executions, run } }) => {
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
			expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(10_000 - quickness);
			expect(executions()).toBe(1);
		},
	);

	test("during an outage the same bytes are submitted until they are accepted", async ({
		world: { service, signed, run },
	}) => {
		service.refuse(submitPath, { code: "UPSTREAM_UNAVAILABLE", times: 4 });
		expect(await run()).toMatchObject({ status: "settled" });
		expect(service.countOf(submitPath)).toBe(5);
		expect(signed()).toBe(1);
	});

	test("if a service lost the swap, the same bytes are sent to it again", async ({
		world: { service, bodiesOf, signed, executions, run },
	}) => {
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

	test("if a service accepts the submit and never finds the swap, the call pauses between its requests", async ({
		world: { service, executions, run },
	}) => {
		service.refuse("/swap/status", { code: "SWAP_NOT_FOUND", times: 1_000 });
		await expect(run({ signal: AbortSignal.timeout(1_000) })).rejects.toMatchObject({ name: "TimeoutError" });
		expect(service.countOf(submitPath)).toBeLessThan(25);
		expect(executions()).toBe(1);
	});

	test.for([
		{ code: "OP_EXPIRED", next: "contact_operator" },
		{ code: "INVALID_SIGNATURE" },
		{ code: "TRANSACTION_CHANGED" },
		{ code: "UNAUTHORIZED" },
		{ code: "INVALID_TOKEN" },
		{ code: "INVALID_REQUEST" },
		{ code: "NOT_FOUND" },
	] as const)(
		"after $code ($next) at submit the error reports that the op may still execute, and nothing else is signed",
		async (refusal, { world: { service, signed, executions, run } }) => {
			const request = named();
			service.refuse(submitPath, refusal);
			const error = await errorOf(run(request));
			const next = refusal.code === "UNAUTHORIZED" ? "check_key" : "contact_operator";
			expect(error).toMatchObject({ code: refusal.code, next, mayExecute: true });
			expect(error).toMatchObject({ id: "intent-1", swapId: expect.stringMatching(/^swp_/) });
			expect(service.countOf("/swap/quote")).toBe(1);
			expect(await run(request)).toMatchObject({ status: "settled" });
			expect(signed()).toBe(1);
			expect(executions()).toBe(1);
		},
	);

	test("an accepted swap is found by its id when its token can no longer be read", async ({
		world: { service, executions, run },
	}) => {
		const request = named();
		service.knobs.fault = (path) => (path === submitPath ? { kind: "answer lost" } : undefined);
		const stop = new AbortController();
		const stopped = run({ ...request, signal: stop.signal });
		await vi.waitFor(() => expect(executions()).toBe(1), { timeout: 30_000 });
		stop.abort(new Error("stopped"));
		await expect(stopped).rejects.toThrow("stopped");
		service.knobs.fault = undefined;
		service.forgetTokens();
		expect(await run(request)).toMatchObject({ status: "settled" });
		expect(executions()).toBe(1);
	});

	test("if the token cannot be read and the swap is not found, the error advises to contact the operator and not to quote again", async ({
		world: { service, run, executions },
	}) => {
		const request = named();
		service.refuse(submitPath, { code: "UNAUTHORIZED" });
		const first = await errorOf(run(request));
		service.forgetTokens();
		const error = await errorOf(run(request));
		const { deadAt } = error.details ?? {};
		expect(error).toMatchObject({ code: "INVALID_TOKEN", next: "contact_operator", mayExecute: true });
		expect(error).toMatchObject({ id: "intent-1", swapId: first.swapId, retryable: false });
		expect(Date.parse(String(deadAt))).toBeGreaterThan(Date.now());
		expect(error.message).toContain(`${first.swapId}`);
		expect(error.message).toContain(String(deadAt));
		// The service's advice is for callers that have sent nothing yet. A balance may hold an input twice.
		expect(error.message).not.toContain("new quote");
		expect(error.message).toContain("nothing has left the wallet");
		expect(error.cause).toMatchObject({ message: expect.stringContaining("new quote") });
		expect(executions()).toBe(0);
	});

	test("a refusal with a Retry-After of zero is followed by a pause", async ({ world: { service, run } }) => {
		service.refuse(submitPath, { code: "INSUFFICIENT_BALANCE", retryAfterSeconds: 0, times: 1_000 });
		await expect(run({ signal: AbortSignal.timeout(1_000) })).rejects.toMatchObject({ name: "TimeoutError" });
		expect(service.countOf(submitPath)).toBeLessThan(25);
	});

	test("before anything is signed, an UNAUTHORIZED error reports that nothing was executed", async ({
		world: { service, run },
	}) => {
		for (const path of ["/swap/quote", buildPath] as const) {
			service.refuse(path, { code: "UNAUTHORIZED" });
			expect(await errorOf(run())).toMatchObject({ code: "UNAUTHORIZED", mayExecute: false });
		}
		expect(service.countOf(submitPath)).toBe(0);
	});

	test("a submit or status response that does not name the swap is not accepted", async ({
		world: { service, executions, run },
	}) => {
		const request = named();
		service.knobs.lie = (path, body) => (path === submitPath ? { ok: true } : body);
		expect(await errorOf(run(request))).toMatchObject({ code: "UNEXPECTED_RESPONSE", mayExecute: true });
		let lies = 2;
		service.knobs.lie = (path, body) => (path === "/swap/status" && lies-- > 0 ? { ok: true } : body);
		expect(await run(request)).toMatchObject({ status: "settled", orderId: expect.any(String) });
		expect(executions()).toBe(1);
	});

	test("an id stands for one intent, so a call with another value is refused, and the error names the field", async ({
		world: { service, run },
	}) => {
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

	test("two concurrent calls for one intent make one swap, and the second fails with SWAP_IN_PROGRESS", async ({
		world: { executions, run },
	}) => {
		const request = named();
		const [first, second] = await Promise.allSettled([run(request), run(request)]);
		expect(first).toMatchObject({ status: "fulfilled", value: { status: "settled" } });
		expect(second).toMatchObject({ reason: { code: "SWAP_IN_PROGRESS", mayExecute: true, next: "retry" } });
		expect(await run(request)).toEqual((first as PromiseFulfilledResult<unknown>).value);
		expect(executions()).toBe(1);
	});

	test("a call for an intent that another call has signed fails with SWAP_IN_PROGRESS and the id of the swap", async ({
		world: { run },
	}) => {
		const request = named();
		let second: Promise<unknown> | undefined;
		const { swapId } = await run({
			...request,
			onProgress: ({ step }) => {
				if (step === "submitted") second ??= errorOf(run(request));
			},
		});
		expect(await second).toMatchObject({ code: "SWAP_IN_PROGRESS", mayExecute: true, swapId });
	});

	test.for(["lock", "get", "set"] as const)(
		"if the store cannot %s, nothing is submitted and the call fails with INTERRUPTED",
		async (method, { world: { service, run } }) => {
			const broken = { ...memoryStore(), [method]: async () => Promise.reject(new Error("disk is full")) };
			expect(await errorOf(run({ id: "intent-1", store: broken }))).toMatchObject({
				code: "INTERRUPTED",
				mayExecute: true,
				cause: { message: "disk is full" },
			});
			expect(service.countOf(submitPath)).toBe(0);
		},
	);

	test("if the store fails after the submit, the next call continues from the record", async ({
		world: { executions, run },
	}) => {
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

	test("a lock that cannot be released does not hide the result of the swap", async ({ world: { run } }) => {
		const store: SwapStore = {
			...memoryStore(),
			lock: async () => async () => Promise.reject(new Error("gone")),
		};
		expect(await run({ id: "intent-1", store })).toMatchObject({ status: "settled" });
	});

	test("a lock whose release returns no promise works too", async ({ world: { run } }) => {
		const unlock = (() => {}) as unknown as () => Promise<void>;
		const store: SwapStore = { ...memoryStore(), lock: async () => unlock };
		expect(await run({ id: "intent-1", store })).toMatchObject({ status: "settled" });
	});

	test("a callback that throws interrupts the call, and the next call continues", async ({
		world: { executions, run },
	}) => {
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

	test("the error about a damaged record advises to wait 15 minutes before checking", async ({
		world: { run },
	}) => {
		const request = named();
		await request.store.set("intent-1", "{");
		expect((await errorOf(run(request))).message).toContain("Wait 15 minutes, then look");
	});

	test.for(["{", '{"version":2}', "null"])(
		"a record with the content %s is an error, and no request is made",
		async (text, { world: { service, run } }) => {
			const request = named();
			await request.store.set("intent-1", text);
			expect(await errorOf(run(request))).toMatchObject({ code: "RECORD_UNREADABLE", mayExecute: true });
			expect(service.requests).toEqual([]);
		},
	);

	test("an id without a store is refused before any request", async ({ world: { service, run } }) => {
		await expect(run({ id: "intent-1" })).rejects.toThrow(TypeError);
		expect(service.requests).toEqual([]);
	});

	test.for([{}, undefined, "deployment.json", { chains: {} }])(
		"a call with %j as its pins is refused before any request",
		async (pins, { world: { service, run } }) => {
			const error = await run({ pins: pins as never }).catch((thrown: unknown) => thrown);
			expect(error).toBeInstanceOf(TypeError);
			expect((error as TypeError).message).toContain("deployment.json");
			expect(service.requests).toEqual([]);
		},
	);

	test("a malformed quote is refused, and nothing is submitted", async ({ world: { service, run } }) => {
		for (const quote of [{}, { minOutput: "x" }, { minOutput: 5 }, { swapId: 5, minOutput: "5" }]) {
			service.knobs.lie = () => quote;
			expect(await errorOf(run({ minOutput: 1n }))).toMatchObject({ mayExecute: false });
		}
		expect(service.countOf(submitPath)).toBe(0);
	});
});
