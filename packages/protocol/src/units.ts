/**
 * A number with a unit, which exists only for the compiler. A plain number can be given for it, since the result of
 * arithmetic has no unit; a number with another unit cannot.
 */
type WithUnit<Value extends bigint | number, Unit extends string> = Value & { readonly unit?: Unit };

/** An amount of a token, in its smallest unit. The native token is a token too, so `Wei` can be given for it. */
export type Amount = WithUnit<bigint, "token units" | "wei">;
/** A value in US dollars with 18 decimals. */
export type UsdE18 = WithUnit<bigint, "USD e18">;
export type UsdCents = WithUnit<bigint, "USD cents">;
/** An amount of a chain's native token, in its smallest unit: wei on an EVM chain, lamports on Solana. */
export type Wei = WithUnit<bigint, "wei">;
export type Milliseconds = WithUnit<number, "milliseconds">;
export type Seconds = WithUnit<number, "seconds">;
