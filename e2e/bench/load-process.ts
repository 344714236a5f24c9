// Makes the load that its parent sends, and returns the measurements to the parent.
import { once } from "node:events";
import type { SwapsResult } from "./keep-pace.ts";
import type { Load, Reach } from "./load.ts";
import type { PollResult } from "./poll-all.ts";
import type { FloodResult } from "./send-flood.ts";
import type { RequestsResult } from "./send-requests.ts";
import type { BuildsResult } from "./time-builds.ts";

export type LoadResult = {
	requests: RequestsResult;
	hold: "holding";
	swaps: SwapsResult;
	"bare-swaps": SwapsResult;
	builds: BuildsResult;
	flood: FloodResult;
	poll: PollResult;
};

process.once("disconnect", () => process.exit());
process.once("message", (load: Load) => {
	const ending = new AbortController();
	// Any further message of the parent ends the load.
	process.once("message", () => ending.abort());
	// The parent kills this process. Held requests stay open until then.
	void run(load, ending.signal).then((result) => process.send?.(result));
});

const reach: Reach = async (point) => {
	const goingOn = once(process, "message");
	process.send?.(point);
	await goingOn;
};

/** Runs a load. Each kind imports only what it needs, so the smallest starts in a tenth of the time. */
async function run(load: Load, ending: AbortSignal): Promise<LoadResult[Load["kind"]]> {
	switch (load.kind) {
		case "requests":
			return (await import("./send-requests.ts")).sendRequests(load);
		case "hold":
			return (await import("./hold-all.ts")).holdAll(load);
		case "swaps":
			return (await import("./time-swaps.ts")).timeSwaps(load, reach);
		case "bare-swaps":
			return (await import("./time-bare-swaps.ts")).timeBareSwaps(load, reach);
		case "builds":
			return (await import("./time-builds.ts")).timeBuilds(load);
		case "flood":
			return (await import("./send-flood.ts")).sendFlood(load);
		case "poll":
			return (await import("./poll-all.ts")).pollAll(load, ending);
	}
}
