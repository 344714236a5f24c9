// Makes one load, told by its parent, and answers with what it measured.
import type { EnvironmentAddress } from "../environment.ts";
import type { RequestsResult } from "./send-requests.ts";
import type { SwapsResult } from "./time-swaps.ts";

export type RequestsLoad = {
	kind: "requests";
	/** Each `{n}` in it becomes another number for each request. */
	url: string;
	headers: Record<string, string>;
	body: string;
	inFlight: number;
	durationMs: number;
};
export type HoldLoad = { kind: "hold"; url: string; headers: Record<string, string>; count: number };
export type SwapsLoad = { kind: "swaps"; environment: EnvironmentAddress; count: number; inFlight: number };
export type Load = RequestsLoad | HoldLoad | SwapsLoad;
export type LoadResult = { requests: RequestsResult; hold: "holding"; swaps: SwapsResult };

process.once("disconnect", () => process.exit());
process.once("message", (load: Load) => {
	// The parent ends it: whoever holds requests goes on holding them until then.
	void run(load).then((result) => process.send?.(result));
});

/** Each loads only what it needs: the least of them start in a tenth of the time. */
async function run(load: Load): Promise<LoadResult[Load["kind"]]> {
	switch (load.kind) {
		case "requests":
			return (await import("./send-requests.ts")).sendRequests(load);
		case "hold":
			return (await import("./hold-all.ts")).holdAll(load);
		case "swaps":
			return (await import("./time-swaps.ts")).timeSwaps(load);
	}
}
