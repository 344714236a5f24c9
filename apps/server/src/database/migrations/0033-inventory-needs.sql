-- What a plan wants each vault to have of a token, what is on its way there, and what the cheapest way to bring more
-- costs. Quotes lean prices by it. Without `needed` or `move_cost_bps` they do not.
alter table inventory
	add column needed numeric(78, 0) check (needed >= 0),
	add column arriving numeric(78, 0) not null default 0 check (arriving >= 0),
	add column move_cost_bps integer check (move_cost_bps >= 0);

-- What inventory added to a swap's price, or took from it if negative, in hundredths of a basis point.
alter table swaps add column skew_centibps integer not null default 0;
