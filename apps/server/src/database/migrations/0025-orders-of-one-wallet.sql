-- Orders of one wallet share a transaction, so no lane looks for the other opens of a wallet.
drop index jobs_opens_by_wallet;
