import { isSolana } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { Row } from "../../database/rows.ts";
import { attributePosting } from "./attribute-posting.ts";
import { priceAt, value36 } from "./explain-change.ts";
import { readPriceMarks } from "./price-marks.ts";
import type { DecimalsOf } from "./read-periods.ts";
import type { Period, ValuedPart } from "./tally.ts";

/** A part of the books with what an accountant needs to find it again. */
export type BookPart = ValuedPart & {
	posting: number;
	/** The time of its block, or of the posting if that is not known. */
	at: Date;
	transactionHash: Hex | undefined;
	/** The declaration or the move of the treasury. */
	move: string | undefined;
};

const pageSize = 2_000;

type PostingRow = Row<"postings", "id" | "key" | "name" | "block_number" | "order_id" | "at"> & {
	seconds: number | null;
	event_hash: Buffer | null;
	move_id: string | null;
	kind: string | null;
	jobs: unknown;
	entries: unknown;
};

/** Yields the parts of a period in the order of the postings, a page at a time. */
export async function* readParts(
	db: Database,
	period: Period,
	{ decimalsOf, size = pageSize }: { decimalsOf: DecimalsOf; size?: number },
): AsyncGenerator<BookPart[]> {
	const { chainId, afterPosting, lastPosting, afterBlock, lastBlock } = period;
	const marks = await readPriceMarks(db, { chainId, after: afterBlock, upTo: lastBlock });
	let after = afterPosting;
	while (true) {
		const { rows } = await db.query<PostingRow>(
			namedParameters(
				`with page as (
					select id, key, name, chain_id, block_number, order_id, at, split_part(key, ':', 2) as hash,
						split_part(key, ':', 3) as third
					from postings where chain_id = $chainId and id > $after and id <= $upTo order by id limit $size
				)
				select p.id, p.key, p.name, p.block_number, p.order_id, p.at, b.timestamp as seconds,
					e.transaction_hash as event_hash, e.data->>'moveId' as move_id, t.kind, t.jobs,
					(select jsonb_agg(jsonb_build_array(account, '0x' || encode(token, 'hex'), amount::text)
							order by account, token, amount)
						from entries where posting_id = p.id and chain_id = p.chain_id) as entries
				from page p
				left join block_times b on b.chain_id = p.chain_id and b.number = p.block_number
				left join chain_events e on e.chain_id = p.chain_id and e.block_number = p.block_number
					and e.block_hash = case when p.hash ~ '^0x[0-9a-f]{64}$' then decode(substr(p.hash, 3), 'hex') end
					and e.log_index = case when p.third ~ '^[0-9]{1,9}$' then p.third::integer end
				left join lane_transactions t on t.chain_id = p.chain_id
					and t.hash = case when p.name = 'gas' and p.third ~ '^0x([0-9a-f]{2})+$'
						then decode(substr(p.third, 3), 'hex') end
				order by p.id`,
				{ chainId, after, upTo: lastPosting, size },
			),
		);
		const postings = rows.map((row) => ({ ...row, transactionHash: transactionOf(chainId, row) }));
		const moves = await readMoves(db, chainId, postings);
		const parts = postings.flatMap((row): BookPart[] => {
			const moved =
				(row.transactionHash && moves.get(row.transactionHash)) ??
				moves.get(row.key) ??
				(row.move_id === null ? undefined : moves.get(row.move_id.toLowerCase()));
			const attributed = attributePosting({
				name: row.name,
				orderId: row.order_id ? bytesToHex(row.order_id) : undefined,
				entries: ((row.entries ?? []) as [string, Hex, string][]).map(([account, token, amount]) => {
					return { account, token, amount: BigInt(amount) };
				}),
				transaction:
					row.kind === null
						? undefined
						: {
								kind: row.kind,
								orderIds: (row.jobs as { orderId?: Hex }[]).flatMap(({ orderId }) => orderId ?? []),
							},
				isMove: moved !== undefined,
			});
			return attributed.flatMap((part): BookPart[] => {
				const decimals = decimalsOf(chainId, part.token);
				// Anyone can have a token of their own released to a vault.
				if (decimals === undefined) return [];
				const usdE18 = priceAt(marks.get(part.token) ?? [], Math.max(row.block_number, afterBlock));
				return [
					{
						...part,
						posting: row.id,
						chainId,
						name: row.name,
						at: row.seconds === null ? row.at : new Date(row.seconds * 1_000),
						transactionHash: row.transactionHash,
						move: moved,
						value36: usdE18 === undefined ? undefined : value36(part.amount, { decimals, usdE18 }),
					},
				];
			});
		});
		if (parts.length > 0) yield parts;
		const last = rows.at(-1);
		if (!last || rows.length < size) return;
		after = last.id;
	}
}

/** Returns the transaction of a posting, by its event or by its key. */
function transactionOf(
	chainId: number,
	{ key, name, event_hash }: Pick<PostingRow, "key" | "name" | "event_hash">,
): Hex | undefined {
	if (event_hash) return bytesToHex(event_hash);
	const [, second, third] = key.split(":");
	if (name === "gas") return third as Hex | undefined;
	return isSolana(chainId) && second?.startsWith("0x") ? (second as Hex) : undefined;
}

/** Returns the ids of declarations and moves, by what their postings have: a key, a transaction, or the move's id. */
async function readMoves(
	db: Database,
	chainId: number,
	postings: readonly (PostingRow & { transactionHash: Hex | undefined })[],
): Promise<Map<string, string>> {
	const { rows } = await db.query<
		Row<"treasury_moves", "id" | "move_id" | "transaction_hash" | "posting_key">
	>(
		`select id, move_id, posting_key, case when move_id is null then null when chain_id = $1 then transaction_hash
			else arrived_transaction end as transaction_hash
		from treasury_moves
		where posting_key = any($2) or chain_id = $1 and (move_id = any($3)
			or move_id is not null and transaction_hash = any($4))
			or to_chain_id = $1 and arrived_transaction = any($4)
		order by created_at desc, id`,
		[
			chainId,
			postings.map(({ key }) => key),
			postings.flatMap(({ move_id }) => (move_id === null ? [] : [Buffer.from(hexToBytes(move_id as Hex))])),
			postings.flatMap(({ name, transactionHash }) =>
				name === "gas" && transactionHash ? [Buffer.from(hexToBytes(transactionHash))] : [],
			),
		],
	);
	return new Map(
		rows.flatMap(({ id, move_id, transaction_hash, posting_key }) => [
			...(posting_key === null ? [] : [[posting_key, id] as const]),
			...(move_id ? [[bytesToHex(move_id), id] as const] : []),
			...(transaction_hash ? [[bytesToHex(transaction_hash), id] as const] : []),
		]),
	);
}
