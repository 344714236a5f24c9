-- The time at which a worker was first configured with each key that the service signs with. It tells how old a key is.
create table signing_keys (
	-- The address, as its chain writes it.
	address text primary key,
	first_seen_at timestamptz not null default now()
);
