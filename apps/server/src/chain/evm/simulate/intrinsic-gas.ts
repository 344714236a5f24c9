import { type Hex, hexToBytes } from "viem";

/** Returns the gas that a transaction with this data and no authorizations pays before its first instruction. */
export function intrinsicGas(data: Hex): bigint {
	let tokens = 0n;
	for (const byte of hexToBytes(data)) tokens += byte === 0 ? 1n : 4n;
	return 21_000n + 4n * tokens;
}
