-- The accounts that pay for the service's transactions on each chain, current and former. The ledger compares their
-- balances with the chain, like those of the vaults.
create table relayers (
	chain_id bigint not null,
	address bytea not null,
	primary key (chain_id, address)
);
insert into relayers (chain_id, address) select chain_id, relayer from lanes;

-- The operator's flows of inventory: what was declared to come in or go out, and what the treasurer's key moves. A flow
-- that is on a chain and in no row is a breach.
create table treasury_moves (
	id uuid primary key,
	kind text not null check (kind in ('deposit', 'withdrawal', 'trade', 'send', 'bridge')),
	chain_id bigint not null,
	token bytea not null,
	amount numeric(78, 0) not null check (amount > 0),
	-- The vault or the relayer that it enters or leaves.
	holder bytea not null,
	-- Where it goes: the recipient of a withdrawal or a send, the route of a bridge.
	address bytea,
	-- What a trade buys, or what a bridge delivers on another chain.
	to_chain_id bigint,
	to_token bytea,
	-- The smallest amount of it that was accepted.
	min_received numeric(78, 0),
	-- Of a trade, a send or a bridge: the vault makes a move with this id only once. A move that failed was not made, so
	-- the next one of its key has the same id.
	move_id bytea check (length(move_id) = 32),
	-- How many moves of its kind, chain, token and destination the chain had made before. The id follows from it.
	nth integer,
	data jsonb not null default '{}',
	reason text not null,
	-- The person who declared it, or the process that planned it.
	made_by text not null,
	state text not null check (
		state in ('queued', 'sent', 'moved', 'minting', 'final', 'stuck', 'failed', 'cancelled', 'lost')
	),
	-- The posting that books it. Several deposits can be in one.
	posting_key text,
	transaction_hash bytea,
	received numeric(78, 0),
	created_at timestamptz not null default now(),
	due_at timestamptz,
	updated_at timestamptz not null default now(),
	check ((move_id is null) = (kind in ('deposit', 'withdrawal')))
);
create index treasury_moves_declared on treasury_moves (chain_id, token, created_at)
	where state = 'queued' and kind in ('deposit', 'withdrawal');
-- One move of its kind, chain, token and destination at a time.
create unique index treasury_moves_open on treasury_moves (kind, chain_id, token, coalesce(to_chain_id, 0), coalesce(address, ''))
	where move_id is not null and state not in ('final', 'failed', 'cancelled', 'lost');
create unique index treasury_moves_by_move_id on treasury_moves (move_id) where state not in ('failed', 'cancelled');
create index treasury_moves_by_age on treasury_moves (created_at);
create index treasury_moves_by_posting on treasury_moves (posting_key) where posting_key is not null;
create index chain_events_of_flows on chain_events (chain_id, block_number)
	where name in ('Withdrawn', 'Traded', 'Sent', 'Bridged');

-- The sums of the entries of the accounts that are the desk's own money, on every chain.
alter table ledger_balances drop constraint ledger_balances_account_check;
alter table ledger_balances add constraint ledger_balances_account_check
	check (account in ('inventory', 'relayer', 'bridge', 'locked', 'credit:vault'));
insert into ledger_balances (chain_id, account, token, balance)
select chain_id, account, token, sum(amount) from entries where account in ('inventory', 'relayer', 'locked', 'credit:vault')
group by chain_id, account, token
on conflict (chain_id, account, token) do update set balance = excluded.balance;
