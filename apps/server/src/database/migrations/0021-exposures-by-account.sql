-- Each account has a share of a chain's caps, so that one account cannot use all of what may be at risk.
alter table exposures add column account_id uuid;
update exposures x set account_id = s.account_id from swaps s where s.id = x.swap_id;
create index exposures_by_account on exposures (account_id, origin_chain_id);
