import { describeSolana } from "@geoswap/devnet";
import {
	fromSolanaWord,
	type Order,
	orderAddress,
	orderId,
	type SolanaAddress,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import { expect, test } from "vitest";
import { solanaOrder } from "../../../test/order/solana-order-scene.ts";
import { connectAuditedSolana } from "./audited-solana.ts";
import type { ProgramCall } from "./program-calls.ts";
import type { SolanaTransaction } from "./read-solana-transaction.ts";
import { solanaEvents } from "./solana-events.ts";

const deployment = describeSolana({ genesisHash: "1".repeat(32) });
const { address, vault } = deployment.program;
const chain = await connectAuditedSolana({ rpcUrl: "http://node.invalid", deployment });
const [feePayer] = deployment.feePayers as [SolanaAddress];
const wallet = fromSolanaWord(`0x${"05".repeat(32)}`);
const stranger = fromSolanaWord(`0x${"06".repeat(32)}`);
const order: Order = {
	...solanaOrder({ deployment, wallet }),
	inputToken: toSolanaWord(solanaNativeToken),
	inputAmount: 1_000_000_000n,
};
const account = await orderAddress(address, orderId(order));

let slot = 1;

function transaction(
	name: ProgramCall["name"],
	{ to, amount = 0n, by = stranger }: { to?: SolanaAddress; amount?: bigint; by?: SolanaAddress } = {},
): SolanaTransaction {
	return {
		signature: "0x",
		slot: slot++,
		isFailed: false,
		fee: 5_000n,
		feePayer: by,
		calls: [{ name, accounts: to ? [account, to] : [account] }],
		named: [],
		madeAccounts: [],
		lamports: to
			? new Map([
					[account, -amount],
					[to, amount],
				])
			: new Map([[account, amount]]),
		tokens: new Map(),
	};
}

async function found(...transactions: SolanaTransaction[]) {
	const { events, breaches, unattributed } = await solanaEvents(chain, {
		transactions,
		gifts: new Map(),
		orders: [order],
		returned: new Set(),
	});
	return {
		paid: [...events.released, ...events.refunded].length,
		breaches: breaches.map(({ invariant, message }) => `${invariant} ${message}`),
		given: unattributed.map(({ amount }) => amount),
	};
}

const opened = () => transaction("open", { amount: order.inputAmount });
const paid = () => transaction("pay", { to: vault, amount: order.inputAmount, by: feePayer });

test("lamports that a third party gives to a paid order, and has paid to the vault, belong to no order and breach nothing", async () => {
	for (const amount of [1_000_000n, order.inputAmount]) {
		const gift = transaction("pay", { to: vault, amount });
		expect(await found(opened(), paid(), gift)).toEqual({
			paid: 1,
			breaches: [],
			given: [amount],
		});
	}
	expect(await found(opened(), paid(), transaction("pay", { to: wallet, amount: 1n }))).toEqual({
		paid: 1,
		breaches: [],
		given: [],
	});
});

test("an order that was prepared and never opened may go back with less than its input", async () => {
	const givenBack = transaction("pay", { to: wallet, amount: 1_000n });
	expect(await found(givenBack)).toEqual({ paid: 0, breaches: [], given: [] });
});

test("a payment of less than an opened order's input is a breach if the rest never follows", async () => {
	const partial = transaction("pay", { to: vault, amount: 1_000n });
	const { breaches } = await found(opened(), partial);
	expect(breaches).toEqual([`I4 only 1000 of 1000000000 was paid in slot ${partial.slot}`]);
});
