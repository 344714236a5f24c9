-- A key may have its own limit of the value that its account's swaps have in 24 hours, in US dollars; null is no limit.
alter table api_keys drop constraint api_keys_limits_check;
alter table api_keys add constraint api_keys_limits_check check (
	jsonb_typeof(limits) = 'object'
	and limits - '{rates,heldStatusCalls,maxUsdPerDay}'::text[] = '{}'
	and coalesce(jsonb_typeof(limits -> 'rates'), 'object') = 'object'
	and coalesce(limits -> 'rates', '{}') - '{quote,build,submit,delegation,status,list}'::text[] = '{}'
	and not coalesce(limits -> 'rates', '{}') @? 'strict $.* ? (@.type() != "number" || @ <= 0 || @ >= 1000000)'
	and coalesce(jsonb_typeof(limits -> 'heldStatusCalls'), 'number') = 'number'
	and not limits @? '$.heldStatusCalls ? (@ < 1 || @ >= 1000000 || @.floor() != @)'
	and (coalesce(limits -> 'maxUsdPerDay', 'null') = 'null' or jsonb_typeof(limits -> 'maxUsdPerDay') = 'number')
	and not limits @? '$.maxUsdPerDay ? (@ < 0 || @ >= 1000000000000)'
);
