import { decodeFunctionData, erc20Abi, toHex } from "viem";
import { expect, test } from "vitest";
import { anyOrder } from "../../vectors/read-vectors.ts";
import { geoEscrowAbi } from "../abi/geo-escrow-abi.ts";
import { orderTerms } from "../order.ts";
import { fromWord } from "../word.ts";
import { type Call, orderCalls } from "./order-calls.ts";

const order = anyOrder();
const escrow = fromWord(order.escrow);
const token = fromWord(order.inputToken);

const approval = ({ to, data }: Call) => ({ to, args: decodeFunctionData({ abi: erc20Abi, data }).args });

test("the calls approve exactly the input and open exactly the order", () => {
	const [approve, open, ...rest] = orderCalls({ order, allowance: 0n }) as [Call, Call];
	expect(approval(approve)).toEqual({ to: token, args: [escrow, order.inputAmount] });
	expect(open).toMatchObject({ to: escrow, value: 0n });
	expect(decodeFunctionData({ abi: geoEscrowAbi, data: open.data })).toEqual({
		functionName: "open",
		args: [orderTerms(order)],
	});
	expect(rest).toEqual([]);
});

test("an existing allowance is cleared first", () => {
	const [clear, approve, open] = orderCalls({ order, allowance: 1n }) as [Call, Call, Call];
	expect(approval(clear)).toEqual({ to: token, args: [escrow, 0n] });
	expect(approval(approve)).toEqual({ to: token, args: [escrow, order.inputAmount] });
	expect(open.to).toBe(escrow);
});

test("a native input is sent with the call to open, without an approval", () => {
	const native = { ...order, inputToken: toHex(0, { size: 32 }) };
	expect(orderCalls({ order: native, allowance: 1n })).toMatchObject([
		{ to: escrow, value: order.inputAmount },
	]);
});
