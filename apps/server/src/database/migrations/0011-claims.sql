-- A refund that became a credit is over once its beneficiary claims. Claims name no order, and nearly all events without
-- one are of markers that were closed: without an index of their own each look at such a swap would read all of those.
create index chain_events_claimed on chain_events (chain_id, (data->>'beneficiary')) where name = 'Claimed';
