-- A claim names no order. The swaps whose refunds it paid out are found by their credits: the newest of its beneficiary.
create index chain_events_credited on chain_events (chain_id, (data->>'beneficiary'), block_number)
	where name = 'Credited';
