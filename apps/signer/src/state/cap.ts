/** The maximum that a meter may count within any hour, and within any day. */
export type Cap = { perHour: bigint; perDay: bigint };

/** The caps by the names of their meters. Payloads that a meter without a cap would count are refused. */
export type Caps = ReadonlyMap<string, Cap>;
