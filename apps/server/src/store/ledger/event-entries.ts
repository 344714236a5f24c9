import { fromWord, type Order } from "@geoswap/protocol";
import { type Address, type Hex, isAddressEqual } from "viem";

/** Debit above zero, credit below. */
export type Entry = { account: Account; token: Address; amount: bigint };

type Account =
	| "escrow"
	| "credit:vault"
	| "credit:wallet"
	| "stock"
	| "trading"
	| "recipient"
	| "wallet"
	| "treasury"
	| "gas"
	| "relayer"
	| "loss"
	| "opening";

/** An event as `chain_events` holds it. */
export type BookedEvent =
	| { name: "Opened"; data: object }
	| { name: "Released" | "Refunded"; data: { paid: boolean } }
	| { name: "Filled"; data: { delivered: string; spentToken: Hex; spent: string } }
	| { name: "Claimed"; data: { beneficiary: Address; token: Address; to: Address; amount: string } }
	| { name: "Withdrawn"; data: { token: Address; to: Address; amount: string } };

export const bookedEventNames = ["Opened", "Released", "Refunded", "Filled", "Claimed", "Withdrawn"] as const;

/** What an event moved from where to where. Undefined where that takes an order which is not known. */
export function eventEntries(
	{ name, data }: BookedEvent,
	{
		order,
		vaults,
		isDelivered,
	}: {
		order: Order | undefined;
		/** All our vaults on the event's chain. */
		vaults: readonly Address[];
		/** Whether the order's output was delivered. */
		isDelivered: boolean;
	},
): Entry[] | undefined {
	const isVault = (address: Address) => vaults.some((vault) => isAddressEqual(vault, address));
	if (name === "Claimed") {
		const from = isVault(data.beneficiary) ? "credit:vault" : "credit:wallet";
		return move(data.token, BigInt(data.amount), { from, to: isVault(data.to) ? "stock" : "wallet" });
	}
	if (name === "Withdrawn") {
		const to = isVault(data.to) ? "stock" : "treasury";
		return move(data.token, BigInt(data.amount), { from: "stock", to });
	}
	if (name === "Filled") {
		const spent = BigInt(data.spent);
		const output = order && fromWord(order.outputToken);
		if (output && isAddressEqual(output, data.spentToken)) {
			return move(data.spentToken, spent, { from: "stock", to: "recipient" });
		}
		return [
			...move(data.spentToken, spent, { from: "stock", to: "trading" }),
			...(output ? move(output, BigInt(data.delivered), { from: "trading", to: "recipient" }) : []),
		];
	}
	if (!order) return undefined;
	const token = fromWord(order.inputToken);
	if (name === "Opened") return move(token, order.inputAmount, { from: "wallet", to: "escrow" });
	const entries = move(token, order.inputAmount, { from: "escrow", to: beneficiaryAccount() });
	// The wallet has the output as well: what it gets back, now or when it claims, is lost.
	const isLost = name === "Refunded" && isDelivered;
	return isLost ? [...entries, ...move(token, order.inputAmount, { from: "wallet", to: "loss" })] : entries;

	function beneficiaryAccount(): Account {
		const { paid } = data as { paid: boolean };
		const isOurs = name === "Released" && order !== undefined && isVault(fromWord(order.originVault));
		if (isOurs) return paid ? "stock" : "credit:vault";
		return paid ? "wallet" : "credit:wallet";
	}
}

function move(token: Address, amount: bigint, { from, to }: { from: Account; to: Account }): Entry[] {
	return [
		{ account: to, token, amount },
		{ account: from, token, amount: -amount },
	];
}
