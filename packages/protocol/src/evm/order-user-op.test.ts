import fc from "fast-check";
import { type Address, type Hex, toHex } from "viem";
import { entryPoint09Address, getUserOperationHash } from "viem/account-abstraction";
import { expect, test } from "vitest";
import { anyOrder } from "../../vectors/read-vectors.ts";
import type { Order } from "../order.ts";
import { orderUserOp } from "./order-user-op.ts";

const delegate: Address = "0x00000000000000000000000000000000000D1e6A";
const gas = { verificationGasLimit: 60_000n, callGasLimit: 200_000n };
const make = (change: Partial<Order> = {}) =>
	orderUserOp({ order: { ...anyOrder(), ...change }, delegate, allowance: 0n, gas });

test("a change of any field of the order changes what is signed", () => {
	const order = anyOrder();
	for (const field of Object.keys(order) as (keyof Order)[]) {
		const value = order[field];
		const other = typeof value === "bigint" ? value + 1n : toHex(BigInt(value) + 1n, { size: 32 });
		expect(make({ [field]: other }).hash, field).not.toBe(make().hash);
	}
});

test("a change of delegate, allowance or gas changes what is signed", () => {
	const inputs = { order: anyOrder(), delegate, allowance: 0n, gas };
	const otherDelegate: Address = "0x00000000000000000000000000000000000d1E6b";
	const hashes = [
		inputs,
		{ ...inputs, delegate: otherDelegate },
		{ ...inputs, allowance: 1n },
		{ ...inputs, gas: { ...gas, verificationGasLimit: 60_001n } },
		{ ...inputs, gas: { ...gas, callGasLimit: 200_001n } },
	].map((input) => orderUserOp(input).hash);
	expect(new Set(hashes).size).toBe(hashes.length);
});

test("the op pays no fee, has no paymaster, carries the delegation marker and the swap's own nonce", () => {
	expect(make().userOp).toMatchObject({
		gasFees: toHex(0, { size: 32 }),
		preVerificationGas: 0n,
		paymasterAndData: "0x",
		initCode: "0x7702",
		nonce: 0x0192f3c4a5b67c8d9e0f112233445566n << 64n,
	});
});

test("an invalid chain id, or a swap key that is not a UUID, is refused", () => {
	expect(() => make({ originChainId: 2n ** 53n })).toThrow(RangeError);
	expect(() => make({ originChainId: 0n })).toThrow(RangeError);
	expect(() => make({ swapKey: toHex(2n ** 128n, { size: 32 }) })).toThrow(RangeError);
});

test("the hash of the op equals the one that viem computes for EntryPoint v0.9", () => {
	const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes));
	const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n });
	const terms = fc.record({
		originChainId: fc.bigInt({ min: 1n, max: 2n ** 53n - 1n }),
		originVault: word,
		recipient: word,
		inputAmount: uint(256),
		minOutput: uint(256),
		deadlines: uint(256),
		swapKey: uint(128).map((key) => toHex(key, { size: 32 })),
	});
	const delegates = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes): Hex => toHex(bytes));
	const limits = fc.record({ verificationGasLimit: uint(128), callGasLimit: uint(128) });
	fc.assert(
		fc.property(terms, delegates, uint(256), limits, (change, delegate, allowance, gas) => {
			const order = { ...anyOrder(), ...change };
			const { hash, userOp } = orderUserOp({ order, delegate, allowance, gas });
			const { sender, nonce, callData } = userOp;
			const userOperation = {
				sender,
				nonce,
				callData,
				...gas,
				factory: "0x7702" as const,
				authorization: { address: delegate, chainId: 0, nonce: 0, r: toHex(0), s: toHex(0), yParity: 0 },
				preVerificationGas: 0n,
				maxFeePerGas: 0n,
				maxPriorityFeePerGas: 0n,
				signature: "0x" as const,
			};
			const chainId = Number(order.originChainId);
			const entryPoint = { entryPointAddress: entryPoint09Address, entryPointVersion: "0.9" } as const;
			expect(hash).toBe(getUserOperationHash({ chainId, ...entryPoint, userOperation }));
		}),
	);
});
