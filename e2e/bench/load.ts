import type { EnvironmentAddress } from "../environment/environment.ts";

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
