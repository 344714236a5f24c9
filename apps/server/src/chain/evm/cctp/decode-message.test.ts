import { toWord } from "@geoswap/protocol";
import fc from "fast-check";
import { type Address, concat, type Hex, hexToBytes, numberToHex, slice, toHex, zeroHash } from "viem";
import { expect, test } from "vitest";
import { type CctpBurn, checkMessage, decodeMessage } from "./decode-message.ts";

const address = (byte: string): Address => `0x${byte.repeat(20)}`;
const burn: CctpBurn = {
	sourceDomain: 6,
	destinationDomain: 3,
	sourceMessenger: address("a1"),
	destinationMessenger: address("a2"),
	route: address("a3"),
	burnToken: address("a4"),
	recipient: address("a5"),
	amount: 1_000_000_000n,
	maxFee: 130_000n,
	minFinalityThreshold: 1_000,
};

type Chosen = { nonce: Hex; executed: number; fee: bigint; expirationBlock: bigint };
const chosen: Chosen = {
	nonce: toHex(7, { size: 32 }),
	executed: 1_000,
	fee: 130_000n,
	expirationBlock: 99n,
};

function encode({
	burn: { amount, maxFee, ...terms },
	chosen: { nonce, executed, fee, expirationBlock },
	hook = "0x",
}: {
	burn: CctpBurn;
	chosen: Chosen;
	hook?: Hex;
}): Hex {
	const four = (value: number) => numberToHex(value, { size: 4 });
	const word = (value: bigint) => numberToHex(value, { size: 32 });
	return concat([
		...[four(1), four(terms.sourceDomain), four(terms.destinationDomain), nonce],
		...[toWord(terms.sourceMessenger), toWord(terms.destinationMessenger), zeroHash],
		...[four(terms.minFinalityThreshold), four(executed), four(1)],
		...[toWord(terms.burnToken), toWord(terms.recipient), word(amount), toWord(terms.route)],
		...[word(maxFee), word(fee), word(expirationBlock), hook],
	]);
}

const honest = encode({ burn, chosen });

/** The bytes that Circle chooses: the nonce, the finality at which it signed, the fee and the block of expiry. */
const chosenBytes = [
	[12, 44],
	[144, 148],
	[148 + 164, 148 + 228],
] as const;
const isChosen = (at: number) => chosenBytes.some(([from, to]) => at >= from && at < to);

test("a message decodes to the fields that its bytes have", () => {
	expect(decodeMessage(honest)).toEqual({
		sourceDomain: 6,
		destinationDomain: 3,
		nonce: chosen.nonce,
		sender: toWord(burn.sourceMessenger),
		recipient: toWord(burn.destinationMessenger),
		destinationCaller: zeroHash,
		minFinalityThreshold: 1_000,
		finalityThresholdExecuted: 1_000,
		burnToken: toWord(burn.burnToken),
		mintRecipient: toWord(burn.recipient),
		amount: burn.amount,
		messageSender: toWord(burn.route),
		maxFee: 130_000n,
		feeExecuted: 130_000n,
		expirationBlock: 99n,
	});
});

// The message of a burn on Base, as its MessageSent has it.
test("a message of Circle's own contract decodes", () => {
	const sent =
		"0x00000001000000060000001a000000000000000000000000000000000000000000000000000000000000000000000000000000000000000028b5a0e9c621a5badaa536219b3a228c8168cf5d00000000000000000000000028b5a0e9c621a5badaa536219b3a228c8168cf5d0000000000000000000000000000000000000000000000000000000000000000000007d000000000";
	const body = slice(honest, 148);
	const message = decodeMessage(concat([sent, body]));
	expect(message).toMatchObject({
		sourceDomain: 6,
		destinationDomain: 26,
		nonce: zeroHash,
		sender: "0x00000000000000000000000028b5a0e9c621a5badaa536219b3a228c8168cf5d",
		minFinalityThreshold: 2_000,
		finalityThresholdExecuted: 0,
	});
});

test("any changed byte of what Circle does not choose is refused", () => {
	const at = fc.nat(375).filter((index) => !isChosen(index));
	fc.assert(
		fc.property(at, fc.integer({ min: 1, max: 255 }), (index, difference) => {
			const bytes = hexToBytes(honest);
			bytes[index] = (bytes[index] ?? 0) ^ difference;
			expect(checkMessage(toHex(bytes), burn)).toHaveProperty("problem");
		}),
		{ numRuns: 1_000 },
	);
});

test("every recipient, amount, token, route, domain or messenger but the move's own is refused", () => {
	const anyAddress = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toHex(bytes));
	const anyDomain = fc.nat(0xffff_ffff);
	const others: Record<string, fc.Arbitrary<unknown>> = {
		recipient: anyAddress,
		burnToken: anyAddress,
		route: anyAddress,
		sourceMessenger: anyAddress,
		destinationMessenger: anyAddress,
		sourceDomain: anyDomain,
		destinationDomain: anyDomain,
		amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
		maxFee: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
		minFinalityThreshold: anyDomain,
	};
	const change = fc.oneof(
		...Object.entries(others).map(([name, value]) => value.map((other) => ({ [name]: other }))),
	);
	fc.assert(
		fc.property(change, (other) => {
			const changed = { ...burn, ...other } as CctpBurn;
			const message = encode({ burn: changed, chosen });
			fc.pre(message !== honest);
			expect(checkMessage(message, burn)).toHaveProperty("problem");
			// What is refused for this burn is right for that one, unless its own terms allow no message.
			fc.pre(
				changed.maxFee >= chosen.fee && changed.amount > chosen.fee && changed.minFinalityThreshold <= 1_000,
			);
			expect(checkMessage(message, changed)).toHaveProperty("message.nonce", chosen.nonce);
		}),
	);
});

test("a message is right with any nonce, block of expiry, and fee up to the maximum", () => {
	fc.assert(
		fc.property(
			fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((bytes) => bytes.some((byte) => byte > 0)),
			fc.constantFrom(1_000, 2_000),
			fc.bigInt({ min: 0n, max: burn.maxFee }),
			fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
			(nonce, executed, fee, expirationBlock) => {
				const message = encode({ burn, chosen: { nonce: toHex(nonce), executed, fee, expirationBlock } });
				expect(checkMessage(message, burn)).toMatchObject({
					message: { nonce: toHex(nonce), feeExecuted: fee, expirationBlock },
				});
			},
		),
	);
});

test.each<[string, Partial<Parameters<typeof encode>[0]>]>([
	["without a nonce", { chosen: { ...chosen, nonce: zeroHash } }],
	["with a fee above the maximum", { chosen: { ...chosen, fee: burn.maxFee + 1n } }],
	["signed at less finality than the burn demands", { chosen: { ...chosen, executed: 999 } }],
	["with a hook", { hook: "0x00" }],
])("a message %s is refused", (_, change) => {
	expect(checkMessage(encode({ burn, chosen, ...change }), burn)).toHaveProperty("problem");
});

test("a standard burn's message that was signed as a fast one is refused", () => {
	const standard = { ...burn, minFinalityThreshold: 2_000 };
	expect(checkMessage(encode({ burn: standard, chosen }), standard)).toHaveProperty("problem");
});

test("bytes of another length or version are refused", () => {
	const shorter = fc.nat(375).map((length) => (length === 0 ? "0x" : slice(honest, 0, length)));
	fc.assert(
		fc.property(shorter, (bytes) => {
			expect(checkMessage(bytes, burn)).toHaveProperty("problem");
		}),
	);
	expect(checkMessage(honest.slice(0, -1) as Hex, burn)).toHaveProperty("problem");
	expect(checkMessage("PENDING" as Hex, burn)).toHaveProperty("problem");
	expect(checkMessage(concat([numberToHex(2, { size: 4 }), slice(honest, 4)]), burn)).toEqual({
		problem: "it has version 2, not 1",
	});
});
