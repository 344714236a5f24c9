import { afterEach, expect, test, vi } from "vitest";
import { GeoswapError } from "./geoswap-error.ts";
import { sendAgain } from "./send-again.ts";

afterEach(() => {
	vi.useRealTimers();
});

const busy = (retryAfterMs: number) =>
	new GeoswapError("Wait.", { code: "RATE_LIMITED", next: "retry", retryable: true, docs: "", retryAfterMs });

test("a Retry-After of zero still leaves a pause between attempts", async () => {
	vi.useFakeTimers();
	const send = vi.fn(async () => Promise.reject(busy(0)));
	const answer = sendAgain(send, { patienceMs: 10_000 }).catch((error: unknown) => error);
	await vi.advanceTimersByTimeAsync(60_000);
	expect(await answer).toBeInstanceOf(GeoswapError);
	expect(send.mock.calls.length).toBeLessThan(7);
});

test("a retry comes after a minute at the latest, even if the service asks for a longer pause", async () => {
	vi.useFakeTimers();
	const send = vi.fn(async () => "answer").mockRejectedValueOnce(busy(3_600_000_000));
	const answer = sendAgain(send, { patienceMs: Number.POSITIVE_INFINITY, random: () => 0 });
	await vi.advanceTimersByTimeAsync(59_000);
	expect(send).toHaveBeenCalledTimes(1);
	await vi.advanceTimersByTimeAsync(1_000);
	expect(await answer).toBe("answer");
});

test("callers that an outage stopped at the same time return at different times", async () => {
	vi.useFakeTimers();
	const startedMs = Date.now();
	const returnsAfter = async (random: number) => {
		const send = vi.fn(async () => Date.now() - startedMs).mockRejectedValueOnce(busy(2_000));
		return sendAgain(send, { random: () => random });
	};
	const returned = Promise.all([0, 0.5, 0.99].map(returnsAfter));
	await vi.advanceTimersByTimeAsync(10_000);
	expect(await returned).toEqual([2_000, 2_125, 2_247]);
});
