import {
	type Address,
	decodeFunctionResult,
	encodeFunctionData,
	erc20Abi,
	hexToBigInt,
	multicall3Abi,
	prepareEncodeFunctionData,
	slice,
	zeroAddress,
} from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";
import { callMulticall, encodeViews, multicallAddress, type View } from "./call-multicall.ts";

// viem hashes function names at each call: these are hashed once.
const getEthBalance = prepareEncodeFunctionData({ abi: multicall3Abi, functionName: "getEthBalance" });
const balanceOf = prepareEncodeFunctionData({ abi: erc20Abi, functionName: "balanceOf" });

/** Reads all views in one call, at one block. Each must answer with a number. */
export async function readViews(chain: EvmChain, views: readonly View[]): Promise<bigint[]> {
	const data = await requestChain(
		chain.chainId,
		callMulticall(chain, encodeViews(views, { allowFailure: false })),
	);
	const answers = decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data });
	return answers.map(({ returnData }) => hexToBigInt(slice(returnData, 0, 32)));
}

/** Returns the call that reads a wallet's balance of a token; the zero address stands for the native token. */
export function balanceView(chain: EvmChain, { wallet, token }: { wallet: Address; token: Address }): View {
	if (token === zeroAddress) {
		return {
			target: multicallAddress(chain),
			callData: encodeFunctionData({ ...getEthBalance, args: [wallet] }),
		};
	}
	return {
		target: token,
		callData: encodeFunctionData({ ...balanceOf, args: [wallet] }),
	};
}
