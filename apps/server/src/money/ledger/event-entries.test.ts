import { type Order, packDeadlines, solanaChainId, toWord } from "@geoswap/protocol";
import fc from "fast-check";
import { type Address, getAddress, pad, toHex, zeroAddress, zeroHash } from "viem";
import { expect, test } from "vitest";
import { type BookedEvent, eventEntries } from "./event-entries.ts";

const address = (n: number): Address => getAddress(toHex(n, { size: 20 }));
const vault = address(1);
const stranger = address(2);
const relayer = address(4);
const tokens = [address(10), address(11), address(0)];
const listed = [address(10), address(0)];
const tokenArbitrary = fc.constantFrom(...tokens);
const amountArbitrary = fc.bigInt(1n, (1n << 128n) - 1n);
const rentedArbitrary = fc.constantFrom("order" as const, "record" as const);
const someoneArbitrary = fc.constantFrom(vault, stranger);
const payeeArbitrary = fc.constantFrom(vault, stranger, relayer);

const orderArbitrary: fc.Arbitrary<Order> = fc
	.record({ input: tokenArbitrary, output: tokenArbitrary, amount: amountArbitrary, vault: someoneArbitrary })
	.map(({ input, output, amount, vault }) => ({
		originChainId: 1n,
		destinationChainId: 1n,
		escrow: toWord(address(3)),
		originVault: toWord(vault),
		destinationVault: toWord(vault),
		attesterSet: pad("0x01"),
		wallet: toWord(stranger),
		inputToken: toWord(input),
		inputAmount: amount,
		outputToken: toWord(output),
		minOutput: 1n,
		recipient: toWord(stranger),
		topUp: 0n,
		swapKey: pad("0x01"),
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
	}));

const eventArbitrary: fc.Arbitrary<BookedEvent> = fc.oneof(
	fc.constant({ name: "Opened" as const, data: {} }),
	fc.record({
		name: fc.constantFrom("Released" as const, "Refunded" as const),
		data: fc.record({ paid: fc.boolean() }),
	}),
	fc.record({
		name: fc.constant("Filled" as const),
		data: fc.record({
			delivered: amountArbitrary.map(String),
			spentToken: tokenArbitrary,
			spent: amountArbitrary.map(String),
		}),
	}),
	fc.record({
		name: fc.constant("ToppedUp" as const),
		data: fc.record({ amount: amountArbitrary.map(String), paid: fc.boolean() }),
	}),
	fc.record({
		name: fc.constant("Claimed" as const),
		data: fc.record({
			beneficiary: someoneArbitrary,
			token: tokenArbitrary,
			to: someoneArbitrary,
			amount: amountArbitrary.map(String),
		}),
	}),
	fc.record({
		name: fc.constantFrom("Withdrawn" as const, "Sent" as const),
		data: fc.record({ token: tokenArbitrary, to: payeeArbitrary, amount: amountArbitrary.map(String) }),
	}),
	fc.record({
		name: fc.constant("Traded" as const),
		data: fc.record({
			tokenIn: tokenArbitrary,
			tokenOut: tokenArbitrary,
			amountIn: amountArbitrary.map(String),
			amountOut: amountArbitrary.map(String),
		}),
	}),
	fc.record({
		name: fc.constant("Bridged" as const),
		data: fc.record({ token: tokenArbitrary, amount: amountArbitrary.map(String) }),
	}),
	fc.record({
		name: fc.constant("AccountMade" as const),
		data: fc.record({ lamports: amountArbitrary.map(String) }),
	}),
	fc.record({
		name: fc.constant("RentPaid" as const),
		data: fc.record({ account: rentedArbitrary, lamports: amountArbitrary.map(String) }),
	}),
	fc.record({
		name: fc.constant("RentReturned" as const),
		data: fc.record({
			account: rentedArbitrary,
			lamports: amountArbitrary.map(String),
			booked: amountArbitrary.map(String),
		}),
	}),
);

test("the entries of every event add up to zero for each token", () => {
	fc.assert(
		fc.property(
			eventArbitrary,
			fc.option(orderArbitrary, { nil: undefined }),
			fc.boolean(),
			(event, order, isDelivered) => {
				const entries =
					eventEntries(event, {
						order,
						vaults: [vault],
						relayers: [relayer],
						assets: listed,
						native: zeroAddress,
						isDelivered,
					}) ?? [];
				for (const token of [...tokens, zeroHash]) {
					const ofToken = entries.filter((entry) => entry.token === token);
					expect(ofToken.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n);
				}
			},
		),
	);
});

test("a top-up leaves the inventory if its recipient took it, and nothing is booked if it did not", () => {
	const context = {
		order: undefined,
		vaults: [vault],
		assets: listed,
		native: zeroAddress,
		relayers: [relayer],
		isDelivered: true,
	};
	const toppedUp = (paid: boolean) =>
		eventEntries({ name: "ToppedUp", data: { amount: "7", paid } }, context);
	expect(toppedUp(true)).toEqual([
		{ account: "recipient", token: zeroAddress, amount: 7n },
		{ account: "inventory", token: zeroAddress, amount: -7n },
	]);
	expect(toppedUp(false)).toEqual([]);
});

test("what leaves a vault is booked by where it goes: another vault, a relayer, the treasury, or another chain", () => {
	const [token] = listed as [Address];
	const context = {
		order: undefined,
		vaults: [vault],
		relayers: [relayer],
		assets: listed,
		native: zeroAddress,
		isDelivered: false,
	};
	for (const name of ["Withdrawn", "Sent"] as const) {
		const accounts = [vault, relayer, stranger].map((to) =>
			eventEntries({ name, data: { token, to, amount: "7" } }, context)?.map(({ account, amount }) => [
				account,
				amount,
			]),
		);
		expect(accounts).toEqual(
			["inventory", "relayer", "treasury"].map((account) => [
				[account, 7n],
				["inventory", -7n],
			]),
		);
	}
	expect(eventEntries({ name: "Bridged", data: { token, amount: "7" } }, context)).toEqual([
		{ account: "bridge", token, amount: 7n },
		{ account: "inventory", token, amount: -7n },
	]);
	const data = { tokenIn: token, tokenOut: zeroAddress, amountIn: "7", amountOut: "3" };
	expect(eventEntries({ name: "Traded", data }, context)).toEqual([
		{ account: "trading", token, amount: 7n },
		{ account: "inventory", token, amount: -7n },
		{ account: "inventory", token: zeroAddress, amount: 3n },
		{ account: "trading", token: zeroAddress, amount: -3n },
	]);
});

test("an order's input leaves the escrow completely, whether released or refunded, and a refund after delivery is booked as a loss", () => {
	fc.assert(
		fc.property(
			orderArbitrary,
			fc.constantFrom("Released" as const, "Refunded" as const),
			fc.boolean(),
			fc.boolean(),
			(order, name, paid, isDelivered) => {
				const context = {
					order,
					vaults: [vault],
					relayers: [relayer],
					assets: listed,
					native: zeroAddress,
					isDelivered,
				};
				const entries = [
					...(eventEntries({ name: "Opened", data: {} }, context) ?? []),
					...(eventEntries({ name, data: { paid } }, context) ?? []),
				];
				const sumOf = (account: string) =>
					entries.reduce((sum, entry) => sum + (entry.account === account ? entry.amount : 0n), 0n);
				expect(sumOf("escrow")).toBe(0n);
				expect(sumOf("loss")).toBe(name === "Refunded" && isDelivered ? order.inputAmount : 0n);
				const isOurs = name === "Released" && order.originVault === toWord(vault);
				const isListed = listed.map(toWord).includes(order.inputToken);
				expect(sumOf("inventory")).toBe(isOurs && paid && isListed ? order.inputAmount : 0n);
				expect(sumOf("unlisted")).toBe(isOurs && paid && !isListed ? order.inputAmount : 0n);
				// The credit holds what a later claim takes.
				const credited = sumOf("credit:vault") + sumOf("credit:wallet");
				expect(credited).toBe(paid ? 0n : order.inputAmount);
			},
		),
	);
});

test("on Solana tokens and vaults are compared by all 32 bytes", () => {
	const word = pad("0x5e", { size: 32, dir: "right" });
	const solanaVault = pad("0x7a", { size: 32, dir: "right" });
	fc.assert(
		fc.property(orderArbitrary, (evmOrder) => {
			const order = {
				...evmOrder,
				originChainId: BigInt(solanaChainId),
				destinationChainId: BigInt(solanaChainId),
				inputToken: word,
				outputToken: zeroHash,
				originVault: solanaVault,
				destinationVault: solanaVault,
			};
			const context = {
				order,
				vaults: [solanaVault],
				assets: [word, zeroHash],
				native: zeroHash,
				relayers: [relayer],
				isDelivered: true,
			};
			const filled = { delivered: "5", spentToken: zeroHash, spent: "5" };
			const toppedUp = { amount: "7", paid: true };
			expect(eventEntries({ name: "ToppedUp", data: toppedUp }, context)).toEqual([
				{ account: "recipient", token: zeroHash, amount: 7n },
				{ account: "inventory", token: zeroHash, amount: -7n },
			]);
			expect(eventEntries({ name: "Filled", data: filled }, context)).toEqual([
				{ account: "recipient", token: zeroHash, amount: 5n },
				{ account: "inventory", token: zeroHash, amount: -5n },
			]);
			expect(eventEntries({ name: "Released", data: { paid: true } }, context)).toEqual([
				{ account: "inventory", token: word, amount: order.inputAmount },
				{ account: "escrow", token: word, amount: -order.inputAmount },
			]);
		}),
	);
});

test.each([
	{ account: "order", payer: "relayer" },
	{ account: "record", payer: "inventory" },
] as const)(
	"the rent of the account of one $account is booked from and to the account $payer, and third parties' payments to it as unattributed",
	({ account, payer }) => {
		const context = {
			order: undefined,
			vaults: [],
			assets: [zeroHash],
			native: zeroHash,
			relayers: [relayer],
			isDelivered: false,
		};
		const paid = eventEntries({ name: "RentPaid", data: { account, lamports: "10" } }, context);
		expect(paid).toEqual([
			{ account: "locked", token: zeroHash, amount: 10n },
			{ account: payer, token: zeroHash, amount: -10n },
		]);
		const data = { account, lamports: "12", booked: "10" };
		expect(eventEntries({ name: "RentReturned", data }, context)).toEqual([
			{ account: payer, token: zeroHash, amount: 10n },
			{ account: "locked", token: zeroHash, amount: -10n },
			{ account: payer, token: zeroHash, amount: 2n },
			{ account: "unattributed", token: zeroHash, amount: -2n },
		]);
	},
);
