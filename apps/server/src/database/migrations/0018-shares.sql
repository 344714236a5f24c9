-- Links to the public page of a swap. Only the hashes of their tokens are kept: a copy of the database opens no page.
create table swap_shares (
	token_hash bytea primary key check (length(token_hash) = 32),
	swap_id uuid not null,
	created_at timestamptz not null default now()
);
-- A swap's links are revoked together, and there are only so many of them.
create index swap_shares_by_swap on swap_shares (swap_id, created_at);
