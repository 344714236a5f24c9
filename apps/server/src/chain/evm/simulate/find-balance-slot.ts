import {
	type Address,
	concatHex,
	encodeAbiParameters,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	hexToBigInt,
	keccak256,
	numberToHex,
	zeroAddress,
} from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { callWithCodes } from "./simulate-by-call.ts";

/**
 * Tokens keep balances in a mapping at one of their first storage slots: 0 in most, 9 in USDC, up to 51 in upgradeable
 * ones.
 */
const slotsTried = 64n;
/** The place of the balances in OpenZeppelin's upgradeable tokens since version 5 (ERC-7201). */
const namespaced = hexToBigInt("0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00");

/**
 * Finds the storage slot in which a token keeps a holder's balance, so that a simulation can set it. Sets all usual
 * slots during one call, each to a different number, and checks which number is the balance. Returns undefined if none
 * is.
 */
export async function findBalanceSlot(
	chain: Pick<EvmChain, "client">,
	{ token, holder }: { token: Address; holder: Address },
): Promise<Hex | undefined> {
	const places = [...Array.from({ length: Number(slotsTried) }, (_, i) => BigInt(i)), namespaced];
	const candidates = places.flatMap((place) => [inMapping(holder, place), inVyperMapping(holder, place)]);
	const marked = candidates.map((slot, i) => ({ slot, number: 1_000_000_007n + BigInt(i) }));
	const balance = await callWithCodes(
		chain,
		{
			from: zeroAddress,
			to: token,
			data: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [holder] }),
			gas: 1_000_000n,
			slots: marked.map(({ slot, number }) => ({ address: token, slot, value: word(number) })),
		},
		[],
	);
	return marked.find(({ number }) => balance === word(number))?.slot;
}

/** Returns the slot of a key in a mapping of Solidity. */
function inMapping(key: Address, place: bigint): Hex {
	return keccak256(encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [key, place]));
}

/** Returns the same in Vyper, which hashes the place first. */
function inVyperMapping(key: Address, place: bigint): Hex {
	return keccak256(concatHex([word(place), encodeAbiParameters([{ type: "address" }], [key])]));
}

function word(value: bigint): Hex {
	return numberToHex(value, { size: 32 });
}
