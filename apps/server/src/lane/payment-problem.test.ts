import { type Order, orderId, packDeadlines, solanaChainId, toSwapKey, toWord } from "@geoswap/protocol";
import fc from "fast-check";
import { type Hex, pad, zeroAddress, zeroHash } from "viem";
import { expect, test } from "vitest";
import type { PaymentFacts } from "../job/read-payment-facts.ts";
import type { Job } from "../swap/facts/job.ts";
import type { Delivery } from "../swap/facts/swap-record.ts";
import { type PaymentRules, paymentProblem } from "./payment-problem.ts";

const usdc = "0x00000000000000000000000000000000000000a1";
const orb = "0x00000000000000000000000000000000000000b2";
const swapId = "01890000-0000-7000-8000-000000000000";
const e12 = 10n ** 12n;
const runs = process.env.GEOSWAP_FULL ? 200_000 : 2_000;

/**
 * USDC of six decimals is worth a dollar, ORB of six decimals two, the native token 2,000. Nothing else has a price.
 */
const weiPrice = 2_000n;
const prices = new Map<Hex, bigint>([
	[usdc, e12],
	[orb, 2n * e12],
	[zeroAddress, weiPrice],
]);
const rules: PaymentRules = {
	depositPolicyOf: (chainId) =>
		chainId > 3n
			? undefined
			: {
					depths: [
						{ upToUsd: 100, blocks: 2 },
						{ upToUsd: 1_000, blocks: 5 },
					],
					agreeAboveUsd: 500,
				},
	whyNotOurs: () => undefined,
	settlementToken: usdc,
	worthE18: ({ token, amount }) => {
		const price = prices.get(token.toLowerCase() as Hex);
		return price === undefined ? undefined : amount * price;
	},
	fillMarginBps: 500,
};

function orderOf(terms: Partial<Order>): Order {
	const word = toWord("0x00000000000000000000000000000000000000c3");
	return {
		originChainId: 1n,
		destinationChainId: 2n,
		escrow: word,
		originVault: word,
		destinationVault: word,
		attesterSet: zeroHash,
		wallet: word,
		recipient: word,
		inputToken: toWord(usdc),
		outputToken: toWord(usdc),
		inputAmount: 100_000_000n,
		minOutput: 1n,
		topUp: 0n,
		swapKey: toSwapKey(swapId),
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
		...terms,
	};
}

function fillOf(order: Order, delivery: Delivery): Job<"fill"> {
	return {
		swapId,
		kind: "fill",
		chainId: Number(order.destinationChainId),
		orderId: orderId(order),
		order,
		payload: { delivery },
		state: "queued",
		alone: false,
		failures: 0,
		reason: undefined,
		attestationId: undefined,
	};
}

const chains = fc.constantFrom(1n, 2n, 2n, 3n, 4n);
const tokens = fc.constantFrom<Hex[]>(usdc, usdc, usdc, orb, "0x00000000000000000000000000000000000000dd");
const amounts = fc.oneof(
	fc.bigInt(0n, 2_000_000_000n),
	fc.constantFrom(95_000_000n, 100_000_000n, 105_000_000n),
);
/** Up to 100 USD. */
const topUps = fc.oneof(fc.constantFrom(0n, 0n, 10n ** 15n), fc.bigInt(0n, 5n * 10n ** 16n));
const heights = fc.nat({ max: 12 });
const paths = fc.constantFrom<number[]>(
	[3_000],
	[3_000],
	[500, 3_000],
	[],
	[0],
	[0, 500],
	[500, 0],
	[1, 2, 3],
);
const deliveries: fc.Arbitrary<Delivery> = fc.oneof(
	fc.record({ kind: fc.constant("inventory" as const), amount: amounts }),
	fc.record({ kind: fc.constant("router" as const), budget: amounts, fees: paths }),
	fc.record({ kind: fc.constant("payout" as const), amount: amounts, unusedRent: fc.bigInt(0n, 300_000n) }),
);
const progress = fc
	.tuple(heights, heights)
	.map(([a, b]) => ({ number: Math.max(a, b), finalizedNumber: Math.min(a, b) }));
/** Facts that are mostly as they should be, because otherwise nothing would ever be allowed. */
const facts: fc.Arbitrary<PaymentFacts> = fc
	.record(
		{
			opened: fc.record({ blockNumber: heights }),
			crossCheck: progress.map(({ number, finalizedNumber }) => ({ headNumber: number, finalizedNumber })),
			origin: progress,
			reserved: fc.record({
				chainId: fc.constantFrom(1, 2, 2, 2, 3),
				token: tokens,
				amount: amounts,
				topUp: topUps,
			}),
			swap: fc.record({ valueUsdCents: fc.bigInt(0n, 200_000n), isSettled: fc.boolean() }),
			wasSigned: fc.boolean(),
		},
		{ requiredKeys: ["wasSigned"] },
	)
	.map((given) => given as PaymentFacts);
const orders = fc
	.record({
		originChainId: chains,
		destinationChainId: chains,
		input: tokens,
		output: tokens,
		inputAmount: amounts,
		topUp: topUps,
	})
	.map(({ input, output, ...terms }) =>
		orderOf({ ...terms, inputToken: toWord(input), outputToken: toWord(output) }),
	);

/** Returns what leaves the vault, computed a second time for comparison. */
function spentBy(order: Order, delivery: Delivery): { token: Hex; amount: bigint } {
	const output = `0x${order.outputToken.slice(26)}` as Hex;
	if (delivery.kind === "router") return { token: usdc, amount: delivery.budget };
	return { token: output, amount: delivery.amount + (delivery.kind === "payout" ? delivery.unusedRent : 0n) };
}

test("a fill is allowed only with a deep deposit, a reservation and enough value, regardless of the job and the store", () => {
	let allowed = 0;
	fc.assert(
		fc.property(orders, deliveries, facts, fc.nat({ max: 9 }), (order, delivery, found, dice) => {
			const isOtherOrder = dice === 0;
			const job = fillOf(order, delivery);
			// A random reservation seldom fits, so half of them are what the delivery needs.
			const needed = { chainId: job.chainId, ...spentBy(order, delivery), topUp: order.topUp };
			const given = found.reserved && dice > 4 ? { ...found, reserved: needed } : found;
			if (isOtherOrder) job.order = { ...order, recipient: pad("0xbad", { size: 32 }) };
			if (paymentProblem(job, given, rules) !== undefined) return;
			allowed++;
			expect(isOtherOrder).toBe(false);
			// Any other fees would make the vault pay an amount of one token as if it were of the other.
			if (delivery.kind === "router") {
				expect([[3_000], [500, 3_000]]).toContainEqual(delivery.fees);
			}
			expect(delivery.kind).not.toBe("payout");
			const { opened, origin, crossCheck, reserved, swap, wasSigned } = given;
			const { token, amount } = spentBy(order, delivery);
			const isOwed = swap?.isSettled && wasSigned && order.originChainId !== order.destinationChainId;
			if (reserved) {
				expect(reserved).toMatchObject({ chainId: job.chainId, token });
				expect(amount).toBeLessThanOrEqual(reserved.amount);
				expect(order.topUp).toBeLessThanOrEqual(reserved.topUp);
			} else expect(swap?.isSettled).toBe(true);
			if (isOwed && reserved) return;
			const worth = (prices.get(`0x${order.inputToken.slice(26)}`) ?? 0n) * order.inputAmount;
			const paid = amount * (prices.get(token) ?? 10n ** 40n) + order.topUp * weiPrice;
			expect(paid * 100n).toBeLessThanOrEqual(worth * 105n);
			if (isOwed) return;
			if (swap?.isSettled && wasSigned && opened) {
				expect(order.originChainId).toBe(order.destinationChainId);
				return;
			}
			const depth = (seen: { number: number; finalizedNumber: number } | undefined) =>
				seen && opened && opened.blockNumber <= seen.finalizedNumber
					? Number.POSITIVE_INFINITY
					: (seen?.number ?? -1) - (opened?.blockNumber ?? 0);
			// Whichever value the code used for the deposit, it was no less than these.
			const isAbove = (usd: bigint) =>
				(swap?.valueUsdCents ?? 0n) > usd * 100n || worth * 100n > usd * 10n ** 18n * 105n;
			if (isAbove(100n)) expect(depth(origin)).toBeGreaterThanOrEqual(5);
			else expect(depth(origin)).toBeGreaterThanOrEqual(2);
			if (isAbove(1_000n)) expect(depth(origin)).toBe(Number.POSITIVE_INFINITY);
			const isAsked = (swap?.valueUsdCents ?? 0n) > 50_000n;
			if (isAbove(500n) && (isAsked || depth(origin) !== Number.POSITIVE_INFINITY)) {
				expect(crossCheck).toBeDefined();
				expect(depth(crossCheck && { ...crossCheck, number: crossCheck.headNumber })).toBeGreaterThanOrEqual(
					5,
				);
			}
			expect(order.originChainId).not.toBe(4n);
		}),
		{ numRuns: runs },
	);
	expect(allowed).toBeGreaterThan(runs / 200);
});

const honest: PaymentFacts = {
	opened: { blockNumber: 10 },
	origin: { number: 12, finalizedNumber: 3 },
	reserved: { chainId: 2, token: usdc, amount: 99_000_000n, topUp: 0n },
	swap: { valueUsdCents: 10_000n, isSettled: false },
	wasSigned: false,
};
const inventory: Delivery = { kind: "inventory", amount: 99_000_000n };
const { opened: _, ...unopened } = honest;
const { reserved: __, ...unreserved } = honest;
const settled = { valueUsdCents: 10_000n, isSettled: true };

test.each<[string, string | undefined, PaymentFacts, Delivery?]>([
	["an honest one", undefined, honest],
	[
		"bought with the settlement token",
		undefined,
		honest,
		{ kind: "router", budget: 99_000_000n, fees: [500] },
	],
	["never opened", "not-opened", unopened],
	["a block too early", "not-deep", { ...honest, origin: { number: 11, finalizedNumber: 3 } }],
	["one unit more than is reserved", "not-reserved", honest, { ...inventory, amount: 99_000_001n }],
	[
		"of another chain's inventory",
		"not-reserved",
		{ ...honest, reserved: { chainId: 3, token: usdc, amount: 10n ** 9n, topUp: 0n } },
	],
	[
		"of another token",
		"not-reserved",
		{ ...honest, reserved: { chainId: 2, token: orb, amount: 10n ** 9n, topUp: 0n } },
	],
	["nothing reserved", "not-reserved", unreserved],
	[
		"worth more than the deposit and the margin, regardless of the reservation",
		"above-deposit",
		{ ...honest, reserved: { chainId: 2, token: usdc, amount: 10n ** 12n, topUp: 0n } },
		{ kind: "inventory", amount: 105_000_001n },
	],
	[
		"a value far below what the deposit is worth, for less depth",
		"not-deep",
		{
			...honest,
			swap: { valueUsdCents: 9_000n, isSettled: false },
			origin: { number: 12, finalizedNumber: 3 },
		},
	],
	["settled, signed before, its deposit dropped", undefined, { ...unopened, swap: settled, wasSigned: true }],
	["settled but never signed, its deposit dropped", "not-opened", { ...unopened, swap: settled }],
	[
		"settled, and more than is reserved",
		"not-reserved",
		{ ...honest, swap: settled, wasSigned: true },
		{ kind: "inventory", amount: 99_000_001n },
	],
	[
		"settled and final, and dropped nevertheless",
		undefined,
		{ ...unreserved, swap: settled, wasSigned: true },
	],
])("a fill has the expected verdict: %s", (_title, problem, given, delivery = inventory) => {
	const inputAmount = _title.startsWith("a value far below") ? 101_000_000n : 100_000_000n;
	expect(paymentProblem(fillOf(orderOf({ inputAmount }), delivery), given, rules)).toBe(problem);
});

test("on one chain, a settled delivery that was dropped with its deposit is repeated once the deposit is back, at any depth and unseen, and not before", () => {
	const fill = fillOf(orderOf({ originChainId: 2n }), inventory);
	const { crossCheck: _, ...unseen } = honest;
	const back = { ...unseen, opened: { blockNumber: 12 }, origin: { number: 12, finalizedNumber: 3 } };
	const problemOf = (given: PaymentFacts) => paymentProblem(fill, given, rules);
	expect(problemOf({ ...back, swap: settled, wasSigned: true })).toBeUndefined();
	expect(problemOf({ ...back, swap: settled })).toBe("not-deep");
	expect(problemOf({ ...back, wasSigned: true })).toBe("not-deep");
	const { opened: __, ...gone } = back;
	expect(problemOf({ ...gone, swap: settled, wasSigned: true })).toBe("not-opened");
});

test("a fill with a top-up needs a reservation of both, and a deposit worth both", () => {
	const fill = fillOf(orderOf({ topUp: 2n * 10n ** 15n }), inventory);
	const reserved = (topUp: bigint): PaymentFacts => ({
		...honest,
		reserved: { chainId: 2, token: usdc, amount: 99_000_000n, topUp },
	});
	expect(paymentProblem(fill, reserved(2n * 10n ** 15n - 1n), rules)).toBe("not-reserved");
	// The deposit is worth 100 USD and the margin 5; 99 and 4 are paid, then 99 and 6.1.
	expect(paymentProblem(fill, reserved(2n * 10n ** 15n), rules)).toBeUndefined();
	const dear = fillOf(orderOf({ topUp: 305n * 10n ** 13n }), inventory);
	expect(paymentProblem(dear, reserved(10n ** 18n), rules)).toBe("above-deposit");
	const unpriced: PaymentRules["worthE18"] = (asset) =>
		asset.token === zeroAddress ? undefined : rules.worthE18(asset);
	expect(paymentProblem(fill, reserved(10n ** 18n), { ...rules, worthE18: unpriced })).toBe("no-price");
});

test("a deposit that needs a second provider waits until that provider has it at the same depth", () => {
	const order = orderOf({ inputAmount: 600_000_000n });
	const deep = {
		...honest,
		origin: { number: 15, finalizedNumber: 3 },
		swap: { valueUsdCents: 60_000n, isSettled: false },
	};
	const seen = (headNumber: number) => ({ ...deep, crossCheck: { headNumber, finalizedNumber: 3 } });
	expect(paymentProblem(fillOf(order, inventory), deep, rules)).toBe("unseen");
	expect(paymentProblem(fillOf(order, inventory), seen(14), rules)).toBe("unseen");
	expect(paymentProblem(fillOf(order, inventory), seen(15), rules)).toBeUndefined();
	// The deposit's price rose after the submit, so the second provider was not queried.
	const risen = { ...deep, swap: { valueUsdCents: 49_000n, isSettled: false } };
	expect(paymentProblem(fillOf(order, inventory), risen, rules)).toBe("unseen");
	const final = { ...risen, origin: { number: 15, finalizedNumber: 10 } };
	expect(paymentProblem(fillOf(order, inventory), final, rules)).toBeUndefined();
});

test("a fill without any price waits, and terms of another order or chain are refused", () => {
	const job = fillOf(orderOf({}), inventory);
	expect(paymentProblem(job, honest, { ...rules, worthE18: () => undefined })).toBe("no-price");
	expect(paymentProblem({ ...job, order: { ...job.order, minOutput: 2n } }, honest, rules)).toBe(
		"wrong-order",
	);
	expect(paymentProblem({ ...job, chainId: 3 }, honest, rules)).toBe("wrong-order");
	const notOurs = { ...rules, whyNotOurs: () => "the origin vault is not the service's" };
	expect(paymentProblem(job, honest, notOurs)).toBe("wrong-order");
	const owed = { ...honest, swap: settled, wasSigned: true };
	expect(paymentProblem(job, owed, notOurs)).toBeUndefined();
});

test("a payout is allowed on Solana only; a refund needs only the terms that its id proves", () => {
	const within = { originChainId: BigInt(solanaChainId), destinationChainId: BigInt(solanaChainId) };
	const token = pad("0xa1", { size: 32 });
	const order = orderOf({ ...within, inputToken: token, outputToken: token });
	const reserved = { chainId: solanaChainId, token, amount: 99_000_000n, topUp: 0n };
	const given = { ...honest, reserved, origin: { number: 12, finalizedNumber: 10 } };
	const solana: PaymentRules = { ...rules, depositPolicyOf: () => ({ depths: [] }), worthE18: () => e12 };
	const fill = fillOf(order, { kind: "payout", amount: 99_000_000n, unusedRent: 0n });
	expect(paymentProblem(fill, given, solana)).toBeUndefined();
	expect(paymentProblem(fillOf(order, inventory), given, solana)).toBe("wrong-order");

	const refund: Job<"refund"> = { ...fill, kind: "refund", payload: { attested: false } };
	expect(paymentProblem(refund, unopened, solana)).toBeUndefined();
	expect(paymentProblem({ ...refund, chainId: 2 }, given, solana)).toBe("wrong-order");
	expect(paymentProblem({ ...refund, orderId: pad("0x1") }, given, solana)).toBe("wrong-order");
});
