import {
	fromSolanaWord,
	type Order,
	orderSchema,
	type SolanaAddress,
	type SwapStatus,
	solanaChainId,
} from "@geoswap/protocol";
import type pg from "pg";
import type { Address, Hex } from "viem";

export type Books = {
	/** Up to which block each chain is in the ledger. */
	bookedBlocks: Map<number, number>;
	/** By `${chainId}:${token}`, the token in lower case. */
	stock: Map<string, bigint>;
	/** On Solana every account of the ledger has its like on the chain. Absent where the books do not know it. */
	solana: SolanaBooks | undefined;
	/** Keys of postings that do not add up. */
	unbalanced: string[];
	swaps: AuditedSwap[];
};

export type SolanaBooks = {
	/** Up to here all is in the balances with which the books began. */
	openingSlot: number;
	/** All that there ever were. */
	feePayers: SolanaAddress[];
	/** By account, token (in hex) and what it was booked for. */
	sums: { account: string; token: Hex; posting: string; amount: bigint }[];
};

export type AuditedSwap = {
	id: string;
	orderId: Hex;
	order: Order;
	status: SwapStatus;
	/** Whether what decided it was final. */
	isEnded: boolean;
	deliveredAmount: bigint | undefined;
};

/** What the database says, all at one moment. Numbers come as text: how the driver reads them is not trusted. */
export async function readBooks(pool: pg.Pool): Promise<Books> {
	const client = await pool.connect();
	let broken: Error | undefined;
	const breakOff = (error: Error) => {
		broken = error;
	};
	// The pool listens only while a connection is idle; unheard, an error would end the process.
	client.on("error", breakOff);
	try {
		await client.query("begin isolation level repeatable read, read only");
		const heads = await client.query<{ chain: string; block: string }>(
			"select chain_id::text as chain, booked_number::text as block from chain_heads",
		);
		const stock = await client.query<{ chain: string; token: string; sum: string }>(
			`select chain_id::text as chain, encode(token, 'hex') as token, sum(amount)::text as sum
			from entries where account = 'stock' group by 1, 2`,
		);
		const opening = await client.query<{ slot: string }>(
			"select block_number::text as slot from postings where chain_id = $1 and name = 'opening'",
			[solanaChainId],
		);
		const sums = await client.query<{ account: string; token: string; posting: string; sum: string }>(
			`select account, encode(token, 'hex') as token, name as posting, sum(amount)::text as sum
			from entries e join postings p on p.id = e.posting_id join chain_heads h on h.chain_id = e.chain_id
			where e.chain_id = $1 and p.block_number <= h.booked_number group by 1, 2, 3`,
			[solanaChainId],
		);
		const lanes = await client.query<{ relayer: string }>(
			"select encode(relayer, 'hex') as relayer from lanes where chain_id = $1",
			[solanaChainId],
		);
		const unbalanced = await client.query<{ key: string }>(
			`select distinct key from postings join (
				select posting_id from entries group by posting_id, chain_id, token having sum(amount) <> 0
			) as wrong on wrong.posting_id = id`,
		);
		const swaps = await client.query<SwapRow>(
			`select id::text as id, encode(order_id, 'hex') as order_id, order_terms::text as order_terms, status,
				ended_at is not null as is_ended, delivered_amount::text as delivered_amount
			from swaps`,
		);
		return {
			bookedBlocks: new Map(heads.rows.map(({ chain, block }) => [Number(chain), Number(block)])),
			stock: new Map(
				stock.rows.map(({ chain, token, sum }) => [stockKey(Number(chain), `0x${token}`), BigInt(sum)]),
			),
			solana: opening.rows[0] && {
				openingSlot: Number(opening.rows[0].slot),
				feePayers: lanes.rows.map(({ relayer }) => fromSolanaWord(`0x${relayer}`)),
				sums: sums.rows.map(({ account, token, posting, sum }) => ({
					account,
					token: `0x${token}`,
					posting,
					amount: BigInt(sum),
				})),
			},
			unbalanced: unbalanced.rows.map((row) => row.key),
			swaps: swaps.rows.map((row) => ({
				id: row.id,
				orderId: `0x${row.order_id}`,
				order: orderSchema.parse(JSON.parse(row.order_terms)),
				status: row.status,
				isEnded: row.is_ended,
				deliveredAmount: row.delivered_amount === null ? undefined : BigInt(row.delivered_amount),
			})),
		};
	} finally {
		await client.query("rollback").catch(breakOff);
		client.off("error", breakOff);
		client.release(broken);
	}
}

type SwapRow = {
	id: string;
	order_id: string;
	order_terms: string;
	status: SwapStatus;
	is_ended: boolean;
	delivered_amount: string | null;
};

export function stockKey(chainId: number, token: Address): string {
	return `${chainId}:${token.toLowerCase()}`;
}
