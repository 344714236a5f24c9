-- Each submit reads what its account's swaps have cost, by this index. What is not merged into it yet is read row by row.
alter index lane_transactions_by_job set (fastupdate = off);
