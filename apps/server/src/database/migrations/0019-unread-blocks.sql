-- Blocks that were followed without all of their events, because no node returned these. The follower requests them
-- again until a node does. No swap from or to the chain is sold while events of undecided swaps may be among them.
create table unread_blocks (
	chain_id bigint not null,
	number bigint not null,
	hash bytea not null,
	-- The error of the last attempt.
	reason text not null,
	-- True if only events of orders that have no undecided swap may be missing.
	is_partial boolean not null default false,
	since timestamptz not null default now(),
	tried_at timestamptz not null default now(),
	primary key (chain_id, number)
);

-- The newest final block at which every undecided order without a deposit was compared with its escrow's own state.
-- Events can be missing from a node's logs: a swap fails only once this block is past its open deadline.
alter table chain_heads add column compared_number bigint not null default 0;
alter table chain_heads add column compared_timestamp bigint not null default 0;
-- When that comparison read the undecided swaps: it says nothing about later ones.
alter table chain_heads add column compared_at timestamptz not null default 'epoch';
-- Orders that the contracts had decided at that block, although no node returns the events.
alter table chain_heads add column unseen_orders bytea[] not null default '{}';
