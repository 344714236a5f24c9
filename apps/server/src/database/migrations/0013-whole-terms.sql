-- The amount that a swap was charged for its transactions, as quoted: {"token": "0x…", "amount": "12"}, the token as in
-- orders. Null in rows of before.
alter table swaps add column network_cost jsonb;
-- The times at which a round found the deposit and the delivery on chain, and at which the status became terminal, by the
-- database's clock. Null until then, after the chain has dropped the transaction, and in rows of before.
alter table swaps add column opened_at timestamptz;
alter table swaps add column delivered_at timestamptz;
alter table swaps add column decided_at timestamptz;

-- An account's swaps of one wallet, newest first, with a status. A list with all of them merges the four.
create index swaps_by_wallet on swaps (account_id, (order_terms->>'wallet'), status, id desc);
