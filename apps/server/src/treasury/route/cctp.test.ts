import { toWord } from "@geoswap/protocol";
import fc from "fast-check";
import { type Address, concat, type Hex, numberToHex, toHex, zeroHash } from "viem";
import { expect, test } from "vitest";
import { type CctpBurn, decodeMessage } from "../../chain/evm/cctp/decode-message.ts";
import type { IrisAnswer } from "../../chain/evm/cctp/read-attestation.ts";
import { type CctpFacts, type CctpMove, type CctpState, nextCctpStep } from "./cctp.ts";

const address = (byte: string): Address => `0x${byte.repeat(20)}`;
const amount = 1_000_000_000n;
const burn: CctpBurn = {
	sourceDomain: 6,
	destinationDomain: 3,
	sourceMessenger: address("a1"),
	destinationMessenger: address("a2"),
	route: address("a3"),
	burnToken: address("a4"),
	recipient: address("a5"),
	amount,
	maxFee: 130_000n,
	minFinalityThreshold: 1_000,
};
const move: CctpMove = {
	state: "sent",
	burn,
	mintToken: address("a6"),
	usualMs: { fast: 20_000, standard: 900_000 },
};
const facts: CctpFacts = {
	nowMs: 1_000_000,
	burn: { status: "burned", atMs: 990_000, isFinal: false },
	isMintInFlight: false,
	isNonceOfAnother: false,
	isNonceUsed: false,
};

function messageWith({
	recipient = burn.recipient,
	moved = amount,
	nonce = toHex(7, { size: 32 }),
	fee = 0n,
	executed = 2_000,
} = {}): Hex {
	const four = (value: number) => numberToHex(value, { size: 4 });
	const word = (value: bigint) => numberToHex(value, { size: 32 });
	return concat([
		...[four(1), four(burn.sourceDomain), four(burn.destinationDomain), nonce],
		...[toWord(burn.sourceMessenger), toWord(burn.destinationMessenger), zeroHash],
		...[four(burn.minFinalityThreshold), four(executed), four(1)],
		...[toWord(burn.burnToken), toWord(recipient), word(moved), toWord(burn.route)],
		...[word(burn.maxFee), word(fee), word(0n)],
	]);
}

const attested = { message: messageWith(), attestation: "0x1234" } as const;
const complete: IrisAnswer = { status: "complete", ...attested };
const mint = {
	transactionHash: toHex(1, { size: 32 }),
	blockNumber: 10,
	recipient: burn.recipient,
	token: move.mintToken,
	amount: amount - 100n,
	fee: 100n,
	isFinal: false,
};

test.each<[string, Partial<CctpMove>, Partial<CctpFacts>, object]>([
	["a burn that is in no block is the lane's", {}, { burn: undefined }, { kind: "wait", state: "queued" }],
	[
		"a burn that reverted has failed",
		{},
		{ burn: { status: "reverted" } },
		{ kind: "failed", error: "burn reverted" },
	],
	["Iris is read once the burn is in a block", {}, {}, { kind: "read attestation", state: "sent" }],
	[
		"a complete attestation is minted",
		{},
		{ iris: complete },
		{ kind: "send mint", state: "attested", ...attested },
	],
	["an attestation in the row is enough", { attested }, {}, { kind: "send mint", ...attested }],
	[
		"a newer attestation replaces that of the row",
		{ attested: { message: messageWith({ fee: 5n }), attestation: "0x" } },
		{ iris: complete },
		{ kind: "send mint", ...attested },
	],
	[
		"a mint in flight is waited for",
		{ attested },
		{ isMintInFlight: true },
		{ kind: "wait", state: "minting" },
	],
	[
		"a used nonce without its event is waited for",
		{ attested },
		{ isNonceUsed: true },
		{ kind: "wait", for: "the event of the mint" },
	],
	[
		"a mint is the arrival, even while ours is in flight",
		{ attested },
		{ mint, isNonceUsed: true, isMintInFlight: true },
		{ kind: "arrived", received: amount - 100n, fee: 100n },
	],
	[
		"an arrival is final with both blocks",
		{ attested, state: "arrived" },
		{ mint: { ...mint, isFinal: true }, burn: { status: "burned", atMs: 0, isFinal: true } },
		{ kind: "final" },
	],
	[
		"an arrival waits for the block of the burn",
		{ attested, state: "arrived" },
		{ mint: { ...mint, isFinal: true } },
		{ kind: "wait", state: "arrived" },
	],
	[
		"a mint to another recipient has failed",
		{ attested },
		{ mint: { ...mint, recipient: address("bb") } },
		{ kind: "failed", error: "wrong mint" },
	],
	[
		"a mint of another token has failed",
		{ attested },
		{ mint: { ...mint, token: address("bb") } },
		{ kind: "failed", error: "wrong mint" },
	],
	[
		"a mint of less has failed",
		{ attested },
		{ mint: { ...mint, amount: amount - 101n } },
		{ kind: "failed", error: "wrong mint" },
	],
	[
		"a message to another recipient has failed",
		{},
		{ iris: { ...complete, message: messageWith({ recipient: address("bb") }) } },
		{ kind: "failed", error: "wrong message" },
	],
	[
		"a wrong message in the row has failed",
		{ attested: { ...attested, message: messageWith({ moved: amount + 1n }) } },
		{},
		{ kind: "failed", error: "wrong message" },
	],
	[
		"the nonce of another move has failed",
		{},
		{ iris: complete, isNonceOfAnother: true, mint, isNonceUsed: true },
		{ kind: "failed", error: "wrong message" },
	],
	[
		"a refused mint of an old attestation reads Iris again",
		{ attested },
		{ refusal: { kind: "expired", message: attested.message } },
		{ kind: "read attestation" },
	],
	[
		"an expired attestation is renewed",
		{ attested },
		{ iris: complete, refusal: { kind: "expired", message: attested.message } },
		{ kind: "reattest" },
	],
	["a failed move stays failed", { state: "failed" }, { mint }, { kind: "wait", state: "failed" }],
	["a final move stays final", { state: "final" }, { burn: undefined }, { kind: "wait", state: "final" }],
])("%s", (_, changedMove, changedFacts, step) => {
	expect(nextCctpStep({ ...move, ...changedMove }, { ...facts, ...changedFacts })).toMatchObject(step);
});

test("a fast burn is late after three times its usual time, or that of a standard one once it is delayed", () => {
	const late = { ...facts, nowMs: 990_000 + 60_001 };
	const pending: IrisAnswer = { status: "pending" };
	const delayed: IrisAnswer = { status: "pending", delayReason: "insufficient_fee" };
	expect(nextCctpStep(move, { ...late, iris: pending }).kind).toBe("stuck");
	expect(nextCctpStep(move, { ...late, nowMs: 990_000 + 60_000, iris: pending }).kind).toBe("wait");
	expect(nextCctpStep(move, { ...late, iris: delayed }).kind).toBe("wait");
	expect(nextCctpStep({ ...move, reattestedAtMs: 1_000_000 }, { ...late, iris: pending }).kind).toBe("wait");
	// The row has an attestation at the finality of a standard burn.
	expect(nextCctpStep({ ...move, attested }, { ...late, isMintInFlight: true }).kind).toBe("wait");
	const fast = { ...attested, message: messageWith({ executed: 1_000 }) };
	expect(nextCctpStep({ ...move, attested: fast }, { ...late, isMintInFlight: true }).kind).toBe("stuck");
	const much = { ...facts, nowMs: 990_000 + 2_700_001 };
	expect(nextCctpStep(move, { ...much, iris: delayed }).kind).toBe("stuck");
	expect(nextCctpStep({ ...move, attested }, { ...much, isMintInFlight: true }).kind).toBe("stuck");
});

const arbitraryState = fc.constantFrom<CctpState>(
	...(["queued", "sent", "attested", "minting", "arrived", "final", "stuck", "failed"] as const),
);
const arbitraryMessage = fc.oneof(
	{ weight: 3, arbitrary: fc.constant(attested.message) },
	fc.constant(messageWith({ recipient: address("bb") })),
	fc.constant(messageWith({ moved: amount - 1n })),
	fc.constant<Hex>("0x00"),
);
const arbitraryIris = fc.oneof(
	fc.constant<IrisAnswer>({ status: "not seen" }),
	fc.constant<IrisAnswer>({ status: "limited", retryAfterMs: 5 }),
	fc.constant<IrisAnswer>({ status: "unreadable", reason: "no answer" }),
	fc.constant<IrisAnswer>({ status: "pending", nonce: toHex(7, { size: 32 }) }),
	arbitraryMessage.map((message): IrisAnswer => ({ status: "complete", message, attestation: "0x12" })),
);
const arbitraryMint = fc.record({
	...Object.fromEntries(Object.entries(mint).map(([name, value]) => [name, fc.constant(value)])),
	recipient: fc.constantFrom(burn.recipient, address("bb")),
	amount: fc.constantFrom(amount - 100n, amount),
	isFinal: fc.boolean(),
}) as fc.Arbitrary<typeof mint>;
const arbitraryMove = fc.record({
	state: arbitraryState,
	attested: fc.option(arbitraryMessage.map((message) => ({ message, attestation: "0x12" as Hex }))),
	reattestedAtMs: fc.option(fc.nat(5_000_000)),
});
const arbitraryFacts = fc.record({
	nowMs: fc.nat(10_000_000),
	burn: fc.constantFrom<CctpFacts["burn"]>(
		undefined,
		{ status: "reverted" },
		{ status: "burned", atMs: 0, isFinal: false },
		{ status: "burned", atMs: 0, isFinal: true },
	),
	iris: fc.option(arbitraryIris),
	mint: fc.option(arbitraryMint),
	isMintInFlight: fc.boolean(),
	isNonceOfAnother: fc.boolean(),
	isNonceUsed: fc.boolean(),
});

function withoutNull<Value extends object>(value: Value): { [Key in keyof Value]: NonNullable<Value[Key]> } {
	return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) as never;
}

test("for any facts, money is sent for once, arrives only as agreed, and an end stays the end", () => {
	fc.assert(
		fc.property(arbitraryMove, arbitraryFacts, (someMove, someFacts) => {
			const row: CctpMove = { ...move, ...withoutNull(someMove) };
			const seen: CctpFacts = { ...withoutNull(someFacts), burn: someFacts.burn };
			const step = nextCctpStep(row, seen);
			if (row.state === "final" || row.state === "failed") {
				expect(step).toMatchObject({ kind: "wait", state: row.state });
				return;
			}
			if (step.kind === "send mint") {
				expect(decodeMessage(step.message)).toMatchObject({ amount, mintRecipient: toWord(burn.recipient) });
				expect(seen).toMatchObject({ isMintInFlight: false, isNonceUsed: false, isNonceOfAnother: false });
				expect(seen.mint).toBeUndefined();
			}
			if (step.kind === "arrived") {
				expect(step.received + step.fee).toBe(amount);
				expect(seen.mint?.recipient).toBe(burn.recipient);
				expect(seen.burn?.status).toBe("burned");
			}
			if (step.kind === "final") {
				expect(row.state).toBe("arrived");
				expect(seen).toMatchObject({ mint: { isFinal: true }, burn: { isFinal: true } });
			}
			// A stuck move leaves that state only by arriving, by failing, or with a burn that the chain dropped.
			if (row.state === "stuck") {
				expect(["stuck", "arrived", "failed", "queued"]).toContain(step.state);
			}
			// Deciding again from the same facts decides the same.
			expect(nextCctpStep(row, seen)).toEqual(step);
		}),
		{ numRuns: 2_000 },
	);
});
