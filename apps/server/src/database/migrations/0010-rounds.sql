-- Swaps are driven by rounds: each looks at many swaps, decides and writes. A swap's wait says when a round looks at it
-- next, and what the last one has to tell the next. Every swap that has not ended has one, with a time.
drop table waits;
create table waits (
	swap_id uuid primary key,
	order_id bytea not null,
	-- Raised by whoever changes a fact of the swap. A round that finds it raised since it looked leaves the swap due.
	mark bigint not null default 0,
	-- By the database's clock.
	due_at timestamptz not null default now(),
	-- Due too once this chain's head, or its finalized block, is here.
	head_chain_id bigint,
	head_number bigint,
	finalized_chain_id bigint,
	finalized_number bigint,
	-- The last fact in the swap's history, and how many rounds in a row have found no other.
	fact text,
	idle_rounds integer not null default 0,
	-- Rounds in a row that failed over this swap.
	failed_rounds integer not null default 0,
	-- The deposit that the second provider of a chain is asked for. The chain is null once it has answered.
	ask_chain_id bigint,
	ask jsonb,
	-- What it answered last, when, since when it has said so, and whether a person was told.
	second_word text check (second_word in ('agrees', 'behind', 'differs', 'silent')),
	second_at timestamptz,
	second_since timestamptz,
	second_alarmed boolean not null default false
);
create index waits_by_order on waits (order_id);
create index waits_due on waits (due_at);
create index waits_by_head on waits (head_chain_id, head_number) where head_number is not null;
create index waits_by_finalized on waits (finalized_chain_id, finalized_number) where finalized_number is not null;
create index waits_asked on waits (ask_chain_id) where ask_chain_id is not null;

-- All that has not ended is looked at.
insert into waits (swap_id, order_id, fact)
select id, order_id, (select fact from swap_events where swap_id = id order by seq desc limit 1)
from swaps where ended_at is null;

-- Called in the transaction that inserts a swap: inserts its wait and, unless its order is open already, its first job. It
-- runs as its owner, so that the API needs no right to insert either: all that it writes is in the swap's row, unchecked,
-- and lanes refuse an open that they cannot read. However late the API says, a round looks within a minute.
-- The order may be open already: its owner, or anyone, may have sent it, and whoever followed the chain found no swap to
-- mark. Then the swap is due at once.
create function start_swap(swap uuid, due timestamptz, is_opened boolean) returns void language plpgsql
	security definer set search_path = public, pg_temp as $$
begin
	insert into waits (swap_id, order_id, due_at, fact)
	select id, order_id,
		case when exists (select from chain_events e where e.order_id = swaps.order_id and e.name = 'Opened') then created_at
			else least(due, created_at + interval '60 seconds') end,
		case when is_opened then 'submitted' else 'opening' end
	from swaps
	where id = swap and xmin = pg_current_xact_id()::xid and stage = 'opening' and ended_at is null;
	if not found then
		raise exception 'swap % is not new', swap;
	end if;
	if is_opened then
		return;
	end if;
	insert into swap_events (swap_id, fact) values (swap, 'opening');
	insert into jobs (swap_id, kind, chain_id, order_id, order_terms, payload, state, priority, turn)
	select id, 'open', (order_terms->>'originChainId')::bigint, order_id, order_terms, jsonb_build_object('op', op),
		'queued', 4, turn
	from swaps where id = swap;
end $$;
