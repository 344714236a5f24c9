import { SwapError } from "@geoswap/protocol";
import type { DenyList, Parties } from "../../deny/deny-list.ts";

/** Seconds after which a deny list that did not answer may answer again. */
const silentSeconds = 2;

/** Throws if the operator's deny list has the wallet or the recipient, or does not answer. */
export async function expectServed(
	denyList: Pick<DenyList, "findDenied"> | undefined,
	{ parties, place }: { parties: Parties; place: "quote" | "submit" },
): Promise<void> {
	const denied = await denyList?.findDenied(parties, place);
	if (denied === undefined) return;
	if (denied === "silent") {
		throw new SwapError("UPSTREAM_UNAVAILABLE", {
			upstream: "deny list",
			retryAfterSeconds: silentSeconds,
		});
	}
	throw new SwapError(
		"NO_ROUTE",
		{ reason: "denied", side: denied === "wallet" ? "origin" : "destination" },
		{
			message: `The operator of this service does not serve this ${denied}, and nothing was executed. Use another ${denied}, or contact the operator if you think that this is a mistake.`,
		},
	);
}
