-- Opens take turns by account: a swap's turn is one more than that of its account's last unopened swap on the chain, and
-- at least that of the first open in the queue. A lower turn goes first.
alter table swaps add column turn bigint not null default 0;
alter table jobs add column turn bigint not null default 0;

-- An open that the chain refused goes behind the others: a wallet can see to it that its ops never succeed.
drop index jobs_queued;
create index jobs_queued on jobs
	(chain_id, priority, (case kind when 'open' then failures else 0 end), turn, created_at) where state = 'queued';
-- A wallet's ops that are not open yet: one that has another in flight does not share a bundle.
create index jobs_opens_by_wallet on jobs (chain_id, (order_terms->>'wallet'))
	where kind = 'open' and state in ('queued', 'sent');

-- An account's swaps that may yet end unsettled, without the settled ones that only wait to be final.
drop index swaps_not_ended_by_account;
create index swaps_unsettled_by_account on swaps (account_id) where ended_at is null and status <> 'settled';
