import { emptyAccountRentLamports } from "@geoswap/protocol";
import fc from "fast-check";
import { zeroAddress, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	inward,
	one,
	outward,
	refusal,
	type SolanaDeskScene,
	solana,
	startSolanaDeskScene,
	two,
	type Way,
} from "../../test/desk/solana-desk-scene.ts";
import { createDesk } from "./create-desk.ts";
import { usdValueDown, usdValueUp } from "./price/usd-value.ts";

let scene: SolanaDeskScene;
beforeAll(async () => {
	scene = await startSolanaDeskScene();
});
afterAll(() => scene.stop());

const e18 = 10n ** 18n;
const ways: Way[] = [
	{ from: [one, "USDC"], to: [two, "USDC"] },
	{ from: [one, "ETH"], to: [two, "ORB"] },
	{ from: [one, "ORB"], to: [one, "ETH"] },
	outward,
	{ from: [one, "USDC"], to: [solana, "SOL"] },
	inward,
];

function nativeOf(chainId: number) {
	const asset = chainId === solana ? zeroHash : zeroAddress;
	return scene.priceCache.reference({ chainId, asset });
}

/** Returns the value of what the recipient gets beside its top-up. */
function outputE18({ to }: Way, output: bigint): bigint {
	const { chain, asset } = scene.side(...to);
	return usdValueDown(output, scene.priceCache.reference({ chainId: chain.chainId, asset: asset.address }));
}

test("for generated pairs and sizes, the output falls by at least the top-up's value, and by little more than it and its gas", () => {
	const { desk, request } = scene;
	const swaps = fc.record({
		way: fc.constantFrom(...ways),
		usd: fc.integer({ min: 20, max: 20_000 }),
		cents: fc.integer({ min: 25, max: 500 }),
	});
	fc.assert(
		fc.property(swaps, ({ way, usd, cents }) => {
			const amount = scene.worth(way.from, usd);
			const topUpUsd = (cents / 100).toFixed(2);
			const plain = desk.quote(request({ ...way, amount }));
			const topped = desk.quote(request({ ...way, amount, topUpUsd }));
			const { topUp } = topped.order;
			const asked = (BigInt(cents) * e18) / 100n;
			const worth = usdValueUp(topUp, nativeOf(way.to[0]));
			expect(worth).toBeGreaterThan(asked - e18 / 1_000_000n);
			expect(usdValueDown(topUp, nativeOf(way.to[0]))).toBeLessThanOrEqual(asked);
			const lost = outputE18(way, plain.output) - outputE18(way, topped.output);
			// A unit of the least precise token is worth a millionth of a dollar.
			expect(lost).toBeGreaterThanOrEqual(worth - (2n * e18) / 1_000_000n);
			expect(Number(lost - worth) / 1e18).toBeLessThan(0.02 + 0.05 * (cents / 100));
			// The price impact counts the top-up as received.
			expect(topped.priceImpactBps).toBeGreaterThan(plain.priceImpactBps - 200);
			// The same top-up in native units has the same terms.
			const again = desk.quote(request({ ...way, amount, topUp }));
			expect(again.order.minOutput).toBe(topped.order.minOutput);
			expect(desk.reprice(topped, { sell: 0n, buy: 0n })?.output).toBe(topped.output);
		}),
		{ numRuns: 300 },
	);
});

test("an exact output is not reduced by a top-up, the input grows instead", () => {
	const { desk, request } = scene;
	for (const way of [{ from: [one, "USDC"], to: [two, "USDC"] } as Way, outward]) {
		const exact = { ...way, slippageBps: 0, amount: undefined, outputAmount: 25_000_000n };
		const [plain, topped] = [desk.quote(request(exact)), desk.quote(request({ ...exact, topUpUsd: "1" }))];
		expect([plain.minOutput, topped.minOutput]).toEqual([25_000_000n, 25_000_000n]);
		expect(topped.amount - plain.amount).toBeGreaterThan(1_000_000n);
		expect(topped.amount - plain.amount).toBeLessThan(1_060_000n);
	}
});

test("the summary names the top-up in whole units of the native token", () => {
	const { desk, request } = scene;
	expect(desk.quote(request({ ...outward, topUp: 2_000_000n })).summary).toMatch(
		/ USDC and 0\.002 SOL for gas on /,
	);
	expect(desk.quote(request({ ...inward, topUp: 10n ** 14n })).summary).toMatch(
		/ USDC and 0\.0001 ETH for gas on /,
	);
});

test("a top-up beyond the operator's maximum, or too small to be held, is refused with what is accepted", () => {
	const { desk, request } = scene;
	const issue = (change: Parameters<typeof request>[0]) => {
		const { issues } = refusal(() => desk.quote(request(change))).details as {
			issues: { path: string; message: string }[];
		};
		return issues[0];
	};
	const above = issue({ ...inward, topUpUsd: "5.01" });
	expect(above?.path).toBe("topUpUsd");
	const [, most] = above?.message.match(/^is at most (\d+) \(.* ETH\), or 5\.00 USD, on /) ?? [];
	expect(desk.quote(request({ ...inward, topUp: BigInt(most ?? 0) })).topUpUsd).toBe("4.99");
	expect(issue({ ...inward, topUp: BigInt(most ?? 0) + 1n })?.path).toBe("topUp");
	const least = emptyAccountRentLamports;
	expect(issue({ ...outward, topUp: least - 1n })?.message).toMatch(`is at least ${least} (0.00089088 SOL)`);
	expect(desk.quote(request({ ...outward, topUp: least })).order.topUp).toBe(least);
});

test("an operator that offers no top-ups refuses them, and quotes the rest", () => {
	const { config, priceCache, nowMs, request } = scene;
	const price = { ...config.price, maximumTopUpUsd: 0 };
	const desk = createDesk({
		config: { ...config, price },
		priceCache,
		nowMs: () => nowMs,
		random: (size) => new Uint8Array(size).fill(7),
	});
	expect(refusal(() => desk.quote(request({ ...inward, topUp: 1n }))).details).toMatchObject({
		issues: [{ path: "topUp", message: expect.stringContaining("leave it out") }],
	});
	expect(desk.quote(request(inward)).order.topUp).toBe(0n);
});

test("a recipient on Solana that cannot be paid lamports gets no top-up, and is quoted without one", () => {
	const { desk, request } = scene;
	const recipient = { hasAccount: true, payProblem: undefined, topUpProblem: "it belongs to a program" };
	const quote = (topUp?: bigint) => desk.quote(request({ ...outward, topUp }), { recipient });
	expect(refusal(() => quote(2_000_000n)).details).toEqual({
		issues: [{ path: "recipient", message: "it belongs to a program" }],
	});
	expect(quote().order.topUp).toBe(0n);
});
