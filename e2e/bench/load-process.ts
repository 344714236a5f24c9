// Makes one load, told by its parent, and answers with what it measured.
import { once } from "node:events";
import type { EnvironmentAddress } from "../environment/environment.ts";
import type { PollResult } from "./poll-all.ts";
import type { FloodResult } from "./send-flood.ts";
import type { RequestsResult } from "./send-requests.ts";
import type { BuildsResult } from "./time-builds.ts";
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
export type SwapsLoad = {
	kind: "swaps";
	environment: EnvironmentAddress;
	count: number;
	/** Of USDC, in its smallest unit. */
	amount: string;
	pace: Pace;
};
/** The same for a service that does only what cannot be avoided. */
export type BareSwapsLoad = { kind: "bare-swaps"; url: string; count: number; pace: Pace };
export type BuildsLoad = { kind: "builds"; environment: EnvironmentAddress; count: number; amount: string };
/** So many under way at any moment, or so many that begin each second, at random moments. */
export type Pace = { inFlight: number } | { perSecond: number };
/** Tells the parent how far a load is, and waits to be told to go on. */
export type Reach = (point: "funded" | "prepared") => Promise<void>;
export type FloodLoad = {
	kind: "flood";
	url: string;
	/** Of this machine, to send from. */
	addresses: string[];
	perSecond: number;
	durationMs: number;
};
export type PollLoad = {
	kind: "poll";
	baseUrl: string;
	apiKey: string;
	swapIds: string[];
	/** Of this machine, to send from. */
	address: string;
	/** How many begin to poll a second. */
	perSecond: number;
};
export type Load = RequestsLoad | HoldLoad | SwapsLoad | BareSwapsLoad | BuildsLoad | FloodLoad | PollLoad;
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
	// Whatever else the parent says, it has seen enough.
	process.once("message", () => ending.abort());
	// The parent ends it: whoever holds requests goes on holding them until then.
	void run(load, ending.signal).then((result) => process.send?.(result));
});

const reach: Reach = async (point) => {
	const goingOn = once(process, "message");
	process.send?.(point);
	await goingOn;
};

/** Each loads only what it needs: the least of them start in a tenth of the time. */
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
