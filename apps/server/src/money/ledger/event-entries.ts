import { type Amount, addressOfWord, type Order } from "@geoswap/protocol";
import { type Address, type Hex, zeroHash } from "viem";

/** Debit above zero, credit below. */
export type Entry = { account: Account; token: Hex; amount: Amount };

type Account =
	| "escrow"
	| "credit:vault"
	| "credit:wallet"
	| "inventory"
	| "unlisted"
	| "trading"
	| "recipient"
	| "wallet"
	| "treasury"
	| "gas"
	| "relayer"
	| "bridge"
	| "locked"
	| "rent"
	| "unattributed"
	| "unattributed:relayer"
	| "loss"
	| "opening";

/** An event as `chain_events` holds it. */
export type BookedEvent =
	| { name: "Opened"; data: object }
	| { name: "Released" | "Refunded"; data: { paid: boolean } }
	| { name: "Filled"; data: { delivered: string; spentToken: Hex; spent: string } }
	| { name: "ToppedUp"; data: { amount: string; paid: boolean } }
	| { name: "Claimed"; data: { beneficiary: Address; token: Address; to: Address; amount: string } }
	| { name: "Withdrawn" | "Sent"; data: { token: Address; to: Address; amount: string } }
	| {
			name: "Traded";
			data: { tokenIn: Address; tokenOut: Address; amountIn: string; amountOut: string };
	  }
	| { name: "Bridged"; data: { token: Address; amount: string } }
	/** On Solana: lamports that the fee payer put into an order's account, or the vault into a record. They come back. */
	| { name: "RentPaid"; data: RentData }
	/** On Solana: lamports that came back, all that an account held. `booked` of them are in the books. */
	| { name: "RentReturned"; data: RentData & { booked: string } }
	/** On Solana: lamports that the fee payer put into the token account of a recipient or a wallet. */
	| { name: "AccountMade"; data: { lamports: string } };

type RentData = { account: "order" | "record"; lamports: string };

export const bookedEventNames = [
	"Opened",
	"Released",
	"Refunded",
	"Filled",
	"ToppedUp",
	"Claimed",
	"Withdrawn",
	"Traded",
	"Sent",
	"Bridged",
	"RentPaid",
	"AccountMade",
	"RentReturned",
] as const;

type EventContext = {
	order: Order | undefined;
	/** All our vaults on the event's chain. */
	vaults: readonly Hex[];
	/** All current and former relayers on the event's chain. */
	relayers: readonly Hex[];
	/** The tokens that the service holds inventory of on the event's chain. */
	assets: readonly Hex[];
	/** The native token of the event's chain. */
	native: Hex;
	/** Whether the order's output was delivered. */
	isDelivered: boolean;
};

/** Returns the entries for what an event moved. Undefined if they depend on an order that is not known. */
export function eventEntries(event: BookedEvent, context: EventContext): Entry[] | undefined {
	const isListed = (token: Hex) => context.assets.some((asset) => isSame(asset, token));
	// Anyone can have their own token released to our vault, and such a token can report a payment that did not happen.
	// So only the tokens that the service offers are inventory.
	return movements(event, context)?.map((entry) =>
		entry.account === "inventory" && !isListed(entry.token) ? { ...entry, account: "unlisted" } : entry,
	);
}

function movements(
	{ name, data }: BookedEvent,
	{ order, vaults, relayers, native, isDelivered }: EventContext,
): Entry[] | undefined {
	const isVault = (address: Hex) => vaults.some((vault) => isSame(vault, address));
	if (name === "Claimed") {
		const from = isVault(data.beneficiary) ? "credit:vault" : "credit:wallet";
		return move(data.token, BigInt(data.amount), { from, to: isVault(data.to) ? "inventory" : "wallet" });
	}
	if (name === "Withdrawn" || name === "Sent") {
		const isRelayer = relayers.some((relayer) => isSame(relayer, data.to));
		const to = isVault(data.to) ? "inventory" : isRelayer ? "relayer" : "treasury";
		return move(data.token, BigInt(data.amount), { from: "inventory", to });
	}
	if (name === "Traded") {
		return [
			...move(data.tokenIn, BigInt(data.amountIn), { from: "inventory", to: "trading" }),
			...move(data.tokenOut, BigInt(data.amountOut), { from: "trading", to: "inventory" }),
		];
	}
	if (name === "Bridged") {
		return move(data.token, BigInt(data.amount), { from: "inventory", to: "bridge" });
	}
	if (name === "ToppedUp") {
		return data.paid ? move(native, BigInt(data.amount), { from: "inventory", to: "recipient" }) : [];
	}
	if (name === "AccountMade") return move(zeroHash, BigInt(data.lamports), { from: "relayer", to: "rent" });
	if (name === "RentPaid")
		return move(zeroHash, BigInt(data.lamports), { from: payerOf(data), to: "locked" });
	if (name === "RentReturned") {
		const booked = BigInt(data.booked);
		return [
			...move(zeroHash, booked, { from: "locked", to: payerOf(data) }),
			// Anyone can send something to such an account.
			...move(zeroHash, BigInt(data.lamports) - booked, { from: "unattributed", to: payerOf(data) }),
		];
	}
	if (name === "Filled") {
		const spent = BigInt(data.spent);
		const output = order && addressOfWord(order.destinationChainId, order.outputToken);
		if (output && isSame(output, data.spentToken)) {
			return move(data.spentToken, spent, { from: "inventory", to: "recipient" });
		}
		return [
			...move(data.spentToken, spent, { from: "inventory", to: "trading" }),
			...(output ? move(output, BigInt(data.delivered), { from: "trading", to: "recipient" }) : []),
		];
	}
	if (!order) return undefined;
	const token = addressOfWord(order.originChainId, order.inputToken);
	if (name === "Opened") return move(token, order.inputAmount, { from: "wallet", to: "escrow" });
	const entries = move(token, order.inputAmount, { from: "escrow", to: beneficiaryAccount() });
	// The wallet has the output as well, so the input that it gets back, now or when it claims, is lost.
	const isLost = name === "Refunded" && isDelivered;
	return isLost ? [...entries, ...move(token, order.inputAmount, { from: "wallet", to: "loss" })] : entries;

	function beneficiaryAccount(): Account {
		const { paid } = data as { paid: boolean };
		const isOurs =
			name === "Released" &&
			order !== undefined &&
			isVault(addressOfWord(order.originChainId, order.originVault));
		if (isOurs) return paid ? "inventory" : "credit:vault";
		return paid ? "wallet" : "credit:wallet";
	}
}

function payerOf({ account }: RentData): Account {
	return account === "record" ? "inventory" : "relayer";
}

function move(token: Hex, amount: Amount, { from, to }: { from: Account; to: Account }): Entry[] {
	if (amount === 0n) return [];
	return [
		{ account: to, token, amount },
		{ account: from, token, amount: -amount },
	];
}

function isSame(one: Hex, other: Hex): boolean {
	return one.toLowerCase() === other.toLowerCase();
}
