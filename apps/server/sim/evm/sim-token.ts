import {
	type AbiFunction,
	type Address,
	encodeFunctionResult,
	type Hex,
	maxUint256,
	parseAbi,
	toFunctionSelector,
	zeroAddress,
} from "viem";
import {
	decodeCall,
	type EvmCall,
	type EvmContext,
	type EvmContract,
	emit,
	lower,
	moveNative,
	Revert,
	revertWith,
} from "./evm-call.ts";
import { stateKey } from "./state-overlay.ts";

/** A usual token, one that behaves like USDT, WETH9, or a stranger's that takes from nobody and pays nobody. */
export type TokenKind = "standard" | "without-return" | "wrapped-native" | "hollow";

export const tokenAbi = parseAbi([
	"function name() view returns (string)",
	"function symbol() view returns (string)",
	"function decimals() view returns (uint8)",
	"function balanceOf(address) view returns (uint256)",
	"function allowance(address, address) view returns (uint256)",
	"function approve(address, uint256) returns (bool)",
	"function transfer(address, uint256) returns (bool)",
	"function transferFrom(address, address, uint256) returns (bool)",
	"function mint(address, uint256)",
	"function deposit() payable",
	"function withdraw(uint256)",
	"event Transfer(address indexed from, address indexed to, uint256 value)",
	"event Approval(address indexed owner, address indexed spender, uint256 value)",
	"event Deposit(address indexed dst, uint256 wad)",
	"event Withdrawal(address indexed src, uint256 wad)",
	"error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
	"error ERC20InvalidReceiver(address receiver)",
	"error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
	"error ERC20InvalidSpender(address spender)",
	"error AllowanceStands()",
	"error Panic(uint256)",
]);

/** The address at which a stranger has deployed a hollow token. */
export const hollowToken: Address = "0x00000000000000000000000000000000000bad01";

/** The code of an account on the tokens' blocklist, which receives nothing. */
export const blockedCode = "0xfd";

const isTrue: Hex = `0x${"1".padStart(64, "0")}`;
const gas = { transfer: 35_000n, approve: 25_000n, view: 2_500n };

type TokenCall = ReturnType<typeof decodeCall<typeof tokenAbi>>;
const usualNames = new Set(["approve", "transfer", "transferFrom", "balanceOf", "allowance"]);
const usual = new Map<string, AbiFunction>();
for (const item of tokenAbi) {
	if (item.type === "function" && usualNames.has(item.name)) usual.set(toFunctionSelector(item), item);
}

/** Decodes a call, with a shortcut for the calls that come in every block. */
function readCall(data: Hex): TokenCall {
	const known = usual.get(data.slice(0, 10));
	if (!known || data.length < 10 + 64 * known.inputs.length) return decodeCall(tokenAbi, data);
	const args = known.inputs.map(({ type }, i) => {
		const word = data.slice(10 + 64 * i, 74 + 64 * i);
		return type === "address" ? `0x${word.slice(24)}` : BigInt(`0x${word}`);
	});
	return { functionName: known.name, args } as unknown as TokenCall;
}

export function createSimToken({
	kind,
	symbol,
	decimals,
}: {
	kind: TokenKind;
	symbol: string;
	decimals: number;
}): EvmContract {
	const answer = kind === "without-return" ? "0x" : isTrue;
	const overflow = () => revertWith(tokenAbi, "Panic", [0x11n]);

	const move = (context: EvmContext, token: Address, from: Address, to: Address, amount: bigint) => {
		const { state } = context;
		const [fromKey, toKey] = [stateKey.balance(token, from), stateKey.balance(token, to)];
		const held = state.number(fromKey);
		if (kind === "standard" && to === zeroAddress) {
			throw revertWith(tokenAbi, "ERC20InvalidReceiver", [zeroAddress]);
		}
		if (state.text(stateKey.code(to)) === blockedCode) {
			throw revertWith(tokenAbi, "ERC20InvalidReceiver", [to]);
		}
		if (held < amount) {
			if (kind === "standard") throw revertWith(tokenAbi, "ERC20InsufficientBalance", [from, held, amount]);
			throw kind === "without-return" ? overflow() : new Revert();
		}
		state.set(fromKey, held - amount);
		state.set(toKey, state.number(toKey) + amount);
		emit(context, token, { abi: tokenAbi, name: "Transfer", args: [from, to, amount] });
	};

	const spend = (
		{ state }: EvmContext,
		token: Address,
		{ owner, spender, amount }: { owner: Address; spender: Address; amount: bigint },
	) => {
		const key = stateKey.allowance(token, owner, spender);
		const allowed = state.number(key);
		const isEndless = allowed === maxUint256 && kind !== "without-return";
		if (isEndless || (kind === "wrapped-native" && owner === spender)) return;
		if (allowed < amount) {
			if (kind === "standard") {
				throw revertWith(tokenAbi, "ERC20InsufficientAllowance", [spender, allowed, amount]);
			}
			throw kind === "without-return" ? overflow() : new Revert();
		}
		state.set(key, allowed - amount);
	};

	const wrap = (context: EvmContext, token: Address, by: Address, amount: bigint) => {
		const key = stateKey.balance(token, by);
		context.state.set(key, context.state.number(key) + amount);
		emit(context, token, { abi: tokenAbi, name: "Deposit", args: [by, amount] });
	};

	return (context, { from, to: token, value, data }: EvmCall) => {
		if (kind === "wrapped-native" && data === "0x") {
			wrap(context, token, from, value);
			return "0x";
		}
		const call = readCall(data);
		if (value > 0n && call.functionName !== "deposit") throw new Revert();
		const { state } = context;
		const view = (result: unknown) => {
			context.gas.used += gas.view;
			return encodeFunctionResult({
				abi: tokenAbi,
				functionName: call.functionName,
				result,
			} as Parameters<typeof encodeFunctionResult>[0]);
		};
		const number = (result: bigint): Hex => {
			context.gas.used += gas.view;
			return `0x${result.toString(16).padStart(64, "0")}`;
		};
		switch (call.functionName) {
			case "name":
			case "symbol":
				return view(symbol);
			case "decimals":
				return view(decimals);
			case "balanceOf":
				return number(state.number(stateKey.balance(token, lower(call.args[0]))));
			case "allowance":
				return number(state.number(stateKey.allowance(token, lower(call.args[0]), lower(call.args[1]))));
			case "approve": {
				const [spender, amount] = [lower(call.args[0]), call.args[1]];
				const key = stateKey.allowance(token, from, spender);
				if (kind === "standard" && spender === zeroAddress) {
					throw revertWith(tokenAbi, "ERC20InvalidSpender", [zeroAddress]);
				}
				if (kind === "without-return" && amount !== 0n && state.number(key) !== 0n) {
					throw revertWith(tokenAbi, "AllowanceStands");
				}
				context.gas.used += gas.approve;
				state.set(key, amount);
				emit(context, token, { abi: tokenAbi, name: "Approval", args: [from, spender, amount] });
				return answer;
			}
			case "transfer":
				context.gas.used += gas.transfer;
				if (kind === "hollow") return answer;
				move(context, token, from, lower(call.args[0]), call.args[1]);
				return answer;
			case "transferFrom": {
				const [owner, to, amount] = [lower(call.args[0]), lower(call.args[1]), call.args[2]];
				context.gas.used += gas.transfer;
				if (kind === "wrapped-native" && state.number(stateKey.balance(token, owner)) < amount) {
					throw new Revert();
				}
				if (kind === "hollow") {
					const key = stateKey.balance(token, to);
					state.set(key, state.number(key) + amount);
					return answer;
				}
				spend(context, token, { owner, spender: from, amount });
				move(context, token, owner, to, amount);
				return answer;
			}
			case "mint": {
				if (kind === "wrapped-native") throw new Revert();
				const [to, amount] = [lower(call.args[0]), call.args[1]];
				const key = stateKey.balance(token, to);
				context.gas.used += gas.transfer;
				state.set(key, state.number(key) + amount);
				emit(context, token, { abi: tokenAbi, name: "Transfer", args: [zeroAddress, to, amount] });
				return "0x";
			}
			case "deposit":
				if (kind !== "wrapped-native") throw new Revert();
				context.gas.used += gas.transfer;
				wrap(context, token, from, value);
				return "0x";
			case "withdraw": {
				if (kind !== "wrapped-native") throw new Revert();
				const key = stateKey.balance(token, from);
				const held = state.number(key);
				const [amount] = call.args;
				if (held < amount) throw new Revert();
				context.gas.used += gas.transfer;
				state.set(key, held - amount);
				moveNative(context, { from: token, to: from, amount });
				emit(context, token, { abi: tokenAbi, name: "Withdrawal", args: [from, amount] });
				return "0x";
			}
		}
	};
}
