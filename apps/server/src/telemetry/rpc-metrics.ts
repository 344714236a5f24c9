import type { Meter } from "./meter.ts";

const secondsBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A call to a chain's node that has ended. */
type ChainCall = {
	chainId: number;
	method: string;
	seconds: number;
	/** `refused`: the node returned an error, as for a transaction that would revert. `failed`: it did not answer. */
	outcome: "ok" | "refused" | "failed";
};

/** Returns a function that counts calls to chains' nodes. */
export function rpcMetrics(meter: Meter): (call: ChainCall) => void {
	const count = meter.counter(
		"geoswap_rpc_calls_total",
		"Calls to a chain's node, by result: ok, refused (the node answered with an error) or failed (no answer). A call and its one retry count as one",
	);
	const observe = meter.histogram(
		"geoswap_rpc_call_duration_seconds",
		"Time until a chain's node answered, or until the call timed out",
		secondsBounds,
	);
	return ({ chainId, method, seconds, outcome }) => {
		const chain = String(chainId);
		count({ chain, method, outcome });
		observe(seconds, { chain });
	};
}
