import { afterEach, expect, test, vi } from "vitest";
import { GeoswapError } from "./geoswap-error.ts";
import { sendAgain } from "./send-again.ts";

afterEach(() => {
	vi.useRealTimers();
});

const busy = (retryAfterMs: number) =>
	new GeoswapError("Wait.", { code: "RATE_LIMITED", next: "retry", retryable: true, docs: "", retryAfterMs });

test("a service that asks for no pause is not asked without one", async () => {
	vi.useFakeTimers();
	const send = vi.fn(async () => Promise.reject(busy(0)));
	const answer = sendAgain(send, { patienceMs: 10_000 }).catch((error: unknown) => error);
	await vi.advanceTimersByTimeAsync(60_000);
	expect(await answer).toBeInstanceOf(GeoswapError);
	expect(send.mock.calls.length).toBeLessThan(7);
});

test("however long the service asks to be left alone, it is asked again after a minute", async () => {
	vi.useFakeTimers();
	const send = vi.fn(async () => "answer").mockRejectedValueOnce(busy(3_600_000_000));
	const answer = sendAgain(send, { patienceMs: Number.POSITIVE_INFINITY });
	await vi.advanceTimersByTimeAsync(59_000);
	expect(send).toHaveBeenCalledTimes(1);
	await vi.advanceTimersByTimeAsync(1_000);
	expect(await answer).toBe("answer");
});
