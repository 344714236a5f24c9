-- The addresses at which accounts want to be told of events.
create table webhooks (
	id uuid primary key,
	account_id uuid not null references accounts,
	url text not null,
	-- The secret is sealed: a copy of this table signs nothing.
	secret text not null,
	-- The secret before the last rotation. It signs too until then.
	previous_secret text,
	previous_until timestamptz,
	created_at timestamptz not null default now(),
	-- Events up to this position are not told.
	after bigint not null,
	last_success_at timestamptz,
	-- The time since which no delivery has succeeded. Null if the last one did.
	failing_since timestamptz,
	last_error text,
	last_error_at timestamptz,
	-- The number of events that were never delivered.
	given_up integer not null default 0,
	disabled_at timestamptz
);
create index webhooks_by_account on webhooks (account_id);

-- Events that are still to be told. The earliest of each swap goes first, and the next one only after it.
create table webhook_deliveries (
	webhook_id uuid not null references webhooks on delete cascade,
	position bigint not null,
	swap_id uuid not null,
	attempts integer not null default 0,
	first_at timestamptz,
	next_at timestamptz not null,
	primary key (webhook_id, position)
);
create index webhook_deliveries_by_swap on webhook_deliveries (webhook_id, swap_id, position);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_at);

-- Up to this position events have become deliveries.
alter table event_head add column queued bigint not null default 0;
update event_head set queued = position;
