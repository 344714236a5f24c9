-- What a plan wants each vault to have of a token, what is on its way there, and what the cheapest way to bring more
-- costs. Quotes lean prices by it. Without `needed` or `move_cost_bps` they do not.
alter table inventory
	add column needed numeric(78, 0) check (needed >= 0),
	add column arriving numeric(78, 0) not null default 0 check (arriving >= 0),
	add column move_cost_bps integer check (move_cost_bps >= 0);

-- What inventory added to a swap's price, or took from it if negative, in hundredths of a basis point.
alter table swaps add column skew_centibps integer not null default 0;

-- What swaps take from vaults and bring to them, in each minute: of swaps that were submitted, and of quotes that were
-- refused because a vault had too little room. The rows of a week are kept.
create table demand (
	chain_id bigint not null,
	token bytea not null,
	minute timestamptz not null,
	outflow numeric(78, 0) not null default 0,
	inflow numeric(78, 0) not null default 0,
	primary key (chain_id, token, minute)
);
create index demand_by_minute on demand (minute);

-- The value that each account had quoted in a day. The refused quotes of an account count in `demand` by the share of
-- this that it settles, so that nobody steers inventory by quotes alone.
create table quoted_volume (
	account_id uuid not null,
	day timestamptz not null,
	usd_cents numeric(78, 0) not null,
	primary key (account_id, day)
);
