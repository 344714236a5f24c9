-- Authorizations for the zero address, which the service sends for wallets that want to be delegated no longer.
create table delegation_removals (
	id uuid primary key default gen_random_uuid(),
	account_id uuid not null,
	chain_id bigint not null,
	wallet bytea not null,
	authorization_list jsonb not null,
	-- queued → sent, once a lane has journalled its transaction; queued → refused if the chain would not apply it any more.
	state text not null default 'queued' check (state in ('queued', 'sent', 'refused')),
	created_at timestamptz not null default now()
);
-- One at a time per wallet: the same request again is the same removal.
create unique index delegation_removals_queued on delegation_removals (chain_id, wallet) where state = 'queued';
-- The budgets of a day.
create index delegation_removals_by_time on delegation_removals (created_at);
