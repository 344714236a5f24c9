import type { EnvironmentAddress } from "../environment/environment.ts";

export type RequestsLoad = {
	kind: "requests";
	/** Each `{n}` in it is replaced by a different number for each request. */
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
	/** Amount of USDC, in its smallest unit. */
	amount: string;
	pace: Pace;
};

/** The same load for a bare service that does only the unavoidable. */
export type BareSwapsLoad = { kind: "bare-swaps"; url: string; count: number; pace: Pace };

export type BuildsLoad = { kind: "builds"; environment: EnvironmentAddress; count: number; amount: string };

/** The number in flight at any moment, or the number that begin each second, at random moments. */
export type Pace = { inFlight: number } | { perSecond: number };

/** Reports the progress of a load to the parent, and waits until the parent continues it. */
export type Reach = (point: "funded" | "prepared") => Promise<void>;

export type FloodLoad = {
	kind: "flood";
	url: string;
	/** Addresses of this machine to send from. */
	addresses: string[];
	perSecond: number;
	durationMs: number;
};

export type PollLoad = {
	kind: "poll";
	baseUrl: string;
	apiKey: string;
	swapIds: string[];
	/** Address of this machine to send from. */
	address: string;
	/** Number of swaps per second whose polling begins. */
	perSecond: number;
};

export type Load = RequestsLoad | HoldLoad | SwapsLoad | BareSwapsLoad | BuildsLoad | FloodLoad | PollLoad;
