-- A move of the treasurer's key goes from `queued` over `sent`, once its transaction is journalled, to `moved`, once the
-- vault's event is in a block. A trade or a send is then `final` with its block. A bridge is `attested`, `minting` and
-- `arrived` before. `stuck`: too late, or with a problem that a person must look at.
alter table treasury_moves drop constraint treasury_moves_state_check;
alter table treasury_moves add constraint treasury_moves_state_check check (state in (
	'queued', 'sent', 'moved', 'attested', 'minting', 'arrived', 'final', 'stuck', 'failed', 'cancelled', 'lost'
));
alter table treasury_moves
	-- The block with the vault's event.
	add column moved_block bigint,
	-- The newest block of the other chain when a bridge was queued. Its mint is in a later one.
	add column destination_block bigint,
	-- Circle's message, and its signatures. Each message is of one move.
	add column message bytea,
	add column attestation bytea,
	add column nonce bytea check (length(nonce) = 32),
	add column reattested_at timestamptz,
	-- The mint on the other chain.
	add column arrived_block bigint,
	add column arrived_transaction bytea,
	-- Before then, nothing is looked up.
	add column look_at timestamptz,
	-- Why it is stuck, or has failed.
	add column problem text;
create unique index treasury_moves_by_nonce on treasury_moves (nonce) where nonce is not null;
create index chain_events_by_move on chain_events (chain_id, (data->>'moveId')) where name in ('Traded', 'Sent', 'Bridged');

-- While a row is not resumed, the treasurer's keys start no move.
create table treasury_pauses (
	id bigint generated always as identity primary key,
	paused_at timestamptz not null default now(),
	paused_by text not null,
	reason text not null,
	resumed_at timestamptz,
	resumed_by text,
	resume_reason text
);
create unique index treasury_pauses_open on treasury_pauses ((true)) where resumed_at is null;

-- A worker adds moves of the treasurer's keys. Only the owner, as whom an operator's commands run, declares flows.
alter table treasury_moves enable row level security;
create policy treasury_moves_select on treasury_moves for select using (true);
create policy treasury_moves_update on treasury_moves for update using (true);
create policy treasury_moves_insert on treasury_moves for insert with check (move_id is not null);
