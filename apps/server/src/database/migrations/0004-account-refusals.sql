-- Swaps that were given up because the recipient could not be paid. An account with many of them in a day waits.
create table account_refusals (
	swap_id uuid primary key,
	account_id uuid not null,
	at timestamptz not null,
	reason text not null check (reason in ('recipient_refused', 'recipient_account_gone'))
);
create index account_refusals_by_account on account_refusals (account_id, at);
