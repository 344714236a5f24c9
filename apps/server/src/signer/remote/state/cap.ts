/** The most that a meter may count within any hour, and within any day. */
export type Cap = { perHour: bigint; perDay: bigint };

/** The caps by the names of their meters. A meter without a cap counts nothing: what it would count is refused. */
export type Caps = ReadonlyMap<string, Cap>;
