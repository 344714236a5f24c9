-- The reference price of each asset, from the block on at which it was first seen. All values of the books follow from
-- these marks. At most one a minute is written for an asset.
create table price_marks (
	chain_id bigint not null,
	token bytea not null,
	block_number bigint not null,
	-- USD for one whole token, with 18 decimals.
	usd_e18 numeric(78, 0) not null check (usd_e18 > 0),
	primary key (chain_id, token, block_number)
);

-- The times of the blocks that have events or transactions of the service.
create table block_times (
	chain_id bigint not null,
	number bigint not null,
	timestamp bigint not null,
	primary key (chain_id, number)
);

-- The books of each chain and token by day, UTC. A day ends with the first comparison with the chain after midnight, and
-- the next one begins there. It has the postings that were written in between, so one that is written late is in the day
-- in which it was. Values are integers of 10^-36 USD.
create table book_days (
	-- As in 2026-11-30.
	day text not null check (length(day) = 10),
	chain_id bigint not null,
	token bytea not null,
	after_posting bigint not null,
	last_posting bigint not null,
	-- The block at whose end the balances were compared.
	last_block bigint not null,
	-- What vaults and relayers hold by the chain, and what is on its way to them by the ledger.
	opening numeric(78, 0) not null,
	closing numeric(78, 0) not null,
	-- What came in and went out, by the account on the other side.
	by_account jsonb not null,
	-- Undefined prices are null. So are values that need one.
	usd_opening numeric(78, 0),
	usd_closing numeric(78, 0),
	flows36 numeric(120, 0),
	positions36 numeric(120, 0),
	-- Whether a second provider reported the same balances. Null if there is none.
	agreed boolean,
	closed_at timestamptz not null default now(),
	primary key (day, chain_id, token)
);
create index book_days_by_chain on book_days (chain_id, last_posting);
