import { test as base, describe, expect, vi } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { makeBudget } from "../test/make-budget.ts";
import { type ModelService, startModelService } from "../test/model-service.ts";
import { makeSwapRequest, type Origin, origins, submitPaths, walletOf } from "../test/swap-request.ts";
import { openLedger } from "./budget-ledger.ts";
import { memoryStore } from "./swap-store.ts";
import { type BudgetedSwap, swapWithinBudget } from "./swap-within-budget.ts";

vi.mock("./sleep.ts", async (original) => (await import("../test/quick-time.ts")).quickTime(original));

async function startWorld(origin: Origin, service: ModelService) {
	const store = memoryStore();
	const ledger = openLedger({ budget: makeBudget(), store: memoryStore() });
	const run = async (id: string, changes: Partial<BudgetedSwap> = {}) => {
		const { recipient = walletOf(origin), ...request } = await makeSwapRequest(origin);
		const terms = { ...request, recipient, id, store, minOutput: 9_900_000n, ...changes } as BudgetedSwap;
		return swapWithinBudget(service.client, ledger, terms);
	};
	return { store, ledger, run, executions: () => service.openedBy(walletOf(origin)).length };
}

describe.each(origins)("from %s", { concurrent: true }, (origin) => {
	const test = base.extend<{ service: ModelService }>({
		// biome-ignore lint/correctness/noEmptyPattern: what a fixture needs is read from its pattern
		service: async ({}, use) => {
			const service = await startModelService({ opMs: 30_000, openMs: 40_000 });
			await use(service);
			await service.close();
		},
	});

	test("the amount is reserved before the wallet signs, and stays spent if the swap settles", async ({
		service,
	}) => {
		const { ledger, run } = await startWorld(origin, service);
		const { signer } = await makeSwapRequest(origin);
		const { evmSigner } = await import("./evm-signer.ts");
		const real = "origin" in signer ? signer : evmSigner(signer);
		let reserved = 0;
		const sign: typeof real.sign = async (...call) => {
			reserved = (await ledger.list()).length;
			return real.sign(...call);
		};
		expect(await run("one", { signer: { ...real, sign } })).toMatchObject({ status: "settled" });
		expect(reserved).toBe(1);
		expect(await ledger.list()).toMatchObject([{ id: "one", amount: 10_000_000n }]);
	});

	test("nothing is signed above the budget, and calls with the same id swap once", async ({ service }) => {
		const { run, executions } = await startWorld(origin, service);
		await run("one");
		await run("one");
		await run("two");
		const refusal = await errorOf(run("three"));
		expect(refusal).toMatchObject({ code: "BUDGET_REFUSED", mayExecute: false });
		expect(executions()).toBe(2);
	});

	test("a swap that was refunded returns its share of the budget", async ({ service }) => {
		service.knobs.endsAs = "refunded";
		const { ledger, run } = await startWorld(origin, service);
		expect(await run("one")).toMatchObject({ status: "refunded" });
		expect(await ledger.list()).toEqual([]);
	});

	test.each([
		["less than the input", { amount: "9999999" }],
		["the money elsewhere", { holder: "escrow" }],
		["another token", { token: "0x" }],
		["another chain", { chainId: 1 }],
	])("a swap that was refunded with %s keeps its share of the budget", async (_, changes) => {
		const service = await startModelService({ opMs: 30_000, openMs: 40_000 });
		service.knobs.endsAs = "refunded";
		service.knobs.lie = (path, body: { funds: object }) =>
			path === "/swap/status" ? { ...body, funds: { ...body.funds, ...changes } } : body;
		const { ledger, run } = await startWorld(origin, service);
		await run("one");
		expect(await ledger.list()).toHaveLength(1);
		await service.close();
	});

	test("a signature that is refused in advance reserves nothing", async ({ service }) => {
		const { ledger, run, executions } = await startWorld(origin, service);
		const beforeSign = () => {
			throw new Error("no longer wanted");
		};
		expect(await errorOf(run("one", { beforeSign }))).toMatchObject({ mayExecute: false });
		expect([await ledger.list(), executions()]).toEqual([[], 0]);
	});

	test("a signed swap keeps its share of the budget until it can certainly no longer execute", async ({
		service,
	}) => {
		service.refuse(submitPaths[origin], { code: "INSUFFICIENT_BALANCE", times: 1_000 });
		const { ledger, run } = await startWorld(origin, service);
		let isListed = false;
		const onProgress = async () => {
			isListed ||= (await ledger.list()).length === 1;
		};
		expect(await errorOf(run("one", { onProgress: () => void onProgress() }))).toMatchObject({
			code: "INSUFFICIENT_BALANCE",
			mayExecute: false,
		});
		expect(isListed).toBe(true);
		expect(await ledger.list()).toEqual([]);
	});

	test("an aborted call keeps the share of the op that it signed, and a later call returns it", async ({
		service,
	}) => {
		service.knobs.endsAs = "refunded";
		const { ledger, run } = await startWorld(origin, service);
		const controller = new AbortController();
		const reason = new Error("the program ends");
		const aborted = run("one", {
			signal: controller.signal,
			onProgress: ({ step }) => {
				if (step === "submitted") controller.abort(reason);
			},
		});
		await expect(aborted).rejects.toBe(reason);
		expect(await ledger.list()).toHaveLength(1);
		const beforeSign = () => {
			throw new Error("a call that follows signs nothing");
		};
		expect(await run("one", { beforeSign })).toMatchObject({ status: "refunded" });
		expect(await ledger.list()).toEqual([]);
	});
});
