import {
	type Address,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	prepareEncodeFunctionData,
	zeroAddress,
} from "viem";
import { geoEscrowAbi } from "../abi/geo-escrow-abi.ts";
import { type Order, orderTerms } from "../order.ts";
import { fromWord } from "../word.ts";

export type Call = { to: Address; value: bigint; data: Hex };

// Selectors are hashes of the functions' signatures, so they are computed only once.
const openCall = /*#__PURE__*/ prepareEncodeFunctionData({ abi: geoEscrowAbi, functionName: "open" });
const approveCall = /*#__PURE__*/ prepareEncodeFunctionData({ abi: erc20Abi, functionName: "approve" });

/**
 * Returns the calls by which a wallet without the service's delegate opens an order: approve and open, or open alone
 * for the native token. An existing allowance is cleared first, since some tokens refuse to change an allowance that is
 * not zero.
 */
export function orderCalls({ order, allowance }: { order: Order; allowance: bigint }): Call[] {
	const escrow = fromWord(order.escrow);
	const token = fromWord(order.inputToken);
	const open = encodeFunctionData({ ...openCall, args: [orderTerms(order)] });
	if (token === zeroAddress) return [{ to: escrow, value: order.inputAmount, data: open }];
	const approve = (amount: bigint): Call => ({
		to: token,
		value: 0n,
		data: encodeFunctionData({ ...approveCall, args: [escrow, amount] }),
	});
	return [
		...(allowance === 0n ? [] : [approve(0n)]),
		approve(order.inputAmount),
		{ to: escrow, value: 0n, data: open },
	];
}
