import type { Authorization } from "@geoswap/protocol";
import { type Address, bytesToHex, type Hex, hexToBytes } from "viem";
import { type Database, type DatabasePool, inTransaction } from "../database/database.ts";
import { namedParameters } from "../database/named-parameters.ts";
import type { LaneId } from "./journal/lane-transactions.ts";

/** A wallet's signed authorization for the zero address, and its proof that revokes its mandates. A lane sends both. */
export type DelegationRemoval = {
	id: string;
	wallet: Address;
	authorization: Authorization;
	revocation: Hex | undefined;
};

/** Reasons not to queue a removal: the day's budget of the account, or of the chain. */
export type SpentBudget = "account" | "chain";

/**
 * Queues a removal within the budgets of a day. If one of the wallet is queued already, that one stays. Returns the
 * budget that is spent, or undefined if the removal is queued. Removals are counted one after the other, because
 * concurrent ones would each count before the others have inserted.
 */
export async function queueRemoval(
	pool: DatabasePool,
	removal: Parameters<typeof queueCounted>[1],
): Promise<SpentBudget | undefined> {
	return inTransaction(pool, (db) => queueCounted(db, removal), {
		first: "select pg_advisory_xact_lock(hashtextextended('delegation removals', 0))",
	});
}

async function queueCounted(
	db: Database,
	{
		accountId,
		chainId,
		wallet,
		authorization,
		revocation,
		perDay,
	}: {
		accountId: string;
		chainId: number;
		wallet: Address;
		authorization: Authorization;
		revocation: Hex;
		perDay: { perAccount: number; perChain: number };
	},
): Promise<SpentBudget | undefined> {
	const { rows } = await db.query<{ isQueued: boolean; ofAccount: number; ofChain: number }>(
		namedParameters(
			`with today as materialized (
				select count(*) filter (where account_id = $accountId)::int as of_account,
					count(*) filter (where chain_id = $chainId)::int as of_chain
				from delegation_removals where created_at > now() - interval '1 day'
			), queued as (
				insert into delegation_removals (account_id, chain_id, wallet, authorization_list, revocation)
				select $accountId, $chainId, $wallet, $authorization, $revocation from today
				where of_account < $perAccount and of_chain < $perChain
				on conflict (chain_id, wallet) where state = 'queued' do nothing
			)
			select exists (
					select from delegation_removals where chain_id = $chainId and wallet = $wallet and state = 'queued'
				) or (of_account < $perAccount and of_chain < $perChain) as "isQueued",
				of_account as "ofAccount", of_chain as "ofChain" from today`,
			{
				accountId,
				chainId,
				wallet: hexToBytes(wallet),
				authorization: JSON.stringify(authorization, (_, value) =>
					typeof value === "bigint" ? String(value) : value,
				),
				perAccount: perDay.perAccount,
				perChain: perDay.perChain,
				revocation: hexToBytes(revocation),
			},
		),
	);
	const [row] = rows;
	if (!row || row.isQueued) return undefined;
	return row.ofAccount >= perDay.perAccount ? "account" : "chain";
}

/** Returns the removal of the chain that has waited longest, and the lane's next nonce. */
export async function nextRemoval(
	db: Database,
	{ chainId, relayer }: LaneId,
): Promise<(DelegationRemoval & { nonce: number }) | undefined> {
	const { rows } = await db.query<{
		id: string;
		wallet: Uint8Array;
		authorization: Record<"chainId" | "nonce" | "yParity", string> & Record<"address" | "r" | "s", Hex>;
		revocation: Uint8Array | null;
		nonce: number;
	}>(
		`select id, wallet, authorization_list as authorization, revocation, next_nonce as nonce
		from delegation_removals join lanes on lanes.chain_id = $1 and lanes.relayer = $2
		where delegation_removals.chain_id = $1 and state = 'queued' order by created_at limit 1`,
		[chainId, hexToBytes(relayer)],
	);
	const [row] = rows;
	if (!row) return undefined;
	const { address, r, s, ...numbers } = row.authorization;
	return {
		id: row.id,
		wallet: bytesToHex(row.wallet),
		nonce: row.nonce,
		revocation: row.revocation ? bytesToHex(row.revocation) : undefined,
		authorization: {
			address,
			r,
			s,
			chainId: BigInt(numbers.chainId),
			nonce: BigInt(numbers.nonce),
			yParity: BigInt(numbers.yParity),
		},
	};
}

/** Changes the state of a removal. Returns false if another lane was faster. */
export async function moveRemoval(
	db: Database,
	id: string,
	{ from, to }: Record<"from" | "to", "queued" | "sent" | "refused">,
): Promise<boolean> {
	const { rowCount } = await db.query(
		"update delegation_removals set state = $3 where id = $1 and state = $2",
		[id, from, to],
	);
	return (rowCount ?? 0) > 0;
}
