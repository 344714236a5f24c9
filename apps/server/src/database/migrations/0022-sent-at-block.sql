-- The chain's newest block when it last took the transaction, or first refused it; null until it has answered. A head in
-- the store may be many blocks old, so that a transaction counted from it would be replaced too early.
alter table lane_transactions alter column sent_at_block drop not null;
