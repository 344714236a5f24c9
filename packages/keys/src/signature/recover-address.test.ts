import { type Hex, recoverAddress as recoverByViem, toHex } from "viem";
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { addressOfKey, recoverAddress } from "./recover-address.ts";

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const word = (value: bigint) => toHex(value, { size: 32 }).slice(2);
const key: Hex = "0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";

test("a key's address equals viem's, and a key that is zero or not below the curve's order is refused", () => {
	for (const privateKey of [key, toHex(1n, { size: 32 }), toHex(order - 1n, { size: 32 })]) {
		expect(addressOfKey(privateKey)).toBe(privateKeyToAddress(privateKey));
	}
	for (const bad of [0n, order, order + 1n]) {
		expect(() => addressOfKey(toHex(bad, { size: 32 }))).toThrow();
	}
});

/** Seeds whose signatures were once recovered wrongly. */
const fixedSeeds: readonly number[] = [];

test.each([...fixedSeeds, Number(process.env.GEOSWAP_SEED)])(
	"for 1,000 valid, malleable, altered and random signatures, the recovered signer equals viem's (seed %i)",
	async (seed) => {
		const random = sequence(seed);
		const randomBytes = (length: number) => Uint8Array.from({ length }, () => Math.floor(random() * 256));
		const account = privateKeyToAccount(key);
		const changes: ((signature: Hex) => string)[] = [
			(signature) => signature,
			// The twin of each signature: the other half of s, the other parity.
			(signature) => {
				const s = order - BigInt(`0x${signature.slice(66, 130)}`);
				return `${signature.slice(0, 66)}${word(s)}${signature.endsWith("1b") ? "1c" : "1b"}`;
			},
			(signature) => `${signature.slice(0, 130)}${signature.endsWith("1b") ? "1c" : "1b"}`,
			(signature) => `${signature.slice(0, 130)}${signature.endsWith("1b") ? "00" : "01"}`,
			(signature) => `${signature.slice(0, 130)}${toHex(randomBytes(1)).slice(2)}`,
			(signature) => `0x${word(0n)}${signature.slice(66)}`,
			(signature) => `${signature.slice(0, 66)}${word(0n)}${signature.slice(130)}`,
			(signature) => `0x${word(order)}${signature.slice(66)}`,
			(signature) => `${signature.slice(0, 66)}${word(order)}${signature.slice(130)}`,
			(signature) => `${signature.slice(0, 66)}${word(order - 1n)}${signature.slice(130)}`,
			() => `${toHex(randomBytes(64))}1b`,
			(signature) => signature.slice(0, 130),
			(signature) => `${signature}00`,
		];
		let recovered = 0;
		for (let i = 0; i < 1_000; i++) {
			const hash = toHex(randomBytes(32));
			const signature = changes[i % changes.length]?.(await account.sign({ hash })) as Hex;
			const expected = await recoverByViem({ hash, signature }).catch(() => undefined);
			const signer = recoverAddress({ hash, signature });
			if (signer !== expected)
				expect({ hash, signature, signer }).toEqual({ hash, signature, signer: expected });
			if (signer === account.address) recovered += 1;
		}
		expect(recovered).toBeGreaterThan(200);
	},
);

/** Returns a generator of numbers from a seed. */
function sequence(seed: number): () => number {
	let state = seed | 1;
	return () => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) / 2 ** 32;
	};
}
