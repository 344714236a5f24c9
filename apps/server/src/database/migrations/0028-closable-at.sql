-- In the Solana program an account of an order may be closed from a time on that is known when it is made.
alter table markers add column closable_at timestamptz;
