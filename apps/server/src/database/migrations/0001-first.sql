-- Accounts and the keys that speak for them.
create table accounts (
	id uuid primary key,
	name text not null unique,
	created_at timestamptz not null default now()
);
create table api_keys (
	-- The part of the key that is not secret.
	id text primary key,
	account_id uuid not null references accounts,
	-- HMAC-SHA256 of the whole key under the pepper: a copy of this table opens nothing.
	hash bytea not null,
	-- Instead of the configured ones: {"rates": {"quote": 100}, "heldStatusCalls": 10}. What is none is refused here, since
	-- whoever sets it by hand would only learn from a limit that does not hold.
	limits jsonb not null default '{}' check (
		jsonb_typeof(limits) = 'object'
		and limits - '{rates,heldStatusCalls}'::text[] = '{}'
		and coalesce(jsonb_typeof(limits -> 'rates'), 'object') = 'object'
		and coalesce(limits -> 'rates', '{}') - '{quote,build,submit,delegation,status,list}'::text[] = '{}'
		-- Strict: otherwise a list of numbers would pass for one.
		and not coalesce(limits -> 'rates', '{}') @? 'strict $.* ? (@.type() != "number" || @ <= 0 || @ >= 1000000)'
		and coalesce(jsonb_typeof(limits -> 'heldStatusCalls'), 'number') = 'number'
		and not limits @? '$.heldStatusCalls ? (@ < 1 || @ >= 1000000 || @.floor() != @)'
	),
	created_at timestamptz not null default now(),
	-- From then on it is as if revoked. A key that is replaced gets one, so that both work for a while.
	expires_at timestamptz,
	revoked_at timestamptz,
	-- The key that was made in its place.
	replaced_by text references api_keys,
	-- Written now and then, not with each request.
	last_used_at timestamptz
);
create index api_keys_by_account on api_keys (account_id);

-- Every change of the two tables above, by whomever and however it was made. Rows are only ever added, by the triggers.
create table key_changes (
	id bigint generated always as identity primary key,
	at timestamptz not null default clock_timestamp(),
	-- Who says that he made it: the setting geoswap.actor of the transaction, else the database's user.
	actor text not null,
	-- Whom the database knows to have made it.
	database_user text not null default session_user,
	account_id uuid not null,
	key_id text,
	change text not null,
	-- The row, without the hash and the time of the last use. Null where there was or is none.
	before jsonb,
	after jsonb
);
create index key_changes_by_account on key_changes (account_id, id);
create index key_changes_by_key on key_changes (key_id, id);
-- An account by any name that it had, and a key by the id that it was given in place of another.
create index key_changes_by_name on key_changes ((after->>'name')) where key_id is null;
create index key_changes_by_new_key on key_changes ((after->>'id')) where key_id <> after->>'id';

-- The two that write it do so as their owner, so that whoever changes keys need not be able to write rows here. The path is
-- fixed, with temporary tables last: one that is named key_changes would get the rows instead.
create function record_account_change() returns trigger language plpgsql
	security definer set search_path = public, pg_temp as $$
begin
	insert into key_changes (actor, account_id, change, before, after) values (
		coalesce(nullif(current_setting('geoswap.actor', true), ''), session_user),
		coalesce(old.id, new.id),
		case tg_op when 'INSERT' then 'account-created' when 'DELETE' then 'account-deleted' else 'account-changed' end,
		to_jsonb(old),
		to_jsonb(new)
	);
	return null;
end $$;
create trigger account_is_new after insert or delete on accounts
	for each row execute function record_account_change();
create trigger account_changed after update on accounts
	for each row when (old is distinct from new) execute function record_account_change();

create function record_key_change() returns trigger language plpgsql
	security definer set search_path = public, pg_temp as $$
begin
	insert into key_changes (actor, account_id, key_id, change, before, after) values (
		coalesce(nullif(current_setting('geoswap.actor', true), ''), session_user),
		coalesce(old.account_id, new.account_id),
		coalesce(old.id, new.id),
		case
			when tg_op = 'INSERT' then 'created'
			when tg_op = 'DELETE' then 'deleted'
			-- No command does these: they come first so that nothing else in the same statement hides them.
			when new.hash <> old.hash then 'secret'
			when new.account_id <> old.account_id or new.id <> old.id then 'moved'
			when old.revoked_at is null and new.revoked_at is not null then 'revoked'
			when old.revoked_at is not null and new.revoked_at is null then 'unrevoked'
			when new.replaced_by is distinct from old.replaced_by then 'rotated'
			when new.expires_at is distinct from old.expires_at then 'expiry'
			when new.limits <> old.limits then 'limits'
			else 'changed'
		end,
		to_jsonb(old) - 'hash' - 'last_used_at',
		to_jsonb(new) - 'hash' - 'last_used_at'
	);
	return null;
end $$;
create trigger key_is_new after insert or delete on api_keys
	for each row execute function record_key_change();
create trigger key_changed after update on api_keys
	for each row when (to_jsonb(old) - 'last_used_at' <> to_jsonb(new) - 'last_used_at')
	execute function record_key_change();
-- Or anyone could have them record the changes of a table of their own.
revoke execute on function record_account_change, record_key_change from public;

create function refuse_change() returns trigger language plpgsql as $$
begin
	raise exception '% of % is refused: what was changed, and by whom, is kept for good', lower(tg_op), tg_table_name;
end $$;
create trigger key_changes_stay before update or delete or truncate on key_changes
	for each statement execute function refuse_change();
-- No row of these would be seen to go.
create trigger api_keys_stay before truncate on api_keys for each statement execute function refuse_change();
create trigger accounts_stay before truncate on accounts for each statement execute function refuse_change();
-- Outside any trigger: a row that someone makes up. Within one only a missing right to insert keeps them from it.
create trigger key_changes_are_recorded before insert on key_changes
	for each row when (pg_trigger_depth() < 1) execute function refuse_change();

-- What the caller sees. One row per quote that was submitted, for good: the primary key is the permanent lock.
create table swaps (
	id uuid not null primary key,
	-- Null where the row was rebuilt from the chain and nobody submitted it since.
	account_id uuid,
	order_id bytea not null,
	order_terms jsonb not null,
	-- What was quoted, and how it is to be delivered.
	output numeric(78, 0) not null,
	value_usd_cents bigint not null,
	-- As quoted, in hundredths of a basis point: an order that is opened late is priced again.
	fee_centibps integer not null default 0,
	delivery jsonb not null,
	-- The signed op: what is sent to open the order.
	op jsonb,
	status text not null default 'pending' check (status in ('pending', 'settled', 'failed', 'refunded')),
	stage text not null default 'opening'
		check (stage in ('opening', 'deposited', 'delivering', 'delivered', 'refunding')),
	-- Every stage that it was in, in order, and the status that ended them: how it came to be where it is.
	moves text[] not null default '{opening}',
	failure jsonb,
	-- Why the output will not be delivered; set once, and from then on the order is voided and refunded.
	giving_up text,
	origin_tx_hash bytea,
	delivery_tx_hash bytea,
	refund_tx_hash bytea,
	delivered_amount numeric(78, 0),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	-- When the deciding transaction was final and nothing is left to do.
	ended_at timestamptz,
	-- The trace that its submit began (W3C traceparent): whatever is done for the swap later is part of it.
	trace text
) partition by range (id);
-- An account's own history, newest first.
create index swaps_by_account on swaps (account_id, id desc);
create index swaps_by_account_and_status on swaps (account_id, status, id desc);
create index swaps_by_order on swaps (order_id);
create index swaps_not_ended on swaps (id) where ended_at is null;
-- An audit reads those that have ended since the last one.
create index swaps_by_end on swaps (ended_at) where ended_at is not null;
create index swaps_unopened_by_wallet on swaps ((order_terms->>'wallet'))
	where status = 'pending' and stage = 'opening';
create index swaps_not_ended_by_account on swaps (account_id, (order_terms->>'originChainId'))
	where ended_at is null;

-- The history of each swap: one row per fact.
create table swap_events (
	swap_id uuid not null,
	seq bigint generated always as identity,
	at timestamptz not null default now(),
	fact text not null,
	data jsonb not null default '{}',
	primary key (swap_id, seq)
) partition by range (swap_id);

-- What wakes each workflow that waits. In-flight swaps only.
create table waits (
	swap_id uuid primary key,
	order_id bytea not null,
	signal_id text not null,
	-- Which execution of the swap's workflow looked last. One with a lower number has been taken over from.
	execution integer not null default 0,
	-- Wake when this chain's head, or its finalized block, reaches a number.
	head_chain_id bigint,
	head_number bigint,
	finalized_chain_id bigint,
	finalized_number bigint
);
create index waits_by_order on waits (order_id);
create index waits_by_signal on waits (signal_id);
create index waits_by_head on waits (head_chain_id, head_number);
create index waits_by_finalized on waits (finalized_chain_id, finalized_number);

-- When the database was set back to a backup: submits of before may be forgotten, and still be executed.
create table restores (at timestamptz primary key);

-- What the follower has seen of each chain.
create table chain_heads (
	chain_id bigint primary key,
	number bigint not null,
	hash bytea not null,
	timestamp bigint not null,
	base_fee numeric(78, 0) not null,
	finalized_number bigint not null,
	finalized_timestamp bigint not null,
	-- On Solana a number is a slot, and some slots have no block: a transaction dies by the count of blocks.
	finalized_height bigint not null default 0,
	-- Up to here the events are in the ledger.
	booked_number bigint not null,
	updated_at timestamptz not null default now()
);
-- The blocks above the finalized one: how a reorganization is noticed.
create table chain_blocks (
	chain_id bigint not null,
	number bigint not null,
	hash bytea not null,
	timestamp bigint not null,
	primary key (chain_id, number)
);
-- Events of our escrows and vaults on the chain as it is now: those of a block that was dropped are deleted.
create table chain_events (
	chain_id bigint not null,
	block_number bigint not null,
	log_index integer not null,
	block_hash bytea not null,
	transaction_hash bytea not null,
	contract bytea not null,
	order_id bytea,
	name text not null,
	data jsonb not null,
	primary key (chain_id, block_number, log_index)
);
create index chain_events_by_order on chain_events (order_id);
-- Deposits that a chain's second provider has, asked itself: each by the block that it has it in. One whose block was
-- dropped stays, and counts for nothing: it tells what was known when something was delivered.
create table cross_checks (
	chain_id bigint not null,
	order_id bytea not null,
	block_number bigint not null,
	block_hash bytea not null,
	transaction_hash bytea not null,
	-- How far the second provider was then.
	head_number bigint not null,
	finalized_number bigint not null,
	seen_at timestamptz not null default now(),
	primary key (order_id, chain_id, block_number, block_hash, transaction_hash)
);

-- Orders that were open at a final block and had no swap: a database that was restored has forgotten them, or nobody
-- submitted them.
create table unknown_orders (
	order_id bytea primary key,
	chain_id bigint not null,
	order_terms jsonb not null,
	-- A first submit is refused before then: what is unknown after it stays so.
	open_deadline bigint not null,
	seen_at timestamptz not null default now(),
	-- When it was last looked at.
	looked_at timestamptz,
	-- What became of it: it has a swap without an account now, somebody submitted it, or it is its wallet's to refund.
	outcome text check (outcome in ('rebuilt', 'submitted', 'left')),
	reason text
);
create index unknown_orders_undecided on unknown_orders (looked_at nulls first, open_deadline) where outcome is null;

-- Work for the lanes. One row per swap and kind.
create table jobs (
	swap_id uuid not null,
	kind text not null check (kind in ('open', 'fill', 'void', 'release', 'refund')),
	chain_id bigint not null,
	order_id bytea not null,
	order_terms jsonb not null,
	payload jsonb not null default '{}',
	-- unattested → queued → sent → done; sent → queued where a transaction did not do it; refused for good.
	state text not null check (state in ('unattested', 'queued', 'sent', 'done', 'refused')),
	-- Lower goes first: releases before all other work.
	priority smallint not null,
	-- Travels in a transaction of its own.
	alone boolean not null default false,
	failures integer not null default 0,
	-- Not tried again before the chain is here.
	not_before_block bigint not null default 0,
	reason text,
	attestation_id uuid,
	relayer bytea,
	nonce bigint,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	primary key (swap_id, kind)
);
create index jobs_queued on jobs (chain_id, priority, created_at) where state = 'queued';
create index jobs_unattested on jobs (chain_id, kind, updated_at) where state = 'unattested';
create index jobs_sent on jobs (chain_id, relayer, nonce) where state = 'sent';
create index jobs_by_order on jobs (order_id);

-- Signatures of attesters over a list of orders. One list, one transaction: they bind the whole list.
create table attestations (
	id uuid primary key,
	chain_id bigint not null,
	kind text not null check (kind in ('Release', 'Refund')),
	threshold integer not null,
	attesters jsonb not null,
	signatures jsonb not null,
	-- In the order in which they were signed.
	order_ids jsonb not null,
	created_at timestamptz not null default now()
);

-- Each relayer's nonces have one writer: the lane of that name.
create table lanes (
	chain_id bigint not null,
	relayer bytea not null,
	next_nonce bigint not null,
	primary key (chain_id, relayer)
);
create table lane_transactions (
	chain_id bigint not null,
	relayer bytea not null,
	nonce bigint not null,
	-- A replacement has the same nonce and the same jobs, or is an empty cancel.
	attempt integer not null,
	hash bytea not null,
	raw bytea not null,
	kind text not null,
	jobs jsonb not null,
	max_fee_per_gas numeric(78, 0) not null,
	-- Solana: the last height at which it can land. A nonce is there but a number in a row.
	last_valid_height bigint,
	state text not null check (state in ('signed', 'broadcast', 'mined', 'final')),
	sent_at_block bigint not null,
	block_number bigint,
	gas_cost numeric(78, 0),
	created_at timestamptz not null default now(),
	primary key (chain_id, relayer, nonce, attempt)
);
create unique index lane_transactions_by_hash on lane_transactions (chain_id, hash);
create index lane_transactions_by_job on lane_transactions using gin (jobs jsonb_path_ops);
create index lane_transactions_open on lane_transactions (chain_id, relayer, nonce) where state <> 'final';
-- An audit reads what was signed since the last one.
create index lane_transactions_by_age on lane_transactions (created_at);
create index lane_transactions_given_up on lane_transactions (chain_id, created_at)
	where kind = 'open' and state = 'final' and block_number is null and last_valid_height is not null;

-- On Solana: the accounts that keep an order from being decided twice. Each holds lamports until it is closed.
create table markers (
	chain_id bigint not null,
	address bytea not null,
	order_id bytea not null,
	-- Who signs for its address, and its owner: who may close it.
	base text not null check (base in ('vault', 'escrow')),
	owner text not null check (owner in ('vault', 'escrow')),
	lamports numeric(78, 0) not null,
	made_at timestamptz not null,
	closed_at timestamptz,
	primary key (chain_id, address)
);
create index markers_open on markers (chain_id, made_at) where closed_at is null;

-- What the vaults hold and may let out, as of a block, and what is promised of it.
create table inventory (
	chain_id bigint not null,
	token bytea not null,
	balance numeric(78, 0) not null,
	outflow_available numeric(78, 0) not null,
	reserved numeric(78, 0) not null default 0 check (reserved >= 0),
	block_number bigint not null,
	primary key (chain_id, token)
);
-- Volume that was sold on a ladder and has not reached the pool yet.
create table pair_volume (
	chain_id bigint not null,
	token bytea not null,
	direction text not null check (direction in ('sell', 'buy')),
	in_flight numeric(78, 0) not null default 0 check (in_flight >= 0),
	primary key (chain_id, token, direction)
);
create table reservations (
	swap_id uuid primary key,
	account_id uuid,
	-- What leaves the vault: the output itself, or the settlement token that buys it.
	chain_id bigint not null,
	token bytea not null,
	amount numeric(78, 0) not null,
	value_usd_cents bigint not null,
	-- Volume on the ladders: [{chainId, token, direction, amount}].
	volumes jsonb not null,
	opened boolean not null default false,
	lapses_at timestamptz not null
);
create index reservations_unopened on reservations (account_id) where not opened;

-- Value that is delivered on another chain, or may be, while its input is not ours yet. In-flight swaps only.
create table exposures (
	swap_id uuid primary key,
	order_id bytea not null,
	origin_chain_id bigint not null,
	attester_set bytea not null,
	value_usd_cents bigint not null,
	-- Whether the deposit is: a chain can drop it until then.
	is_final boolean not null
);
create index exposures_by_origin on exposures (origin_chain_id);
create index exposures_by_order on exposures (order_id);

-- Gas of swaps that ended without being settled: each account has a budget of it.
create table unsettled_gas (
	swap_id uuid not null,
	chain_id bigint not null,
	account_id uuid not null,
	at timestamptz not null,
	wei numeric(78, 0) not null,
	primary key (swap_id, chain_id)
);
create index unsettled_gas_by_account on unsettled_gas (account_id, at);

-- The double entry. Written once per final event, never changed.
create table postings (
	id bigint generated always as identity primary key,
	-- chain:block hash:log index, or what else happened once.
	key text not null unique,
	chain_id bigint not null,
	block_number bigint not null,
	name text not null,
	order_id bytea,
	at timestamptz not null default now()
);
create table entries (
	posting_id bigint not null references postings,
	account text not null,
	chain_id bigint not null,
	token bytea not null,
	-- Debit above zero, credit below.
	amount numeric(78, 0) not null
);
create index entries_by_posting on entries (posting_id);
create index entries_by_account on entries (account, chain_id, token);
create function entries_balance() returns trigger language plpgsql as $$
begin
	if exists (
		select from entries where posting_id = new.posting_id group by chain_id, token having sum(amount) <> 0
	) then
		raise exception 'posting % does not balance', new.posting_id;
	end if;
	return null;
end $$;
create constraint trigger entries_balance after insert on entries
	deferrable initially deferred for each row execute function entries_balance();

-- On Solana: what the accounts that are compared with the chain come to, so that nobody has to add up all entries.
create table ledger_balances (
	chain_id bigint not null,
	account text not null check (account in ('escrow', 'inventory')),
	token bytea not null,
	balance numeric(78, 0) not null,
	primary key (chain_id, account, token)
);
-- And what left the vault, by the minute: no program there keeps the cap.
create table outflows (
	chain_id bigint not null,
	token bytea not null,
	minute bigint not null,
	amount numeric(78, 0) not null,
	primary key (chain_id, minute, token)
);

-- Who of the attesters was seen alive, and how far they see.
create table heartbeats (
	attester bytea not null,
	chain_id bigint not null,
	finalized_number bigint not null,
	signed_at timestamptz not null,
	primary key (attester, chain_id)
);

-- Chains for which nothing new is sold, and why. One row per pause, for good: who lifted it and why stays too.
create table pauses (
	id bigint generated always as identity primary key,
	chain_id bigint not null,
	cause text not null check (cause in ('breach', 'finality', 'operator')),
	reason text not null,
	-- Who set it: a process, or the person who said so.
	set_by text not null,
	-- What was found, each as the auditor says it. Once the pause is lifted it pauses nothing again.
	breaches text[] not null default '{}',
	since timestamptz not null,
	lifted_at timestamptz,
	lifted_by text,
	lifted_reason text,
	check (num_nonnulls(lifted_at, lifted_by, lifted_reason) in (0, 3))
);
create unique index pauses_open on pauses (chain_id, cause) where lifted_at is null;
create trigger pauses_stay before delete or truncate on pauses for each statement execute function refuse_change();
create trigger pauses_are_lifted_once before update on pauses for each row when (
	old.lifted_at is not null
	or not new.breaches @> old.breaches
	or to_jsonb(old) - '{breaches,lifted_at,lifted_by,lifted_reason}'::text[]
		<> to_jsonb(new) - '{breaches,lifted_at,lifted_by,lifted_reason}'::text[]
) execute function refuse_change();

-- A status call that waits is woken by this.
create function swap_is_terminal() returns trigger language plpgsql as $$
begin
	perform pg_notify('swap_terminal', new.id::text);
	return null;
end $$;
create trigger swap_is_terminal after update of status on swaps
	for each row when (old.status = 'pending' and new.status <> 'pending') execute function swap_is_terminal();
-- A terminal status never changes, whoever tries.
create function terminal_is_terminal() returns trigger language plpgsql as $$
begin
	raise exception 'swap % is % and stays so', old.id, old.status;
end $$;
create trigger terminal_is_terminal before update of status on swaps
	for each row when (old.status <> 'pending' and new.status <> old.status) execute function terminal_is_terminal();
