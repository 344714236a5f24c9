import fc from "fast-check";
import {
	getAddress,
	hashTypedData,
	keccak256,
	numberToHex,
	pad,
	stringToBytes,
	toHex,
	zeroAddress,
} from "viem";
import { expect, test } from "vitest";
import { packDeadlines } from "./deadlines.ts";
import {
	accountSlot,
	decodeMandate,
	encodeMandate,
	type Mandate,
	type MandateProblem,
	mandateDigest,
	mandateProblem,
	mandateTypedData,
	revocationTypedData,
	type SignedMandate,
} from "./mandate.ts";
import type { Order } from "./order.ts";
import { solanaChainId } from "./solana-chain-id.ts";
import { mandateToJson, signedMandateSchema } from "./wire/mandate.ts";
import { typedDataToJson } from "./wire/typed-data-json.ts";
import { toWord } from "./word.ts";

const addressOf = (number: number) => getAddress(pad(toHex(number), { size: 20 }));
const [wallet, agent, escrow, vault, token, friend] = [1, 2, 3, 4, 5, 6].map(addressOf) as [
	...[`0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`],
];
const attesterSet = pad("0xa77e", { size: 32 });
const outputToken = pad("0x0077", { size: 32 });

const mandate: Mandate = {
	wallet,
	agent,
	epoch: 3n,
	expiry: 2_000n,
	period: 86_400,
	originVault: vault,
	attesterSet,
	inputs: [
		{ token, maxAmount: 100n },
		{ token: zeroAddress, maxAmount: 5n },
	],
	outputs: [{ chainId: 10n, token: outputToken }],
	recipients: [toWord(friend)],
};
const signature = `0x${"11".repeat(64)}1b` as const;
const signed: SignedMandate = { chainId: 8453, escrow, mandate, signature };

const order: Order = {
	wallet: toWord(wallet),
	inputToken: toWord(token),
	inputAmount: 100n,
	originChainId: 8453n,
	destinationChainId: 10n,
	outputToken,
	minOutput: 1n,
	recipient: toWord(wallet),
	topUp: 0n,
	escrow: toWord(escrow),
	originVault: toWord(vault),
	destinationVault: toWord(addressOf(9)),
	attesterSet,
	swapKey: pad("0x01", { size: 32 }),
	deadlines: packDeadlines({ openDeadline: 1_999n, fillDeadline: 2_100n, refundAfter: 2_200n }),
};

test("the account's slot is the one of ERC-7201", () => {
	const named = BigInt(keccak256(stringToBytes("geoswap.account"))) - 1n;
	const slot = BigInt(keccak256(numberToHex(named, { size: 32 }))) & ~0xffn;
	expect(accountSlot).toBe(numberToHex(slot, { size: 32 }));
});

test("a mandate's digest is the one that wallets compute from its JSON", () => {
	const document = JSON.parse(JSON.stringify(typedDataToJson(mandateTypedData(signed))));
	expect(hashTypedData(document)).toBe(mandateDigest(signed));
	const revocation = revocationTypedData({ chainId: 8453, escrow, wallet, epoch: 3n });
	expect(hashTypedData(JSON.parse(JSON.stringify(typedDataToJson(revocation))))).toBe(
		hashTypedData(revocation),
	);
});

test("a mandate read from a proof or from JSON equals the original, and has the same hash as in wallets", () => {
	const address = fc.integer({ min: 0, max: 2 ** 31 }).map(addressOf);
	const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes));
	const mandates = fc.record({
		wallet: address,
		agent: address,
		epoch: fc.bigInt(0n, 2n ** 53n - 1n),
		expiry: fc.bigInt(0n, 8_640_000_000_000n),
		period: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
		originVault: address,
		attesterSet: word,
		inputs: fc.array(fc.record({ token: address, maxAmount: fc.bigInt(0n, 10n ** 38n - 1n) }), {
			minLength: 1,
			maxLength: 16,
		}),
		outputs: fc.array(fc.record({ chainId: fc.bigInt(1n, 2n ** 53n - 1n), token: word }), { maxLength: 16 }),
		recipients: fc.array(word, { maxLength: 16 }),
	});
	fc.assert(
		fc.property(mandates, (any) => {
			const one: SignedMandate = { ...signed, mandate: any };
			expect(mandateDigest(one)).toBe(hashTypedData(mandateTypedData(one)));
			expect(decodeMandate(encodeMandate(one))).toEqual({ mandate: any, signature });
			expect(signedMandateSchema.parse(JSON.parse(JSON.stringify(mandateToJson(one))))).toEqual(one);
		}),
	);
});

test("an order within a mandate breaks none of its rules", () => {
	expect(mandateProblem(signed, order)).toBeUndefined();
	expect(mandateProblem(signed, { ...order, recipient: toWord(friend) })).toBeUndefined();
	const anything = { ...signed, mandate: { ...mandate, outputs: [] } };
	expect(mandateProblem(anything, { ...order, outputToken: attesterSet })).toBeUndefined();
});

const solana = BigInt(solanaChainId);
test.each<[MandateProblem, Partial<Order>]>([
	["wallet", { wallet: toWord(friend) }],
	["escrow", { escrow: toWord(friend) }],
	["escrow", { originChainId: 1n }],
	[
		"expiry",
		{ deadlines: packDeadlines({ openDeadline: 2_000n, fillDeadline: 2_100n, refundAfter: 2_200n }) },
	],
	["desk", { originVault: toWord(friend) }],
	["desk", { attesterSet: outputToken }],
	["desk", { destinationChainId: 8453n }],
	["output", { outputToken: attesterSet }],
	["output", { destinationChainId: 1n }],
	["recipient", { recipient: toWord(agent) }],
	["input", { inputToken: toWord(friend) }],
	["amount", { inputAmount: 101n }],
])("an order outside of a mandate breaks its rule about the %s", (problem, change) => {
	expect(mandateProblem(signed, { ...order, ...change })).toBe(problem);
});

test("on Solana the wallet's own address is not a valid recipient, because no person has that key", () => {
	const anything = { ...signed, mandate: { ...mandate, outputs: [] } };
	expect(mandateProblem(anything, { ...order, destinationChainId: solana })).toBe("recipient");
});

test("a mandate that the account would refuse, without a period or with too long a list, is not allowed", () => {
	const long = Array.from({ length: 17 }, (_, index) => toWord(addressOf(index)));
	for (const change of [{ period: 0 }, { recipients: long }]) {
		expect(mandateProblem({ ...signed, mandate: { ...mandate, ...change } }, order)).toBe("form");
	}
});
