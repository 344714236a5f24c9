import { type Address, toHex } from "viem";
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

test("no op is made for a chain id that is none, or a swap key that is no UUID", () => {
	expect(() => make({ originChainId: 2n ** 53n })).toThrow(RangeError);
	expect(() => make({ originChainId: 0n })).toThrow(RangeError);
	expect(() => make({ swapKey: toHex(2n ** 128n, { size: 32 }) })).toThrow(RangeError);
});
