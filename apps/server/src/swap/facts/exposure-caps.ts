import type { UsdCents } from "@geoswap/protocol";

type Caps = { unreleasedUsdCents: UsdCents; unfinalUsdCents: UsdCents };

/** The maximum that may be at risk in flight for inputs from one chain, of all swaps and of one account's. */
export type ExposureCaps = Caps & { ofAccount: Caps };
