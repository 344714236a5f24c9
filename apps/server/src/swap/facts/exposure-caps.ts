import type { UsdCents } from "@geoswap/protocol";
/** The most that may be at risk in flight for inputs from one chain. */
export type ExposureCaps = { unreleasedUsdCents: UsdCents; unfinalUsdCents: UsdCents };
