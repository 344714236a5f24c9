import { packDeadlines, toWord } from "@geoswap/protocol";
import fc from "fast-check";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { makeOrder } from "../test/op-fixture.ts";
import { makeReceipt, makeReceiptPins, receiptKey, signReceipt } from "../test/receipt-fixture.ts";
import { checkSignedReceipt } from "./check-signed-receipt.ts";
import { ReceiptError } from "./receipt-error.ts";

const pins = makeReceiptPins();
const check = (receipt: unknown) => checkSignedReceipt(receipt, { pins });

const settled = await makeReceipt();
const { deliveredAmount: _, deliveryTxHash: __, signer: ___, signature: ____, ...undelivered } = settled;
const refunded = await signReceipt({
	...undelivered,
	status: "refunded",
	refundTxHash: `0x${"a3".repeat(32)}`,
});
const { originTxHash: _____, ...unopened } = undelivered;
const failed = await signReceipt({ ...unopened, status: "failed" });
const toppedUp = await makeReceipt({}, { order: makeOrder({ topUp: 5n }) });
const receipts = { settled, toppedUp, refunded, failed };

test.each(Object.entries(receipts))(
	"a %s receipt is accepted in the form in which it was signed",
	async (_, receipt) => {
		expect((await check(structuredClone(receipt))).receipt).toEqual(receipt);
	},
);

/** Returns the paths of all values in the receipt that are not objects. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
	if (typeof value !== "object" || value === null) return [path];
	return Object.entries(value).flatMap(([name, part]) => pathsOf(part, [...path, name]));
}

function changed(receipt: object, path: readonly string[], change: (value: unknown) => unknown): unknown {
	const copy = structuredClone(receipt) as Record<string, unknown>;
	const [last = ""] = path.slice(-1);
	let parent = copy;
	for (const name of path.slice(0, -1)) parent = parent[name] as Record<string, unknown>;
	const value = change(parent[last]);
	if (value === undefined) delete parent[last];
	else parent[last] = value;
	return copy;
}

/** Ways to change a value, some of which keep its meaning in another spelling. */
const changes: fc.Arbitrary<(value: unknown) => unknown> = fc.oneof(
	fc.constant(() => undefined),
	fc.constant(() => null),
	fc.constant((value: unknown) => (typeof value === "string" ? value.toUpperCase() : Number(value) + 1)),
	fc.constant((value: unknown) => (typeof value === "string" ? value.toLowerCase() : String(value))),
	fc.constant((value: unknown) => (typeof value === "string" ? `${value} ` : Number(value) + 1e-9)),
	fc.constant((value: unknown) => (typeof value === "string" ? `0${value}` : -Number(value))),
	fc.nat(200).chain((at) =>
		fc.constantFrom(..."0123456789abcdefABCDEFxyzZ-:.").map((letter) => (value: unknown) => {
			if (typeof value !== "string" || value === "") return 0;
			const place = at % value.length;
			return value.slice(0, place) + letter + value.slice(place + 1);
		}),
	),
	fc.string().map((text) => () => text),
	fc.bigInt(0n, 2n ** 256n).map((amount) => () => String(amount)),
);

test("a receipt with any field changed, removed or spelt otherwise is refused", async () => {
	const all = Object.values(receipts).flatMap((receipt) =>
		pathsOf(receipt).map((path) => ({ receipt, path })),
	);
	const run = async ({ receipt, path }: (typeof all)[number], change: (value: unknown) => unknown) => {
		const other = changed(receipt, path, change);
		if (JSON.stringify(other) === JSON.stringify(receipt)) return;
		await expect(check(other), path.join(".")).rejects.toThrow(ReceiptError);
	};
	await run({ receipt: settled, path: ["order", "deadlines"] }, () => String(1n << 192n));
	// Every field is changed at least once, and then fields at random.
	for (const one of all)
		await run(one, (value) => (typeof value === "string" ? `${value}1` : Number(value) + 1));
	await fc.assert(fc.asyncProperty(fc.constantFrom(...all), changes, run), { numRuns: 500 });
}, 120_000);

test("a receipt with an unsigned extra field is refused, at its top level, in its order and in its terms", async () => {
	for (const path of [
		["refund"],
		["order", "extra"],
		["terms", "extra"],
		["terms", "networkCost", "extra"],
	]) {
		const other = changed(settled, path, () => "1");
		await expect(check(other), path.join(".")).rejects.toThrow(ReceiptError);
	}
	for (const nothing of [undefined, null, "", 1, [], [settled], {}]) {
		await expect(check(nothing)).rejects.toThrow(ReceiptError);
	}
});

test("a receipt with a top-up that its order does not have is refused", async () => {
	const claimed = { ...settled, terms: { ...settled.terms, topUp: "5" } };
	await expect(check(claimed)).rejects.toMatchObject({ field: "terms.topUp" });
});

test("the mirror image of a signature, which recovers to the same key, is refused", async () => {
	const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
	const s = BigInt(`0x${settled.signature.slice(66, 130)}`);
	const mirrored = (order - s).toString(16).padStart(64, "0");
	const v = settled.signature.endsWith("1b") ? "1c" : "1b";
	const signature = `${settled.signature.slice(0, 66)}${mirrored}${v}`;
	await expect(check({ ...settled, signature })).rejects.toMatchObject({ field: "signature" });
});

test("a receipt by a key that is not pinned is refused, even if it names a pinned one", async () => {
	const stranger = privateKeyToAccount(`0x${"33".repeat(32)}`);
	const other = await makeReceipt({}, { key: stranger });
	await expect(check(other)).rejects.toMatchObject({ field: "signer" });
	await expect(check({ ...other, signer: receiptKey.address })).rejects.toMatchObject({ field: "signature" });
	const { receiptSigners: _, ...unpinned } = pins;
	await expect(checkSignedReceipt(settled, { pins: unpinned })).rejects.toMatchObject({ field: "signer" });
});

test("a signed receipt whose order names other contracts or chains than the pinned ones is refused", async () => {
	const stranger = toWord("0x00000000000000000000000000000000000000e1");
	for (const field of ["escrow", "originVault", "destinationVault"] as const) {
		const receipt = await makeReceipt({}, { order: makeOrder({ [field]: stranger }) });
		await expect(check(receipt)).rejects.toMatchObject({ field: `order.${field}` });
	}
	const elsewhere = await makeReceipt({}, { order: makeOrder({ destinationChainId: 10n }) });
	await expect(check(elsewhere)).rejects.toMatchObject({ field: "order.destinationChainId" });
	const [origin] = pins.chains;
	const retired = toWord(origin?.contracts.earlierEscrows[0] ?? "0x");
	const old = await makeReceipt({}, { order: makeOrder({ escrow: retired }) });
	expect((await check(old)).order.escrow).toBe(retired);
});

test("a signed receipt that contradicts itself is refused", async () => {
	const later = makeOrder({
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
	});
	for (const [changes, field] of [
		[{ orderId: `0x${"0d".repeat(32)}` }, "orderId"],
		[{ order: { ...settled.order, deadlines: String(later.deadlines) } }, "orderId"],
		[{ terms: { ...settled.terms, minOutput: "1" } }, "terms.minOutput"],
		[{ terms: { ...settled.terms, recipient: receiptKey.address } }, "terms.recipient"],
		[{ deliveredAmount: "9930099" }, "deliveredAmount"],
		[{ status: "refunded" }, "deliveredAmount"],
		[{ status: "failed" }, "deliveredAmount"],
		[{ quotedAt: settled.createdAt }, "quotedAt"],
	] as const) {
		await expect(check(await makeReceipt(changes as object)), field).rejects.toMatchObject({ field });
	}
});
