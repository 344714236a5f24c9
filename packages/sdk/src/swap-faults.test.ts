import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { type Fault, type Path, type Refusal, startModelService } from "../test/model-service.ts";
import { account } from "../test/op-fixture.ts";
import {
	buildPaths,
	makeSwapRequest,
	type Origin,
	origins,
	submitPaths,
	walletOf,
} from "../test/swap-request.ts";
import type { Client } from "./create-client.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { swap } from "./swap.ts";
import { memoryStore, type SwapStore } from "./swap-store.ts";
import type { EndedSwap } from "./wait-for-swap.ts";

vi.mock("./sleep.ts", async (original) => (await import("../test/quick-time.ts")).quickTime(original));

const opMs = 45_000;
const openMs = 60_000;
/**
 * Plans that run concurrently. They wait nearly all the time, but with more of them ops would expire while others are
 * computed, because a second is nearly a minute here.
 */
const atOnce = 10;

type Crash = {
	at: "request" | "write";
	/** Counted among all requests or writes of this intent, over all its calls. */
	nth: number;
	/** The crash comes before or after the request or write has taken effect. */
	when: "before" | "after";
};
type Plan = {
	origin: Origin;
	/** Faults for the path's requests, in turn; the service works well once they are used up. */
	faults: Record<"quote" | "build" | "submit" | "status", (Fault | null)[]>;
	crashes: Crash[];
	refusals: Refusal[];
	isDelegated: boolean;
	/** True if another transaction of the wallet overtakes the authorization, once the first op is signed. */
	isOvertaken: boolean;
	/** True if the same id is requested again after an error that reports that nothing was executed. */
	goesOn: boolean;
};

const fault: fc.Arbitrary<Fault> = fc.oneof(
	fc.record({
		kind: fc.constantFrom(
			...(["lost", "answer lost", "doubled", "cut", "error before", "error after", "proxy error"] as const),
		),
	}),
	fc.record({
		kind: fc.constantFrom(...(["late", "copied late"] as const)),
		lateMs: fc.integer({ min: 0, max: 2 * opMs }),
	}),
	fc.constant({ kind: "restored" } as const),
);
/** Errors of a service that lies. It has what was signed, and may execute it while the chain allows that. */
const lies = ["OP_EXPIRED", "INVALID_SIGNATURE", "INVALID_AUTHORIZATION"] as const;
const lie: fc.Arbitrary<Fault> = fc.record({
	kind: fc.constant("kept" as const),
	says: fc.constantFrom(...lies),
	lateMs: fc.integer({ min: 0, max: 2 * opMs }),
});
const faultsUpTo = (maxLength: number, one = fault) => fc.array(fc.option(one, { freq: 2 }), { maxLength });
const refusal: fc.Arbitrary<Refusal> = fc.record({
	code: fc.constantFrom("LIQUIDITY_CHANGED", "INSUFFICIENT_BALANCE", "SIMULATION_FAILED", "RATE_LIMITED"),
	times: fc.constantFrom(1, 2, 30),
	retryAfterSeconds: fc.constant(2),
});
const plan: fc.Arbitrary<Plan> = fc.record({
	origin: fc.constantFrom(...origins),
	faults: fc.record({
		quote: faultsUpTo(3),
		build: faultsUpTo(3),
		submit: fc.oneof(faultsUpTo(8), faultsUpTo(8, fc.oneof(fault, lie)), faultsUpTo(3, lie)),
		status: faultsUpTo(4),
	}),
	crashes: fc.array(
		fc.record({
			at: fc.constantFrom("request" as const, "write" as const),
			nth: fc.integer({ min: 0, max: 12 }),
			when: fc.constantFrom("before" as const, "after" as const),
		}),
		{ maxLength: 4 },
	),
	refusals: fc.array(refusal, { maxLength: 2 }),
	isDelegated: fc.boolean(),
	isOvertaken: fc.boolean(),
	goesOn: fc.boolean(),
});

/** Plans with each lie to each wallet, in addition to the random plans. */
const everyLie = origins.flatMap((origin) =>
	lies.map((says): Plan => {
		const submit = [{ kind: "kept" as const, says, lateMs: 20_000 }];
		return {
			origin,
			faults: { quote: [], build: [], submit, status: [] },
			crashes: [],
			refusals: [],
			isDelegated: true,
			isOvertaken: false,
			goesOn: true,
		};
	}),
);

class Crashed extends Error {}

/** Returns a process's client and store until it dies. The service may still receive requests that it began. */
function startProcess({ client, store, strike }: { client: Client; store: SwapStore; strike: Strike }) {
	const death = new AbortController();
	const die = () => {
		death.abort(new Crashed());
		return death.signal.reason as Error;
	};
	const dyingFetch: typeof fetch = async (url, init) => {
		const when = strike("request");
		if (when === "before") throw die();
		// The process's signal is not used, because a request that was sent arrives even if its process is dead.
		const sent = fetch(url, { ...init, signal: AbortSignal.timeout(10_000) });
		if (when === "after") {
			await sent.catch(() => {});
			throw die();
		}
		return sent;
	};
	const dyingStore: SwapStore = {
		...store,
		set: async (id, text) => {
			const when = strike("write");
			if (when === "before") throw die();
			await store.set(id, text);
			if (when === "after") throw die();
		},
	};
	return { client: { ...client, fetch: dyingFetch }, store: dyingStore, signal: death.signal };
}
type Strike = (at: Crash["at"]) => Crash["when"] | undefined;

async function carryOut({ origin, faults, crashes, refusals, ...state }: Plan): Promise<void> {
	const service = await startModelService({ opMs, openMs });
	const { client, knobs } = service;
	const names: Partial<Record<Path, keyof Plan["faults"]>> = {
		"/swap/quote": "quote",
		[buildPaths[origin]]: "build",
		[submitPaths[origin]]: "submit",
		"/swap/status": "status",
	};
	knobs.fault = (path) => {
		const name = names[path];
		return name && (faults[name][service.countOf(path) - 1] ?? undefined);
	};
	knobs.isDelegated = state.isDelegated;
	service.refuse(submitPaths[origin], ...refusals);
	const counts = { request: 0, write: 0 };
	const strike: Strike = (at) => {
		const nth = counts[at]++;
		return crashes.find((crash) => crash.at === at && crash.nth === nth)?.when;
	};
	const store = memoryStore();
	let isOvertaken = !state.isOvertaken;
	const overtaken: typeof account = {
		...account,
		signMessage: async (args) => {
			if (!isOvertaken) knobs.accountNonce++;
			isOvertaken = true;
			return account.signMessage(args);
		},
	};

	const call = async (): Promise<EndedSwap | GeoswapError | Crashed> => {
		const { client: dying, ...process } = startProcess({ client, store, strike });
		const request = await makeSwapRequest(origin, { id: "intent-1", ...process });
		if (origin === "evm") request.signer = overtaken;
		return swap(dying, request).catch((error: unknown) => {
			if (error instanceof GeoswapError || error instanceof Crashed) return error;
			throw error;
		});
	};
	const executions = () => service.openedBy(walletOf(origin)).length;

	try {
		for (let calls = 0; ; calls++) {
			expect(calls, "calls until it ends").toBeLessThan(20);
			const outcome = await call();
			if (outcome instanceof Crashed) continue;
			if (!(outcome instanceof GeoswapError)) {
				await service.allArrived();
				expect(outcome.status).toBe("settled");
				expect(executions()).toBe(1);
				expect(await call()).toEqual(outcome);
				return;
			}
			expect(outcome.mayExecute, outcome.message).toBeTypeOf("boolean");
			if (outcome.mayExecute) continue;
			await service.allArrived();
			expect(executions(), `after ${outcome.code}, when nothing was executed`).toBe(0);
			if (!state.goesOn) return;
		}
	} finally {
		await service.close();
	}
}

test("under random faults, false responses and crashes, an intent ends in one swap or in an error after which nothing is executed", async () => {
	const { batches, size } = process.env.GEOSWAP_FULL ? { batches: 40, size: 50 } : { batches: 1, size: 20 };
	await fc.assert(
		fc.asyncProperty(fc.array(plan, { minLength: size, maxLength: size }), async (plans) => {
			const waiting = [...everyLie, ...plans];
			await Promise.all(
				Array.from({ length: atOnce }, async () => {
					for (let next = waiting.shift(); next; next = waiting.shift()) {
						const text = JSON.stringify(next);
						await carryOut(next).catch((cause: unknown) => {
							throw new Error(`${(cause as Error).message}: ${text}`, { cause });
						});
					}
				}),
			);
		}),
		{ numRuns: batches, endOnFailure: true },
	);
}, 1_200_000);
