-- Solana: how far back the transaction that made the order's marker was looked for, as the signature to go on from.
-- Anyone can name a marker's address in transactions of their own, so that one look may not reach it.
alter table jobs add column marker_search_before bytea;
