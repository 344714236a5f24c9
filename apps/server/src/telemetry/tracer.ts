import type { Milliseconds } from "@geoswap/protocol";
/** All attributes that a span may have. Others are not sent, so that no key, token or signature can leak. */
export const attributeNames = [
	"http.request.method",
	"http.route",
	"http.response.status_code",
	"requestId",
	/** The code of the error catalogue. */
	"code",
	/** The id in the form of the API. */
	"swapId",
	"chainId",
	"originChainId",
	"destinationChainId",
	"fact",
	"actions",
	/** The stage or status that the swap reached. */
	"moved",
	"heldBy",
	/** The hash in the form of the chain's explorers. */
	"hash",
	"relayer",
	"nonce",
	"attempt",
	"kind",
	/** How many swaps are in the same transaction. */
	"bundled",
	"outcome",
] as const;

export type Attributes = Partial<Record<(typeof attributeNames)[number], string | number>>;

/** A span in progress. */
export type Span = {
	/** A W3C traceparent, for code that records parts of the span later. */
	traceparent: string;
	set: (attributes: Attributes) => void;
	end: (outcome?: { isError: boolean }) => void;
};

/**
 * The project's interface to tracing. A trace is passed on by its traceparent alone, also through the database. So a
 * process that works on a swap days later still adds to the trace that its submit began.
 */
export type Tracer = {
	/** Begins a trace, or returns undefined, because only some are kept. */
	begin: (
		name: string,
		options: {
			startMs: Milliseconds;
			attributes: Attributes;
			/** The caller's own traceparent. The span is linked to it if it is well-formed, but never continues it. */
			callersTrace?: unknown;
		},
	) => Span | undefined;
	/** Records a span of a trace, from `startMs` until now. Does nothing if the parent is not traced. */
	record: (
		name: string,
		options: {
			/** A traceparent. */
			parent: string | undefined;
			startMs: Milliseconds;
			attributes: Attributes;
			isError?: boolean;
		},
	) => void;
};
