-- Makes one day's partition of one table, where there is none. It runs as its owner, so that a process that needs
-- partitions needs no right to create tables. The path is fixed, with temporary tables last.
create function ensure_partition(parent text, day date) returns void language plpgsql
	security definer set search_path = public, pg_temp as $$
declare
	-- The least UUIDv7 of a day: its first millisecond in the first 48 bits, and zeros.
	bounds text[] := array(
		select rpad(lpad(to_hex(extract(epoch from bound)::bigint * 1000), 12, '0'), 32, '0')
		from unnest(array[day, day + 1]) with ordinality as bounds (bound, place) order by place
	);
begin
	if parent not in ('swaps', 'swap_events') then
		raise exception '% has no partitions by day', parent;
	end if;
	-- A process that was taken over must not fill the database with tables.
	if abs(day - current_date) > 400 and session_user <> current_user then
		raise exception '% is too far from today for a partition', day;
	end if;
	-- Two workers that start at once would both find none and both create it, and the second one would fail.
	perform pg_advisory_xact_lock(7461002);
	execute format(
		'create table if not exists %I partition of %I for values from (%L) to (%L)',
		parent || to_char(day, '_YYYY_MM_DD'), parent, bounds[1]::uuid, bounds[2]::uuid
	);
end $$;
