import type { Milliseconds } from "@geoswap/protocol";
/**
 * Does all the work that there is for one key of an object, and ends. Everything it needs is in the store, so it may
 * run at any moment, twice, or again after it died in the middle. The engine runs one at a time for each key. The
 * store's rows fence any that run concurrently.
 */
export type Handler = (key: string) => Promise<void>;

export type PokeTarget = { object: "round" | "lane" | "attestation" | "crossCheck"; key: string };
/** Pokes with one `dedupeKey` run once. */
export type PokeOptions = { delayMs?: Milliseconds; dedupeKey?: string };
export type PreparedPoke = { target: PokeTarget; options: PokeOptions };

/** Requests that an object's handler runs. A poke may be lost, since the tick pokes again what is due. */
export type Engine = { poke: (target: PokeTarget, options?: PokeOptions) => Promise<void> };
