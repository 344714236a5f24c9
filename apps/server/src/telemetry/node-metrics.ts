import { type Meter, sample } from "./meter.ts";

type NodeReading = {
	host: string;
	lag: number;
	isInUse: boolean;
	/** Undefined if the node is not read from. */
	isResting: boolean | undefined;
};

const restReasons = ["other chain", "fails", "limits", "slow", "steps back", "contradicts"];

/** Metrics of each node of a chain. A node is named by its host, since its URL may contain a key. */
export type NodeMetrics = {
	/** Returns a function that counts calls to the nodes of a chain. */
	counted: (chainId: number) => (call: { host: string; outcome: "ok" | "refused" | "failed" }) => void;
	/** Returns a function that counts how often the nodes of a chain were not used for a while. */
	rested: (chainId: number) => (rest: { host: string; reason: string }) => void;
	/** Publishes the state of a chain's nodes until the signal aborts. Replaces nodes that were given earlier. */
	watch: (chainId: number, read: () => NodeReading[], signal: AbortSignal) => void;
};

export function nodeMetrics(meter: Meter): NodeMetrics {
	const count = meter.counter(
		"geoswap_node_calls_total",
		"Calls to one node, by its host and by result: ok, refused (it answered with an error) or failed (no answer, or its rate limit). Hedged and repeated calls are included",
	);
	const countRest = meter.counter(
		"geoswap_node_rests_total",
		"Back-offs of a node, by reason: fails, limits, slow, steps back, contradicts or other chain",
	);
	const watched = new Map<number, () => NodeReading[]>();
	meter.reading({
		name: "nodes",
		gauges: {
			geoswap_node_lag_blocks:
				"Blocks that the node was behind the newest known one when it last returned its head",
			geoswap_node_in_use: "1 for the node that answered the last read, 0 for the others",
			geoswap_node_resting: "1 if the node has returned no good answer since it last failed",
		},
		read: () =>
			[...watched].flatMap(([chainId, read]) =>
				read().flatMap(({ host, lag, isInUse, isResting }) => {
					const labels = { chain: String(chainId), host };
					return [
						sample("geoswap_node_lag_blocks", lag, labels),
						sample("geoswap_node_in_use", isInUse ? 1 : 0, labels),
						...(isResting === undefined ? [] : [sample("geoswap_node_resting", isResting ? 1 : 0, labels)]),
					];
				}),
			),
	});
	return {
		counted:
			(chainId) =>
			({ host, outcome }) =>
				count({ chain: String(chainId), host, outcome }),
		rested:
			(chainId) =>
			({ host, reason }) =>
				countRest({ chain: String(chainId), host, reason }),
		watch: (chainId, read, signal) => {
			watched.set(chainId, read);
			// Known series exist from the start, so that an alert detects the first rest.
			for (const { host } of read()) {
				for (const reason of restReasons) countRest({ chain: String(chainId), host, reason }, 0);
			}
			signal.addEventListener("abort", () => {
				if (watched.get(chainId) === read) watched.delete(chainId);
			});
		},
	};
}

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
