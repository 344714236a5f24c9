-- The fee as quoted, in thousandths of a basis point: a discount of a quarter leaves 9.375. Rows of before have it in
-- fee_centibps only. That column is still written, rounded up, for workers of the version before that finish their swaps.
alter table swaps add column fee_millibps integer;
