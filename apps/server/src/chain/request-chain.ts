import { SwapError } from "@geoswap/protocol";

/** Returns a chain's answer. Throws if it gives none. The caller may then send the same request again. */
export async function requestChain<T>(chainId: number, asking: Promise<T>): Promise<T> {
	try {
		return await asking;
	} catch (cause) {
		throw new SwapError("UPSTREAM_UNAVAILABLE", { upstream: `chain ${chainId}` }, { cause });
	}
}

/** Called after each call to a chain's node has ended. */
export type OnChainCall = (call: {
	chainId: number;
	method: string;
	seconds: number;
	/** `refused`: the node answered with an error, as for a transaction that would revert; `failed`: no answer. */
	outcome: "ok" | "refused" | "failed";
}) => void;
