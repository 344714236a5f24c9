-- Events tell an account how its swaps are doing. Each change of a swap's status or stage adds one, in the transaction
-- that makes the change, whoever makes it: a trigger writes it. Numbers are given out before transactions commit, and
-- transactions commit in another order, so a reader that remembers the last number it saw would miss events. So a change
-- only adds to the outbox. One publisher at a time moves what has been committed to `events` and gives each its position:
-- positions become visible in their order.
create table event_outbox (
	-- It is taken while the swap's row is locked: of two events of one swap, the later one has the higher id.
	id bigint generated always as identity primary key,
	account_id uuid not null,
	swap_id uuid not null,
	-- The number of stages and statuses that the swap has reached, with this one. It tells the events of a swap apart.
	number integer not null,
	at timestamptz not null default now(),
	-- The following columns are what can change of a swap, as it was then. The rest is in the swap's row.
	status text not null check (status in ('pending', 'settled', 'failed', 'refunded')),
	stage text not null check (stage in ('opening', 'deposited', 'delivering', 'delivered', 'refunding')),
	failure jsonb,
	origin_tx_hash bytea,
	delivery_tx_hash bytea,
	refund_tx_hash bytea,
	delivered_amount numeric(78, 0),
	updated_at timestamptz not null,
	opened_at timestamptz,
	delivered_at timestamptz,
	decided_at timestamptz
);

create table events (
	position bigint primary key,
	account_id uuid not null,
	swap_id uuid not null,
	number integer not null,
	at timestamptz not null,
	status text not null check (status in ('pending', 'settled', 'failed', 'refunded')),
	stage text not null check (stage in ('opening', 'deposited', 'delivering', 'delivered', 'refunding')),
	failure jsonb,
	origin_tx_hash bytea,
	delivery_tx_hash bytea,
	refund_tx_hash bytea,
	delivered_amount numeric(78, 0),
	updated_at timestamptz not null,
	opened_at timestamptz,
	delivered_at timestamptz,
	decided_at timestamptz
);
create index events_by_account on events (account_id, position);
create index events_by_swap on events (swap_id, position);

-- The last position that was given, and the last one whose event was deleted because of its age. Whoever locks the row
-- is the publisher.
create table event_head (
	is_only boolean primary key default true check (is_only),
	position bigint not null default 0,
	pruned bigint not null default 0
);
insert into event_head default values;

-- It runs as its owner, so that no process needs the right to write events.
create function record_swap_event() returns trigger language plpgsql
	security definer set search_path = public, pg_temp as $$
begin
	insert into event_outbox (account_id, swap_id, number, status, stage, failure, origin_tx_hash, delivery_tx_hash,
		refund_tx_hash, delivered_amount, updated_at, opened_at, delivered_at, decided_at)
	values (new.account_id, new.id, cardinality(new.moves), new.status, new.stage, new.failure, new.origin_tx_hash,
		new.delivery_tx_hash, new.refund_tx_hash, new.delivered_amount, new.updated_at, new.opened_at,
		new.delivered_at, new.decided_at);
	return null;
end $$;
revoke execute on function record_swap_event from public;
-- A swap that was rebuilt from the chain has no account to tell, until one submits it again.
create trigger swap_is_new after insert on swaps
	for each row when (new.account_id is not null) execute function record_swap_event();
create trigger swap_moved after update of status, stage, account_id on swaps
	for each row when (new.account_id is not null and (old.status <> new.status or old.stage <> new.stage
		or old.account_id is null)) execute function record_swap_event();
