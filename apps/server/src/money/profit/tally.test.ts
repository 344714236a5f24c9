import type { UsdE18 } from "@geoswap/protocol";
import fc from "fast-check";
import { type Hex, zeroAddress } from "viem";
import { expect, test } from "vitest";
import { ownAccounts } from "../ledger/post.ts";
import { attributePosting, type BookedPosting } from "./attribute-posting.ts";
import { explainChange, priceAt, value36 } from "./explain-change.ts";
import type { PriceMark } from "./price-marks.ts";
import { createTally, type ValuedPart } from "./tally.ts";

const chainId = 8453;
const token: Hex = zeroAddress;
const decimals = 6;
const after = 10;
const upTo = 60;
const orderOf = (i: number): Hex => `0x${i.toString(16).padStart(64, "0")}`;

const marksArbitrary = fc
	.uniqueArray(
		fc.record({
			blockNumber: fc.integer({ min: 1, max: upTo }),
			usdE18: fc.bigInt({ min: 1n, max: 10n ** 24n }).map((price) => price as UsdE18),
		}),
		{ selector: ({ blockNumber }) => blockNumber, minLength: 1, maxLength: 20 },
	)
	.map((marks) => marks.toSorted((one, other) => one.blockNumber - other.blockNumber));

const accountArbitrary = fc.constantFrom(...ownAccounts);
const otherArbitrary = fc.constantFrom(
	...[
		"recipient",
		"escrow",
		"trading",
		"treasury",
		"unattributed",
		"unattributed:relayer",
		"gas",
		"rent",
		"opening",
	],
);
/** A posting with one or two entries on each side, which add up to zero. */
const postingArbitrary: fc.Arbitrary<BookedPosting & { blockNumber: number }> = fc
	.record({
		name: fc.constantFrom(
			...[
				"gas",
				"Filled",
				"Released",
				"Traded",
				"Sent",
				"Bridged",
				"Withdrawn",
				"unattributed",
				"reversal",
				"RentPaid",
			],
		),
		blockNumber: fc.integer({ min: 1, max: upTo }),
		orderId: fc.option(fc.integer({ min: 0, max: 5 }).map(orderOf), { nil: undefined }),
		own: fc.tuple(accountArbitrary, fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n })),
		otherOwn: fc.tuple(accountArbitrary, fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n })),
		share: fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }),
		counter: fc.tuple(otherArbitrary, otherArbitrary),
		transaction: fc.option(
			fc.record({
				kind: fc.constantFrom("fill", "cancel", "close", "release"),
				orderIds: fc.array(fc.integer({ min: 0, max: 5 }).map(orderOf), { maxLength: 7 }),
			}),
			{ nil: undefined },
		),
		isMove: fc.boolean(),
	})
	.map(({ own, otherOwn, share, counter, ...rest }) => ({
		...rest,
		entries: [
			{ account: own[0], token, amount: own[1] },
			{ account: otherOwn[0], token, amount: otherOwn[1] },
			{ account: counter[0], token, amount: share },
			{ account: counter[1], token, amount: -own[1] - otherOwn[1] - share },
		],
	}));

type World = {
	postings: readonly (BookedPosting & { blockNumber: number })[];
	marks: readonly PriceMark[];
	opening: bigint;
};

function tallyOf({ postings, marks, opening }: World, { twice = false } = {}) {
	const parts = postings.flatMap((posting) =>
		attributePosting(posting).map((part): ValuedPart => {
			const usdE18 = priceAt(marks, Math.max(posting.blockNumber, after)) as UsdE18;
			return { ...part, chainId, name: posting.name, value36: value36(part.amount, { decimals, usdE18 }) };
		}),
	);
	const changes = postings.flatMap(({ entries, blockNumber }) =>
		entries
			.filter(({ account }) => ownAccounts.some((own) => own === account))
			.map(({ amount }) => ({ blockNumber, amount })),
	);
	const explained = explainChange({ opening, decimals, after, upTo, changes, marks });
	const tally = createTally(
		[
			{
				day: "2026-11-30",
				chainId,
				isClosed: true,
				afterPosting: 0,
				lastPosting: postings.length,
				afterBlock: after,
				lastBlock: upTo,
				tokens: [
					{
						token,
						opening,
						closing: changes.reduce((sum, { amount }) => sum + amount, opening),
						usdOpening: explained?.usdOpening,
						usdClosing: explained?.usdClosing,
						positions36: explained?.positions36,
						agreed: true,
					},
				],
			},
		],
		{ decimalsOf: () => decimals },
	);
	for (const part of parts) tally.add(part);
	if (twice) for (const part of parts.slice(0, 1)) tally.add(part);
	// A result changes nothing.
	expect(tally.result()).toEqual(tally.result());
	return { parts, result: tally.result() };
}

const worldArbitrary = fc.record({
	postings: fc.array(postingArbitrary, { maxLength: 30 }),
	marks: marksArbitrary,
	opening: fc.bigInt({ min: 0n, max: 10n ** 30n }),
});

test("reasons and positions add up to the change of value, to the last digit", () => {
	fc.assert(
		fc.property(worldArbitrary, (world) => {
			const { difference36, byReason, positions36, opening36, closing36, swaps } = tallyOf(world).result;
			expect(difference36).toBe(0n);
			const sum = Object.values(byReason).reduce((total, value) => total + value, positions36);
			expect(sum).toBe(closing36 - opening36);
			// The swaps are all that has the reason.
			const ofSwaps = swaps.reduce((total, { value36, gas36 }) => total + value36 + gas36, 0n);
			expect(ofSwaps).toBe(byReason.swap);
		}),
	);
});

test("an entry that is attributed twice, or left out, shows as a difference", () => {
	fc.assert(
		fc.property(worldArbitrary, (world) => {
			const { parts, result } = tallyOf(world, { twice: true });
			expect(result.difference36).toBe(-(parts[0]?.value36 ?? 0n));
		}),
	);
});

test("the parts of a posting add up to its entries of the desk's own money", () => {
	fc.assert(
		fc.property(postingArbitrary, (posting) => {
			const own = posting.entries.filter(({ account }) => ownAccounts.some((one) => one === account));
			for (const account of ownAccounts) {
				const sum = (entries: readonly { account: string; amount: bigint }[]) =>
					entries.reduce((total, one) => (one.account === account ? total + one.amount : total), 0n);
				expect(sum(attributePosting(posting))).toBe(sum(own));
			}
		}),
	);
});

const posting = (
	name: string,
	entries: Record<string, bigint>,
	more: Partial<BookedPosting> = {},
): BookedPosting => {
	return {
		name,
		orderId: undefined,
		transaction: undefined,
		isMove: false,
		entries: Object.entries(entries).map(([account, amount]) => ({ account, token, amount })),
		...more,
	};
};
const attributed = (...args: Parameters<typeof posting>) =>
	attributePosting(posting(...args)).map(({ reason, orderId, amount }) =>
		orderId ? [reason, Number(orderId), amount] : [reason, amount],
	);

test("gas is divided by the jobs of its transaction, and the first has the remainder", () => {
	const gas = { gas: 11n, relayer: -11n };
	const transaction = { kind: "fill", orderIds: [1, 2, 3].map(orderOf) };
	expect(attributed("gas", gas, { transaction })).toEqual([
		["swap", 1, -5n],
		["swap", 2, -3n],
		["swap", 3, -3n],
	]);
});

test("gas of a cancel, of a close and of a transaction that the journal lacks is overhead, and that of a move the move's", () => {
	const gas = { gas: 11n, relayer: -11n };
	for (const kind of ["cancel", "close"]) {
		expect(attributed("gas", gas, { transaction: { kind, orderIds: [orderOf(1)] } })).toEqual([
			["overhead", -11n],
		]);
	}
	expect(attributed("gas", gas)).toEqual([["overhead", -11n]]);
	expect(attributed("gas", gas, { isMove: true })).toEqual([["move", -11n]]);
});

test("what was declared is told apart from a gift that came with it", () => {
	const entries = { inventory: 10n, treasury: -7n, unattributed: -3n };
	expect(attributed("unattributed", entries)).toEqual([
		["declared", 7n],
		["unattributed", 3n],
	]);
	expect(attributed("unattributed", { inventory: 3n, unattributed: -3n })).toEqual([["unattributed", 3n]]);
	expect(attributed("Withdrawn", { inventory: -3n, treasury: 3n })).toEqual([["declared", -3n]]);
});

test("a send to the operator's safe is no cost of a move, and a trade is", () => {
	expect(attributed("Sent", { inventory: -3n, treasury: 3n })).toEqual([["declared", -3n]]);
	expect(attributed("Sent", { inventory: -3n, relayer: 3n })).toEqual([
		["move", -3n],
		["move", 3n],
	]);
	expect(attributed("Traded", { inventory: -3n, trading: 3n })).toEqual([["move", -3n]]);
});

test("what arrives by a bridge is a move, and a bridge that is written off is a cost of one", () => {
	expect(attributed("arrival", { inventory: 3n, bridge: -3n })).toEqual([
		["move", 3n],
		["move", -3n],
	]);
	expect(attributed("loss", { bridge: -3n, loss: 3n })).toEqual([["move", -3n]]);
});

test("a reversed posting of a swap is taken off the swap", () => {
	expect(attributed("reversal", { inventory: 3n, recipient: -3n }, { orderId: orderOf(1) })).toEqual([
		["swap", 1, 3n],
	]);
	expect(attributed("reversal", { relayer: 3n, gas: -3n })).toEqual([["reversal", 3n]]);
});
