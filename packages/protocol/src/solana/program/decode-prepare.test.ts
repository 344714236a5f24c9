import { createNoopSigner, type Instruction } from "@solana/kit";
import fc from "fast-check";
import { bytesToHex, type Hex } from "viem";
import { expect, test } from "vitest";
import { packDeadlines } from "../../deadlines.ts";
import { type Order, orderId } from "../../order.ts";
import { solanaChainId } from "../../solana-chain-id.ts";
import { fromSolanaWord, solanaNativeToken, toSolanaWord } from "../solana-address.ts";
import { decodeDecide, decodeFill, decodePrepare, decodeVoid } from "./decode-prepare.ts";
import { decideOrders, prepareOrder } from "./escrow-instructions.ts";
import { fillOrder, voidOrder } from "./vault-instructions.ts";

const bytes = (size: number) =>
	fc.uint8Array({ minLength: size, maxLength: size }).map((array): Hex => bytesToHex(array));
const word = bytes(32);
const number = (bits: bigint) => fc.bigInt(0n, 2n ** bits - 1n);
const key = word.map(fromSolanaWord);
const token = fc.oneof(word, fc.constant(toSolanaWord(solanaNativeToken)));
const solana = BigInt(solanaChainId);
const terms = {
	wallet: word,
	inputToken: token,
	originChainId: number(64n),
	destinationChainId: number(64n),
	outputToken: token,
	recipient: word,
	escrow: word,
	originVault: word,
	destinationVault: word,
	attesterSet: word,
	swapKey: bytes(16).map((low): Hex => `0x${"0".repeat(32)}${low.slice(2)}`),
	deadlines: fc
		.uniqueArray(number(64n), { minLength: 3, maxLength: 3 })
		.map((times) => times.toSorted((a, b) => (a < b ? -1 : 1)))
		.map(([openDeadline = 0n, fillDeadline = 0n, refundAfter = 0n]) =>
			packDeadlines({ openDeadline, fillDeadline, refundAfter }),
		),
};
const orderFrom = fc.record({
	...terms,
	inputAmount: number(64n),
	minOutput: number(128n),
	topUp: number(128n),
	originChainId: fc.constant(solana),
});
const orderTo = fc.record({
	...terms,
	inputAmount: number(128n),
	minOutput: number(64n),
	topUp: number(64n),
	destinationChainId: fc.constant(solana),
});

function seen({ accounts = [], data = new Uint8Array() }: Instruction) {
	return { addresses: accounts.map(({ address }) => address), data: new Uint8Array(data) };
}

test("every order is decoded from the instructions that prepare, fill and void it, and none from shorter data", async () => {
	const operator = createNoopSigner(solanaNativeToken);
	await fc.assert(
		fc.asyncProperty(key, orderFrom, async (program, terms) => {
			const order: Order = { ...terms, escrow: toSolanaWord(program) };
			const prepare = seen(await prepareOrder(program, order, operator));
			expect(decodePrepare(prepare, program)).toEqual(order);
			expect(() => decodePrepare({ ...prepare, data: prepare.data.slice(0, -1) }, program)).toThrow("short");
		}),
		{ numRuns: 50 },
	);
	await fc.assert(
		fc.asyncProperty(key, orderTo, number(64n), async (program, order, amount) => {
			const asset = { address: fromSolanaWord(order.outputToken) } as never;
			const fill = seen(await fillOrder(program, order, { operator, amount }));
			expect(await decodeFill(fill, { assets: [asset] })).toEqual({ order, amount });
			const isNative = fromSolanaWord(order.outputToken) === solanaNativeToken;
			if (!isNative) await expect(decodeFill(fill, { assets: [] })).rejects.toThrow("none of");
			await expect(
				decodeFill({ ...fill, data: fill.data.slice(0, -1) }, { assets: [asset] }),
			).rejects.toThrow();
			expect(decodeVoid(seen(await voidOrder(program, order, operator)))).toEqual(order);
		}),
		{ numRuns: 50 },
	);
});

test("attesters and signatures are decoded from the instruction that decides an order", async () => {
	const set = { threshold: 2, attesters: [`0x${"01".repeat(20)}`, `0x${"02".repeat(20)}`] as const };
	const signatures = [`0x${"aa".repeat(65)}`, `0x${"bb".repeat(65)}`] as const;
	const order = fc.sample(orderFrom, 1)[0] as Order;
	const decide = await decideOrders(solanaNativeToken, "Refund", {
		orderIds: [orderId(order)],
		set,
		signatures,
	});
	expect(decodeDecide(seen(decide))).toEqual({ set, signatures });
});
