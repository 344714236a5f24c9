import { rateLimitReasons } from "@geoswap/protocol";
import { type Meter, sample } from "./meter.ts";

/** A quote takes a millisecond, a build some calls to chains, a held status call up to 15 s. */
const secondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60];

export type AnsweredRequest = {
	method: string;
	/** The route's path, with names for its parameters. `none` if there is no such route. */
	route: string;
	/** 499 if the caller left before its answer was complete. */
	status: number;
	/** The code of the error catalogue. `OK` if there is no error, `GONE` if the caller left. */
	code: string;
	seconds: number;
};

/** The metrics of requests. */
export type RequestMetrics = {
	began: (route: string) => void;
	answered: (request: AnsweredRequest) => void;
	rateLimited: (reason: string) => void;
};

export function requestMetrics(meter: Meter): RequestMetrics {
	const countRequest = meter.counter(
		"geoswap_http_requests_total",
		"Answered requests, by route, HTTP status and error code",
	);
	const observe = meter.histogram(
		"geoswap_http_request_duration_seconds",
		"Time from a request's headers to the end of its answer",
		secondsBounds,
	);
	const countLimited = meter.counter(
		"geoswap_rate_limited_total",
		"Requests refused with RATE_LIMITED, by limit",
		rateLimitReasons.map((reason) => ({ reason })),
	);
	const underWay = new Map<string, number>();
	meter.reading({
		name: "requests",
		gauges: {
			geoswap_http_requests_in_flight: "Requests in flight. On the status route most of them are held calls",
		},
		read: () =>
			[...underWay].map(([route, value]) => sample("geoswap_http_requests_in_flight", value, { route })),
	});
	return {
		began: (route) => void underWay.set(route, (underWay.get(route) ?? 0) + 1),
		answered: ({ method, route, status, code, seconds }) => {
			underWay.set(route, (underWay.get(route) ?? 1) - 1);
			countRequest({ method, route, status: String(status), code });
			observe(seconds, { route });
		},
		rateLimited: (reason) => countLimited({ reason }),
	};
}
