-- On Solana the program holds accounts of orders and records of fills. Each locks lamports until it is closed.
drop table markers;
create table rents (
	chain_id bigint not null,
	address bytea not null,
	order_id bytea not null,
	-- A fee payer pays the rent of an order, and the vault that of a record.
	account text not null check (account in ('order', 'record')),
	lamports numeric(78, 0) not null,
	-- The program refuses to close the account before.
	closable_at timestamptz not null,
	returned_at timestamptz,
	primary key (chain_id, address)
);
create index rents_due on rents (chain_id, closable_at) where returned_at is null;

-- The vault keeps its own caps.
drop table outflows;

alter table jobs drop column marker_search_before;
