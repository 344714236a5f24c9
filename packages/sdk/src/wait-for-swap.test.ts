import type { StatusResponse } from "@geoswap/protocol";
import { afterEach, expect, test } from "vitest";
import { type Answer, serveAnswers } from "../test/serve-answers.ts";
import { answerOf } from "./answer.ts";
import { waitForSwap } from "./wait-for-swap.ts";

type Served = Awaited<ReturnType<typeof serveAnswers>>;
let served: Served;
afterEach(() => served.close());

function swap(changes: Partial<StatusResponse>): StatusResponse {
	return {
		swapId: "swp_1",
		status: "pending",
		stage: "opening",
		orderId: "0x01",
		updatedAt: "2026-01-01T00:00:00.000Z",
		funds: { chainId: 1, holder: "wallet", token: "0x02", amount: "1" },
		terms: {
			originChain: 1,
			destinationChain: 2,
			inputToken: "0x02",
			outputToken: "0x03",
			amount: "1",
			walletAddress: "0x04",
			recipient: "0x05",
			output: "1",
			minOutput: "1",
			feeBps: 0,
		},
		quotedAt: "2026-01-01T00:00:00.000Z",
		createdAt: "2026-01-01T00:00:00.000Z",
		links: {},
		...(changes.status === "settled" && { originTxHash: "0x06", deliveryTxHash: "0x07" }),
		...changes,
	};
}
const answer = (changes: Partial<StatusResponse>): Answer => ({ body: swap(changes) });

test("waitForSwap waits through outages until the swap is terminal, and reports each change once", async () => {
	served = await serveAnswers(
		answer({}),
		"hang up",
		{ status: 503, headers: { "retry-after": "0" }, body: "<html>" },
		answer({}),
		answer({ status: "settled", stage: "delivered" }),
	);
	const updates: string[] = [];
	const startedMs = performance.now();
	const ended = await waitForSwap(served.client, "swp_1", {
		onUpdate: ({ status, stage }) => updates.push(`${status} ${stage}`),
	});
	expect(ended.status).toBe("settled");
	expect(updates).toEqual(["pending opening", "settled delivered"]);
	// There are three rounds, and only the last may end within its second.
	expect(performance.now() - startedMs).toBeGreaterThan(1_900);
});

test("after a call that was not held, waitForSwap pauses for the time that the service requires and for a second at least", async () => {
	const notHeld = (retryAfter: Record<string, string>): Answer => ({
		headers: retryAfter,
		body: { ...swap({}), held: false },
	});
	const arrivedMs: number[] = [];
	served = await serveAnswers(
		notHeld({ "retry-after": "2" }),
		notHeld({ "retry-after": "0" }),
		notHeld({}),
		answer({ status: "settled", stage: "delivered" }),
	);
	const { fetch } = served.client;
	const watched: typeof fetch = (...request) => {
		arrivedMs.push(performance.now());
		return fetch(...request);
	};
	const updates: unknown[] = [];
	const onUpdate = (told: unknown) => updates.push(told);
	const ended = await waitForSwap({ ...served.client, fetch: watched }, "swp_1", { onUpdate });
	expect(ended).toEqual(answerOf(swap({ status: "settled", stage: "delivered" })));
	const pausesMs = arrivedMs.slice(1).map((atMs, i) => atMs - (arrivedMs[i] ?? 0));
	for (const [i, minMs] of [1_990, 990, 990].entries()) expect(pausesMs[i]).toBeGreaterThan(minMs);
	// `held` is about the call, and no news of the swap.
	expect(updates).toHaveLength(2);
});

test("a status that names another swap, or none, or is settled without its transactions, is ignored", async () => {
	const { deliveryTxHash: _, ...withoutDelivery } = swap({ status: "settled" });
	served = await serveAnswers(
		answer({ swapId: "swp_2", status: "failed" }),
		{ body: { status: "settled" } },
		{ body: withoutDelivery },
		answer({ status: "settled", stage: "delivered" }),
	);
	const updates: string[] = [];
	const onUpdate = ({ status }: { status: string }) => updates.push(status);
	expect(await waitForSwap(served.client, "swp_1", { onUpdate })).toMatchObject({ swapId: "swp_1" });
	expect(updates).toEqual(["settled"]);
});

test("waitForSwap ends immediately with the reason of the signal", async () => {
	served = await serveAnswers(answer({}));
	const abort = new AbortController();
	const reason = new Error("enough");
	const waiting = waitForSwap(served.client, "swp_1", {
		onUpdate: () => abort.abort(reason),
		signal: abort.signal,
	});
	await expect(waiting).rejects.toBe(reason);
	expect(served.requests).toHaveLength(1);
});

test("an error that waiting cannot fix ends waitForSwap", async () => {
	const body = {
		code: "SWAP_NOT_FOUND",
		message: "No.",
		next: "fix_request",
		retryable: false,
		requestId: "r",
	};
	served = await serveAnswers({ status: 404, body });
	await expect(waitForSwap(served.client, "swp_1")).rejects.toMatchObject({ code: "SWAP_NOT_FOUND" });
});
