import { solanaChainId } from "@geoswap/protocol";
import { type Address, numberToHex } from "viem";
import { expect, test } from "vitest";
import { createFeeDiscounts } from "./fee-discounts.ts";

const tiers = [
	{ name: "bronze", minimum: "10", discountPercent: 10 },
	{ name: "gold", minimum: "1000", discountPercent: 50 },
];
const wallet = numberToHex(0xa11ce, { size: 20 });

/** Creates discounts with a clock and a chain controlled by the test. */
function scene({ cacheSeconds = 300 } = {}) {
	const state = {
		nowMs: 1_000_000,
		balance: 10n,
		read: async (_wallet: Address, _signal: AbortSignal): Promise<bigint> => state.balance,
	};
	const reads: Address[] = [];
	const errors: unknown[] = [];
	const { tierOf } = createFeeDiscounts({
		tiers,
		decimals: 0,
		cacheSeconds,
		timeoutMs: 20,
		readBalance: (asked, signal) => {
			reads.push(asked);
			return state.read(asked, signal);
		},
		nowMs: () => state.nowMs,
		onError: (error) => errors.push(error),
	});
	const nameOf = async (
		asked: string = wallet,
		{ chainId: originChainId = 1, accountId = "account" } = {},
	) => {
		const tier = await tierOf(asked, { originChainId, accountId });
		return tier?.name;
	};
	return { state, reads, errors, nameOf };
}
const down = () => Object.assign(new Error("down"), { name: "HttpRequestError" });
/** Wraps an error like viem does, with the original error as the cause. */
const wrapped = (cause: Error) => Object.assign(new Error("call", { cause }), { name: "CallExecutionError" });
const reverted = () => wrapped(Object.assign(new Error("reverted"), { name: "ExecutionRevertedError" }));
const nth = (i: number) => numberToHex(i + 1, { size: 20 });
const settle = () => new Promise(setImmediate);
/** Resolves to the call's result if it waits for no timer and no I/O, otherwise to "waits". */
const atOnce = <Result>(call: Promise<Result>) => Promise.race([call, settle().then(() => "waits")]);

test("a wallet's first calls already get its tier, from one shared read", async () => {
	const { reads, nameOf } = scene();
	expect(await Promise.all([nameOf(), nameOf(), nameOf()])).toEqual(["bronze", "bronze", "bronze"]);
	expect(await nameOf(wallet.toUpperCase().replace("0X", "0x"), { chainId: 2 })).toBe("bronze");
	expect(reads).toEqual([wallet]);
});

test("a first call waits about 100 ms for the read, and a later call gets the result", async () => {
	const { state, nameOf } = scene();
	let answer = (_balance: bigint) => {};
	state.read = () => new Promise((resolve) => (answer = resolve));
	const startMs = performance.now();
	expect(await nameOf()).toBeUndefined();
	const waitedMs = performance.now() - startMs;
	expect(waitedMs).toBeGreaterThanOrEqual(95);
	expect(waitedMs).toBeLessThan(1_000);
	// The read is still in flight, and the next call does not wait for it again.
	expect(await atOnce(nameOf())).toBeUndefined();
	answer(1_000n);
	await settle();
	expect(await nameOf()).toBe("gold");
});

test("a call whose wallet cannot be read because other reads hang does not wait", async () => {
	const { state, reads, nameOf } = scene();
	state.read = () => new Promise(() => {});
	const hanging = Array.from({ length: 4 }, (_, i) => nameOf(nth(i), { accountId: `account ${i}` }));
	expect(await atOnce(nameOf())).toBeUndefined();
	expect(reads).not.toContain(wallet);
	await Promise.all(hanging);
});

test("a Solana wallet, and any text that is not an address, has no tier and costs no read", async () => {
	const { reads, nameOf } = scene();
	for (const text of ["", "0x", `${wallet}0`, "x".repeat(40_000), "0xzz", "__proto__"]) {
		expect(await nameOf(text)).toBeUndefined();
	}
	expect(await nameOf(wallet, { chainId: solanaChainId })).toBeUndefined();
	await settle();
	expect(reads).toEqual([]);
});

test("a stale tier applies while it is read again once, and then the new one applies", async () => {
	const { state, reads, nameOf } = scene();
	void nameOf();
	await settle();
	state.nowMs += 299_999;
	expect(await nameOf()).toBe("bronze");
	expect(reads).toHaveLength(1);
	state.nowMs += 1;
	state.balance = 1_000n;
	expect(await Promise.all([nameOf(), nameOf()])).toEqual(["bronze", "bronze"]);
	await settle();
	expect(await nameOf()).toBe("gold");
	state.nowMs += 300_000;
	state.balance = 9n;
	expect(await nameOf()).toBe("gold");
	await settle();
	expect(await nameOf()).toBeUndefined();
	expect(reads).toHaveLength(3);
});

test("if the chain is down a tier applies for ten times as long, and no longer", async () => {
	const { state, nameOf } = scene();
	void nameOf();
	await settle();
	state.read = () => Promise.reject(wrapped(down()));
	for (let i = 0; i < 9; i++) {
		state.nowMs += 300_000;
		expect(await nameOf()).toBe("bronze");
		await settle();
	}
	state.nowMs += 299_999;
	expect(await nameOf()).toBe("bronze");
	state.nowMs += 1;
	expect(await nameOf()).toBeUndefined();
});

test("a chain that is down is read again only after five seconds, regardless of how many quotes there are", async () => {
	const { state, reads, errors, nameOf } = scene();
	state.read = () => Promise.reject(wrapped(down()));
	void nameOf();
	await settle();
	for (let i = 0; i < 1_000; i++) void nameOf(nth(i));
	await settle();
	expect(reads).toHaveLength(1);
	expect(errors).toHaveLength(1);
	state.nowMs += 5_000;
	state.read = async () => 10n;
	void nameOf();
	await settle();
	expect(await nameOf()).toBe("bronze");
});

test("a read that the chain does not answer is aborted at its deadline, and no call fails", async () => {
	const { state, errors, nameOf } = scene();
	state.read = (_, signal) =>
		new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
	expect(await nameOf()).toBeUndefined();
	await expect.poll(() => errors).toHaveLength(1);
	expect(errors[0]).toMatchObject({ name: "TimeoutError" });
	expect(await nameOf()).toBeUndefined();
});

test("a wallet whose read is refused is read again after five seconds, and does not delay other wallets", async () => {
	const { state, reads, errors, nameOf } = scene();
	state.read = (asked) => (asked === wallet ? Promise.reject(reverted()) : Promise.resolve(10n));
	for (let i = 0; i < 3; i++) {
		void nameOf();
		await settle();
	}
	expect(reads).toEqual([wallet]);
	expect(errors).toHaveLength(1);
	void nameOf(nth(1));
	await settle();
	expect(await nameOf(nth(1))).toBe("bronze");
	state.nowMs += 5_000;
	state.read = async () => 1_000n;
	void nameOf();
	await settle();
	expect(await nameOf()).toBe("gold");
});

test("out of many wallets, four are read concurrently and twenty per second, regardless of the number of accounts", async () => {
	const { state, reads, nameOf } = scene();
	let underWay = 0;
	let most = 0;
	state.read = async () => {
		most = Math.max(most, ++underWay);
		await settle();
		underWay--;
		return 0n;
	};
	const ask = (i: number) => nameOf(nth(i), { accountId: `account ${i % 50}` });
	for (let i = 0; i < 100; i++) void ask(i);
	expect(reads).toHaveLength(4);
	for (let i = 0; i < 2_000; i++) {
		void ask(1_000 + i);
		if (i % 20 === 0) await settle();
	}
	expect(most).toBe(4);
	expect(reads.length).toBeLessThanOrEqual(20);
	const first = reads.length;
	for (let second = 0; second < 10; second++) {
		for (let i = 0; i < 200; i++) {
			state.nowMs += 5;
			void ask(10_000 + second * 200 + i);
			await settle();
		}
	}
	expect(reads.length - first).toBeLessThanOrEqual(10 * 20 + 1);
	expect(reads.length - first).toBeGreaterThan(10 * 19);
});

test("an account that repeatedly names new wallets gets four reads per second, and does not delay the reads of other accounts", async () => {
	const { state, reads, nameOf } = scene();
	const flood = async (from: number) => {
		for (let i = 0; i < 100; i++) {
			state.nowMs += 10;
			void nameOf(nth(from + i), { accountId: "flood" });
			await settle();
		}
	};
	await flood(0);
	const first = reads.length;
	for (let second = 1; second <= 10; second++) {
		await flood(second * 1_000);
		void nameOf(nth(100_000 + second), { accountId: "other" });
		await settle();
		expect(await nameOf(nth(100_000 + second), { accountId: "other" })).toBe("bronze");
	}
	expect(reads.length - first - 10).toBeLessThanOrEqual(10 * 4 + 1);
});

test("an account that repeatedly requests known wallets takes no first or repeated read from others", async () => {
	const { state, reads, nameOf } = scene({ cacheSeconds: 30 });
	const ask = async (i: number, accountId: string) => {
		void nameOf(nth(i), { accountId });
		await settle();
	};
	for (let i = 0; i < 600; i++) {
		state.nowMs += 250;
		await ask(i, "flood");
	}
	await ask(99_999, "other");
	state.nowMs += 60_000;
	const first = reads.length;
	// Twenty quotes per second for a minute, for wallets whose tier is stale.
	for (let i = 0; i < 60 * 20; i++) {
		state.nowMs += 50;
		await ask(i % 600, "flood");
		if (i % 10 === 0) await ask(100_000 + i, "other");
	}
	const honest = reads.slice(first).filter((asked) => BigInt(asked) > 100_000n);
	expect(honest).toHaveLength(120);
	expect(reads.length - first - honest.length).toBeLessThanOrEqual(60 * 4 + 10);
	state.balance = 1_000n;
	await ask(99_999, "other");
	expect(await nameOf(nth(99_999), { accountId: "other" })).toBe("gold");
});

test("a new wallet is read even while repeated reads of many accounts hang", async () => {
	const { state, nameOf } = scene();
	for (let i = 0; i < 20; i++) {
		void nameOf(nth(i), { accountId: `account ${i}` });
		await settle();
		state.nowMs += 1_000;
	}
	state.nowMs += 300_000;
	state.read = (asked) => (asked === wallet ? Promise.resolve(10n) : new Promise(() => {}));
	for (let i = 0; i < 20; i++) void nameOf(nth(i), { accountId: `account ${i}` });
	expect(await nameOf()).toBe("bronze");
});

test("a wallet with a tier is read again even while reads of other wallets hang", async () => {
	const { state, nameOf } = scene();
	void nameOf();
	await settle();
	state.nowMs += 300_000;
	state.read = (asked) => (asked === wallet ? Promise.resolve(1_000n) : new Promise(() => {}));
	for (let i = 0; i < 20; i++) void nameOf(nth(i), { accountId: `account ${i}` });
	void nameOf();
	await settle();
	expect(await nameOf()).toBe("gold");
});

test("a wallet with a tier is read again even during a flood of other wallets", async () => {
	const { state, reads, nameOf } = scene();
	void nameOf();
	await settle();
	state.nowMs += 300_000;
	for (let i = 0; i < 500; i++) {
		void nameOf(nth(i));
		await settle();
	}
	state.balance = 1_000n;
	void nameOf();
	await settle();
	expect(reads.at(-1)).toBe(wallet);
	expect(await nameOf()).toBe("gold");
});

test("ten thousand wallets are cached, and the least recently used one is evicted first", async () => {
	// With this cache time no tier is stale at its next request.
	const { state, reads, nameOf } = scene({ cacheSeconds: 1_000_000 });
	const ask = async (asked: Address) => {
		state.nowMs += 1_000;
		const name = nameOf(asked);
		await settle();
		return name;
	};
	for (let i = 0; i < 10_000; i++) await ask(nth(i));
	expect(await ask(nth(0))).toBe("bronze");
	await ask(nth(10_000));
	expect(reads).toHaveLength(10_001);
	expect(await ask(nth(0))).toBe("bronze");
	expect(await ask(nth(2))).toBe("bronze");
	expect(reads).toHaveLength(10_001);
	await ask(nth(1));
	expect(reads).toHaveLength(10_002);
});
