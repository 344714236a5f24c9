import { parseUnits } from "viem";
import { beforeAll, expect, test, vi } from "vitest";
import { doSolanaSwap } from "../caller/do-solana-swap.ts";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import type { Environment } from "../environment/environment.ts";
import { type ExportedSpan, readSpans } from "../measure/otlp-collector.ts";
import { sharedEnvironment } from "../shared-environment.ts";

let environment: Environment;
beforeAll(() => {
	environment = sharedEnvironment();
});

/** Returns the spans of a swap's trace, once the awaited span has arrived. */
async function traceOf(swapId: string, isAwaited: (span: ExportedSpan) => boolean): Promise<ExportedSpan[]> {
	return vi.waitFor(
		() => {
			const spans = readSpans(environment.tracesFile);
			const submit = spans.find(
				({ name, attributes }) => /\/submit/.test(name) && attributes.swapId === swapId,
			);
			const trace = spans.filter(({ traceId }) => traceId === submit?.traceId);
			expect(trace.some(isAwaited), `the trace has ${trace.map(({ name }) => name).join(", ")}`).toBe(true);
			return trace;
		},
		{ timeout: 60_000, interval: 200 },
	);
}

/** Returns the ancestors of a span, from its parent up to the first span of its trace. */
function ancestors(trace: ExportedSpan[], span: ExportedSpan | undefined): ExportedSpan[] {
	const parent = trace.find(({ spanId }) => spanId === span?.parentSpanId);
	return parent ? [parent, ...ancestors(trace, parent)] : [];
}

/** Expects what every trace of a swap has in common, between any chains. */
function expectTrace(
	trace: ExportedSpan[],
	swap: { swapId: string; originTxHash?: string | undefined; deliveryTxHash?: string | undefined },
): void {
	const submits = trace.filter(({ service }) => service === "geoswapd api");
	expect(submits).toHaveLength(1);
	expect(submits[0]).toMatchObject({
		parentSpanId: "",
		attributes: { swapId: swap.swapId, "http.response.status_code": 200, code: "OK" },
	});
	for (const [kind, hash] of Object.entries({ open: swap.originTxHash, fill: swap.deliveryTxHash })) {
		for (const name of ["transaction signed", "transaction sent"]) {
			const span = trace.find(
				(candidate) => candidate.name === name && candidate.attributes.hash === hash && hash !== undefined,
			);
			expect(span, `${name}: ${kind}`).toMatchObject({
				service: "geoswapd worker",
				attributes: { kind, swapId: swap.swapId },
			});
			expect(ancestors(trace, span).at(-1)).toEqual(submits[0]);
			expect(span?.endMs).toBeGreaterThanOrEqual(span?.startMs ?? 0);
		}
	}
	const facts = trace.filter(({ attributes }) => attributes.fact !== undefined);
	expect(facts.some(({ attributes }) => String(attributes.moved).includes("settled"))).toBe(true);
	for (const { attributes } of trace) expect(attributes.swapId).toBe(swap.swapId);
}

const isReleased = ({ name }: ExportedSpan) => name === "released";

test.concurrent("the trace of a swap leads from its submit to the transaction that delivers it", async () => {
	const { origin, destination, client, deployment: pins } = environment;
	const amount = parseUnits("10", 6);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const { swap } = await doSwap(
		{ client, pins, account },
		swapIntent({
			from: { chain: origin, token: "USDC", amount },
			to: { chain: destination, token: "USDC" },
			account,
		}),
	);
	expect(swap.status).toBe("settled");
	const trace = await traceOf(swap.swapId, isReleased);
	expectTrace(trace, swap);
	// Each fact is traced once, regardless of how often it was found, and again if it changed the swap's stage.
	const facts = trace.flatMap(({ attributes: { fact, moved } }) => (fact ? [`${fact} ${moved}`] : []));
	expect(facts).toEqual([...new Set(facts)]);
	const release = trace.find(({ attributes }) => attributes.kind === "release");
	expect(release?.attributes.chainId).toBe(origin.chainId);
});

test.concurrent("the trace of a swap from Solana leads from its submit to its delivery, with hashes in the format of explorers", async () => {
	const { solana, destination, client, deployment: pins } = environment;
	const amount = parseUnits("10", 6);
	const account = await solana.newWallet({ usdc: amount });
	const recipient = await environment.newWallet({ chain: destination, token: "USDC", amount: 1n });
	const { swap } = await doSolanaSwap(
		{ client, pins, account },
		swapIntent({
			from: { chain: solana, token: "USDC", amount },
			to: { chain: destination, token: "USDC" },
			account,
			recipient: recipient.address,
		}),
	);
	expect(swap.status).toBe("settled");
	const isOpened = ({ name, attributes }: ExportedSpan) =>
		name === "transaction sent" && attributes.hash === swap.deliveryTxHash;
	const isSettled = ({ attributes }: ExportedSpan) => String(attributes.moved).includes("settled");
	await traceOf(swap.swapId, isOpened);
	expectTrace(await traceOf(swap.swapId, isSettled), swap);
});
