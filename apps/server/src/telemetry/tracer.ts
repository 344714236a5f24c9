import type { Milliseconds } from "@geoswap/protocol";
/** All attributes that a span may have. Others are not sent, so no key, token or signature can get out. */
export const attributeNames = [
	"http.request.method",
	"http.route",
	"http.response.status_code",
	"requestId",
	/** The code of the error catalogue. */
	"code",
	/** The id as callers know it. */
	"swapId",
	"chainId",
	"originChainId",
	"destinationChainId",
	"fact",
	"actions",
	/** The stage or status that the swap came to. */
	"moved",
	"heldBy",
	/** The hash as the chain's explorers write it. */
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

/** A span that is under way. */
export type Span = {
	/** A W3C traceparent, for those who record parts of the span later. */
	traceparent: string;
	set: (attributes: Attributes) => void;
	end: (outcome?: { isError: boolean }) => void;
};

/**
 * Our code's interface to tracing. A trace is passed on by its traceparent alone, also through the database: a process
 * that works on a swap days later still adds to the trace that its submit began.
 */
export type Tracer = {
	/** Begins a trace, or returns undefined: only some are kept. */
	begin: (
		name: string,
		options: {
			startMs: Milliseconds;
			attributes: Attributes;
			/** The caller's own traceparent. It is linked to if it is well-formed, and never continued. */
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
