-- Anyone can open orders that nobody submits, as many as they pay for. The next ones to look at are found without sorting
-- them all: those that were delivered, those that are due for the first time, and those that were looked at longest ago.
alter table unknown_orders add column is_filled boolean not null default false;
update unknown_orders u set is_filled = true
where exists (select from chain_events e where e.order_id = u.order_id and e.name = 'Filled');
drop index unknown_orders_undecided;
create index unknown_orders_filled on unknown_orders (looked_at nulls first) where outcome is null and is_filled;
create index unknown_orders_new on unknown_orders (chain_id, open_deadline) where outcome is null and looked_at is null;
create index unknown_orders_looked_at on unknown_orders (looked_at) where outcome is null and looked_at is not null;
