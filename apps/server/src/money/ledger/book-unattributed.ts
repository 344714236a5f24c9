import { addressOfWord, nativeTokenOf, type Order, orderId as orderIdOf, toChainId } from "@geoswap/protocol";
import { bytesToHex, type Hash, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import type { Entry } from "./event-entries.ts";
import { type Posting, post } from "./post.ts";

/** The holdings of the vault at a final slot, by token. */
export type SlotHoldings = { slot: number; vault: ReadonlyMap<Hex, bigint> };

/** The ledger's account that is compared with the chain. */
const account = "inventory";

/**
 * Books amounts that entered or left the vault by none of our transactions. Must be called when all of these up to the
 * slot are booked, and none after it, so that a difference can be nothing else.
 */
export async function bookUnattributed(
	db: Database,
	{
		chainId,
		holdings,
		headHash,
	}: {
		chainId: number;
		holdings: SlotHoldings;
		/**
		 * Differs each time, because a delivery that is found late changes a difference that was booked at the same slot.
		 */
		headHash: Hash;
	},
): Promise<Posting[]> {
	const balances = await readLedgerBalances(db, chainId);
	const postings = [...holdings.vault].flatMap(([token, amount]): Posting[] => {
		const difference = amount - (balances.get(token) ?? 0n);
		if (difference === 0n) return [];
		return [
			{
				key: `${chainId}:unattributed:${headHash}:${account}:${token}`,
				chainId,
				blockNumber: holdings.slot,
				name: "unattributed",
				orderId: undefined,
				entries: [
					{ account, token, amount: difference },
					{ account: "unattributed", token, amount: -difference },
				],
			},
		];
	});
	const posted = await post(db, postings);
	await addToLedgerBalances(
		db,
		chainId,
		posted.flatMap((posting) => posting.entries),
	);
	return posted;
}

/** Updates the balances of the compared account. Every entry of it must pass here once. */
export async function addToLedgerBalances(
	db: Database,
	chainId: number,
	entries: readonly Entry[],
): Promise<void> {
	const compared = entries.filter((entry) => entry.account === account);
	if (compared.length === 0) return;
	await db.query(
		`insert into ledger_balances (chain_id, account, token, balance)
		select $1, $2, token, sum(amount) from unnest($3::bytea[], $4::numeric[]) as e (token, amount) group by token
		on conflict (chain_id, account, token) do update set balance = ledger_balances.balance + excluded.balance`,
		[chainId, account, compared.map(({ token }) => hexToBytes(token)), compared.map(({ amount }) => amount)],
	);
}

async function readLedgerBalances(db: Database, chainId: number): Promise<Map<Hex, bigint>> {
	const { rows } = await db.query<Row<"ledger_balances", "token" | "balance">>(
		"select token, balance from ledger_balances where chain_id = $1 and account = $2",
		[chainId, account],
	);
	return new Map(rows.map(({ token, balance }) => [bytesToHex(token), balance]));
}

/** Books as lost the delivery for a deposit that the chain dropped, and that can never be made again. */
export async function bookLoss(db: Database, order: Order): Promise<void> {
	const orderId = orderIdOf(order);
	const chainId = toChainId(order.destinationChainId);
	const { rows } = await db.query<{ block_number: number; delivered: string; topped_up: string | null }>(
		`select f.block_number, f.data->>'delivered' as delivered, t.data->>'amount' as topped_up
		from chain_events f left join chain_events t on t.order_id = f.order_id and t.chain_id = f.chain_id
			and t.name = 'ToppedUp' and (t.data->>'paid')::boolean
		where f.order_id = $1 and f.chain_id = $2 and f.name = 'Filled'`,
		[hexToBytes(orderId), chainId],
	);
	const [filled] = rows;
	if (!filled) return;
	const token = addressOfWord(order.destinationChainId, order.outputToken);
	const lost = [
		{ token, amount: BigInt(filled.delivered) },
		...(filled.topped_up === null
			? []
			: [{ token: nativeTokenOf(chainId), amount: BigInt(filled.topped_up) }]),
	];
	await post(db, [
		{
			key: `loss:${orderId}:${filled.block_number}`,
			chainId,
			blockNumber: filled.block_number,
			name: "loss",
			orderId,
			entries: lost.flatMap((one): Entry[] => [
				{ account: "loss", ...one },
				{ account: "recipient", ...one, amount: -one.amount },
			]),
		},
	]);
}
