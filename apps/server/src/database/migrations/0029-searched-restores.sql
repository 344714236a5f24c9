-- When every order on Solana that was opened before the restore, and whose swap it lost, was noted in unknown_orders.
alter table restores add column searched_at timestamptz;
