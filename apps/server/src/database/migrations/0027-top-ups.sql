-- What leaves the vault beside the amount: the chain's native token, for the recipient's gas.
alter table reservations add column top_up numeric(78, 0) not null default 0;
