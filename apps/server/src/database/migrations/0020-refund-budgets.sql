-- Anyone can open orders that nobody submits and whose refund the service pays for. The value of their inputs decides whose
-- refund comes first, and a budget for each chain bounds what the refunds cost. The value is null until the order was judged
-- to be worth a refund.
alter table unknown_orders add column value_usd_cents bigint;
create index unknown_orders_by_value on unknown_orders (chain_id, value_usd_cents desc, open_deadline)
	where outcome is null and value_usd_cents is not null;

-- How much of a chain's budget was in use at that time, in millionths of a dollar. It becomes free again evenly.
create table refund_budgets (
	chain_id bigint primary key,
	used_micro_usd bigint not null check (used_micro_usd >= 0),
	at timestamptz not null
);

-- A swap that was rebuilt without an account ends, still pending, once its refund is a final credit. If an account adopts
-- it, rounds look at it again, so that the account gets to know when the credit is claimed. The API has no right to write
-- either, so that this runs as its owner.
create function begin_adopted_swap() returns trigger language plpgsql
	security definer set search_path = public, pg_temp as $$
begin
	new.ended_at := null;
	insert into waits (swap_id, order_id) values (new.id, new.order_id) on conflict do nothing;
	return new;
end $$;
create trigger swaps_adopted before update of account_id on swaps for each row
	when (old.account_id is null and new.account_id is not null and old.ended_at is not null and old.status = 'pending')
	execute function begin_adopted_swap();
