import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPriceTurns } from "./price-turns.ts";

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
});

/** Reads prices like a chain's loop. Returns when each read began. */
function scene({ pollMs = 1_000, readMs = 50 } = {}) {
	const stopping = new AbortController();
	const turns = createPriceTurns({ pollMs, nowMs: Date.now, signal: stopping.signal });
	const reads: number[] = [];
	const startedMs = Date.now();
	const loop = (async () => {
		while (!stopping.signal.aborted) {
			reads.push(Date.now() - startedMs);
			await new Promise((resolve) => setTimeout(resolve, readMs));
			turns.noteRead();
			await turns.pause();
		}
	})();
	const stop = async () => {
		stopping.abort();
		await vi.advanceTimersByTimeAsync(readMs);
		await loop;
	};
	return { turns, reads, stop };
}

test("prices without demand are read every ten seconds, and with each poll for a minute after a quote", async () => {
	const { turns, reads, stop } = scene();
	await vi.advanceTimersByTimeAsync(60_000);
	expect(reads.length).toBeLessThanOrEqual(7);
	const before = reads.length;
	void turns.want();
	await vi.advanceTimersByTimeAsync(60_000);
	expect(reads.length - before).toBeGreaterThan(50);
	const after = reads.length;
	await vi.advanceTimersByTimeAsync(60_000);
	expect(reads.length - after).toBeLessThanOrEqual(8);
	await stop();
});

test("the first quote after a pause waits for one read, the next ones wait for nothing", async () => {
	const { turns, reads, stop } = scene();
	await vi.advanceTimersByTimeAsync(5_000);
	const before = reads.length;
	let isDone = false;
	const waiting = turns.want().then(() => {
		isDone = true;
	});
	await vi.advanceTimersByTimeAsync(40);
	expect(isDone).toBe(false);
	await vi.advanceTimersByTimeAsync(20);
	await waiting;
	expect(reads.length - before).toBe(1);
	await turns.want();
	await stop();
});

test("a quote does not wait for more than a second for a chain that does not respond", async () => {
	const { turns, stop } = scene({ readMs: 30_000 });
	await vi.advanceTimersByTimeAsync(30_500);
	let isDone = false;
	void turns.want().then(() => {
		isDone = true;
	});
	await vi.advanceTimersByTimeAsync(1_001);
	expect(isDone).toBe(true);
	await stop();
});
