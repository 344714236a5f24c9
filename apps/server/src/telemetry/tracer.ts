/** All that a span may say. What is not listed is not sent: a key, a token or a signature has no name to go by. */
export const attributeNames = [
	"http.request.method",
	"http.route",
	"http.response.status_code",
	"requestId",
	/** Of the catalogue of errors. */
	"code",
	/** As callers know it. */
	"swapId",
	"chainId",
	"originChainId",
	"destinationChainId",
	"fact",
	"actions",
	/** What the swap became by it: a stage or a status. */
	"moved",
	"heldBy",
	/** As the chain's explorers write it. */
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
	/** Its name for those who record parts of it later: a W3C traceparent. */
	traceparent: string;
	set: (attributes: Attributes) => void;
	end: (outcome?: { isError: boolean }) => void;
};

/**
 * What our code sees of tracing. A trace is carried by its name alone, from hand to hand and through the database: who
 * works for a swap days later, in another process, still adds to what its submit began.
 */
export type Tracer = {
	/** Begins a trace, or does not: only some are kept. */
	begin: (
		name: string,
		options: {
			startMs: number;
			attributes: Attributes;
			/** The caller's own trace, as it names it. Pointed at where it is well-formed, and never continued. */
			callersTrace?: unknown;
		},
	) => Span | undefined;
	/** What was done as part of a trace, from then until now. Nothing where that is not traced. */
	record: (
		name: string,
		options: {
			/** A traceparent. */
			parent: string | undefined;
			startMs: number;
			attributes: Attributes;
			isError?: boolean;
		},
	) => void;
};
