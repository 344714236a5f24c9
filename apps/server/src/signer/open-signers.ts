import { openSigners as openAll, type Signers } from "@geoswap/keys/open-signers";
import { secretNames } from "../config/secrets.ts";

export type { Signers };

/** Returns a function for each kind of key that opens it by its reference. A device's library gets no secret of the service. */
export function openSigners(options: Omit<Parameters<typeof openAll>[0], "secretNames">): Signers {
	return openAll({ ...options, secretNames });
}
