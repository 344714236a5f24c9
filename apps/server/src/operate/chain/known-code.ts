import { type Address, bytesToHex, type Hash, type Hex, hexToBytes, keccak256 } from "viem";

/**
 * Hashes of runtime code that is the same on every chain, by address. A test compares the hashes with the packages.
 */
export const codeHashes: Readonly<Record<Address, Hash>> = {
	/** The deterministic deployer, as anvil places it. */
	"0x4e59b44847b379578588920cA78FbF26c0B4956C":
		"0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989",
};

/**
 * Hashes of Uniswap's runtime code in its npm packages, without immutable addresses. A chain may have another build,
 * so other code is reported but not refused.
 */
export const uniswapCodeHashes = {
	factory: {
		package: "@uniswap/v3-core 1.0.1",
		hash: "0xc66c27d7d60725224552811cfb0e8148a15e914e0e31720daed102e61a0118af",
	},
	router: {
		package: "@uniswap/swap-router-contracts 1.3.1",
		hash: "0xe9acc1f5b963bf7640c14bb9547d82f5bf3b6f6cc82fb30189767a973fbd34b1",
	},
	quoterV2: {
		package: "@uniswap/swap-router-contracts 1.3.1",
		hash: "0x73ee33d5920e0ec67b414f5c03dedf3f0c53f835a343c278c409808d9776dd3c",
	},
} as const;

const push32 = 0x7f;
const addressPadding = 12;
const wordLength = 32;

/**
 * Returns the hash of the code with every pushed word that is an address set to zero. Solidity inserts immutable
 * addresses that way at construction, and leaves zeros there in its artifacts.
 */
export function hashWithoutAddresses(code: Hex): Hash {
	const bytes = hexToBytes(code);
	for (let at = 0; at + wordLength < bytes.length; at++) {
		if (bytes[at] !== push32) continue;
		const word = bytes.subarray(at + 1, at + 1 + wordLength);
		if (!word.subarray(0, addressPadding).every((byte) => byte === 0)) continue;
		word.fill(0);
		at += wordLength;
	}
	return keccak256(bytesToHex(bytes));
}
