import { solanaNativeToken as native, tokenAccountOf } from "@geoswap/protocol";
import { getBase58Decoder } from "@solana/kit";
import { expect, test } from "vitest";
import { programCalls } from "./program-calls.ts";

test("calls that another program forwards count, and the same data sent to another program does not", async () => {
	const addressOf = (token: typeof native) => tokenAccountOf({ owner: native, token });
	const program = await addressOf(native);
	const vault = await addressOf(program);
	const order = await addressOf(vault);
	const addresses = [native, program, vault, order];
	const pay = Uint8Array.of(4);
	const inner = (programIdIndex: number, data: Uint8Array, accounts: number[]) => ({
		instructions: [{ programIdIndex, accounts, data: getBase58Decoder().decode(data) }],
	});
	const called = programCalls(
		{ address: program, vault },
		{
			addresses,
			instructions: [
				{ program: native, accounts: [order, vault], data: pay },
				{ program, accounts: [order, vault], data: Uint8Array.of(1) },
				// A decision changes no balance.
				{ program, accounts: [order], data: Uint8Array.of(2) },
				{ program, accounts: [native, order], data: Uint8Array.of(16, 1) },
			],
			inner: [inner(0, pay, [3, 2]), inner(1, pay, [3, 2]), inner(1, Uint8Array.of(17), [0, 2, 3])],
		},
	);
	expect(called).toEqual([
		{ name: "open", accounts: [order, vault] },
		{ name: "pay", accounts: [order, vault] },
		{ name: "void", accounts: [native, vault, order] },
	]);
});
