import fc from "fast-check";
import { toHex } from "viem";
import { expect, test } from "vitest";
import {
	addressOfWord,
	formatAddress,
	formatTransactionHash,
	isSolana,
	parseAddress,
	wordOfAddress,
} from "./chain-address.ts";
import { solanaNativeToken } from "./solana/solana-address.ts";
import { solanaChainId } from "./solana-chain-id.ts";

const bytes = (length: number) =>
	fc.uint8Array({ minLength: length, maxLength: length }).map((array) => toHex(array));

test("an address round-trips through its 32-byte word and through its text, on an EVM chain and on Solana", () => {
	for (const [chainId, length] of [
		[1, 20],
		[solanaChainId, 32],
	] as const) {
		fc.assert(
			fc.property(bytes(length), (hex) => {
				const address = parseAddress(chainId, formatAddress(chainId, hex));
				expect(address?.toLowerCase()).toBe(hex);
				expect(addressOfWord(chainId, wordOfAddress(chainId, hex)).toLowerCase()).toBe(hex);
			}),
		);
	}
});

test("an EVM address is invalid on Solana, and a Solana address is invalid on an EVM chain", () => {
	fc.assert(
		fc.property(bytes(20), bytes(32), (evm, solana) => {
			expect(parseAddress(solanaChainId, formatAddress(1, evm))).toBeUndefined();
			expect(parseAddress(1, formatAddress(solanaChainId, solana))).toBeUndefined();
			expect(() => wordOfAddress(solanaChainId, evm)).toThrow(RangeError);
			expect(() => wordOfAddress(1, solana)).toThrow(RangeError);
		}),
	);
});

test("Solana's native token is the zero word, and a Solana transaction hash is written in base58", () => {
	expect(parseAddress(solanaChainId, solanaNativeToken)).toBe(toHex(0, { size: 32 }));
	expect(formatTransactionHash(solanaChainId, toHex(0, { size: 64 }))).toBe("1".repeat(64));
	expect(formatTransactionHash(1, "0xab")).toBe("0xab");
	expect([isSolana(solanaChainId), isSolana(BigInt(solanaChainId)), isSolana(1)]).toEqual([
		true,
		true,
		false,
	]);
});
