import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openSignerState, type SignerState } from "./open-signer-state.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-signer-state-"));
afterAll(() => rmSync(folder, { recursive: true }));
const caps = new Map([["paid", { perHour: 100n, perDay: 250n }]]);
let files = 0;
const newPath = () => join(folder, `${files++}.sqlite`);
const hourMs = 3_600_000;

function pay(state: SignerState, digest: string, amount: bigint, item = digest): void {
	state.reserve({ id: { key: "k", digest }, charges: [{ meter: "paid", item, amount }] });
}

test("a cap holds for any hour and any day, and a restart renews nothing", () => {
	const path = newPath();
	let now = 10_000 * hourMs;
	const open = () => openSignerState({ path, caps, nowMs: () => now });
	let state = open();
	pay(state, "a", 60n);
	expect(() => pay(state, "b", 41n)).toThrow("an hour");
	state.close();
	state = open();
	expect(() => pay(state, "b", 41n)).toThrow("an hour");
	pay(state, "b", 40n);
	now += hourMs - 60_000;
	expect(() => pay(state, "c", 1n)).toThrow("an hour");
	now += 2 * 60_000;
	pay(state, "c", 100n);
	now += hourMs + 60_000;
	pay(state, "d", 50n);
	expect(() => pay(state, "e", 1n)).toThrow("a day");
	// A clock that was set back does not renew the cap either.
	now -= 30 * hourMs;
	expect(() => pay(state, "e", 1n)).toThrow("a");
	now += 56 * hourMs;
	pay(state, "e", 100n);
	state.close();
});

test("decisions about orders survive a restart, for longer than any escrow keeps an input", () => {
	const path = newPath();
	let now = 10_000 * hourMs;
	const open = () => openSignerState({ path, caps, nowMs: () => now });
	const place = { orderId: "0x01", chainId: 1, vault: "0x02", fillDeadline: 3, refundAfter: 4 } as const;
	let state = open();
	state.reserve({
		id: { key: "k", digest: "a" },
		charges: [],
		decisions: [
			{ end: "delivery", place, orderId: "0x01" },
			{ end: "return", orderId: "0x02" },
		],
	});
	state.close();
	state = open();
	expect(state.decisionsOf("0x01")).toEqual([{ end: "delivery", place }]);
	// No escrow keeps an input for longer than three days.
	now += 3 * 24 * hourMs;
	pay(state, "b", 1n);
	expect(state.decisionsOf("0x02")).toEqual([{ end: "return" }]);
	now += 300 * 24 * hourMs;
	pay(state, "c", 1n);
	expect(state.decisionsOf("0x01")).toEqual([]);
	state.close();
});

test("payloads for one item count as the highest of them, and a refused payload counts nothing", () => {
	const state = openSignerState({ path: newPath(), caps, nowMs: () => hourMs });
	pay(state, "first", 70n, "order");
	pay(state, "replacement", 80n, "order");
	pay(state, "cheaper", 10n, "order");
	expect(() => pay(state, "too much", 101n, "order")).toThrow("cap");
	expect(state.recall({ key: "k", digest: "too much" })).toBeUndefined();
	expect(state.report()).toMatchObject([{ meter: "paid", hour: 80n, day: 80n }]);
	state.close();
});

test("whatever is asked for, and however often the signer is killed, no hour pays more than its cap", () => {
	fc.assert(
		fc.property(
			fc.array(fc.record({ amount: fc.bigInt(1n, 120n), passMs: fc.nat(hourMs), isKilled: fc.boolean() }), {
				maxLength: 30,
			}),
			(asks) => {
				const path = newPath();
				let now = 50_000 * hourMs;
				const open = () => openSignerState({ path, caps, nowMs: () => now });
				let state = open();
				const paid: { at: number; amount: bigint }[] = [];
				for (const [i, { amount, passMs, isKilled }] of asks.entries()) {
					now += passMs;
					if (isKilled) {
						state.close();
						state = open();
					}
					try {
						pay(state, String(i), amount);
						paid.push({ at: now, amount });
					} catch {}
				}
				state.close();
				for (const { at } of paid) {
					const within = (ms: number) =>
						paid.filter((one) => one.at <= at && one.at > at - ms).reduce((sum, one) => sum + one.amount, 0n);
					expect(within(hourMs)).toBeLessThanOrEqual(100n);
					expect(within(24 * hourMs)).toBeLessThanOrEqual(250n);
				}
			},
		),
		{ numRuns: 15 },
	);
});

test("a second signer does not start on the same file, and a meter without a cap allows nothing", () => {
	const path = newPath();
	const state = openSignerState({ path, caps, nowMs: Date.now });
	expect(() => openSignerState({ path, caps, nowMs: Date.now })).toThrow("another signer uses this file");
	expect(() =>
		state.reserve({ id: { key: "k", digest: "x" }, charges: [{ meter: "unknown", item: "x", amount: 1n }] }),
	).toThrow("no cap");
	state.close();
});
