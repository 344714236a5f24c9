import { type Address, getAbiItem, type Hex, toFunctionSelector, zeroAddress } from "viem";
import { type EvmContext, Revert } from "./evm-call.ts";
import { tokenAbi } from "./sim-token.ts";
import { stateKey } from "./state-overlay.ts";

const transfer = toFunctionSelector(getAbiItem({ abi: tokenAbi, name: "transfer" }));

type Payment = { from: Address; token: Address; to: Address; amount: bigint };

/** Throws the token's error, or an empty one if the native token does not arrive. */
export function payFromContract(context: EvmContext, { from, token, to, amount }: Payment): void {
	if (token === zeroAddress) {
		context.gas.used += 10_000n;
		context.call({ from, to, value: amount, data: "0x" });
		return;
	}
	if (context.kindOf(token) !== "token") throw new Revert();
	const data: Hex = `${transfer}${to.slice(2).padStart(64, "0")}${amount.toString(16).padStart(64, "0")}`;
	context.call({ from, to: token, value: 0n, data });
}

/** Returns a balance as a contract reads it. Throws if there is no token. */
export function balanceAt(context: EvmContext, token: Address, holder: Address): bigint {
	if (context.kindOf(token) !== "token") throw new Revert();
	return context.state.number(stateKey.balance(token, holder));
}
