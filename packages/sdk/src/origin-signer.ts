import type { Deployment, MandateJson, QuoteRequestBody, QuoteResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import type { Terms } from "./expected-order.ts";

/** A signed op or transaction, as it is submitted. However often it is sent, its quote becomes one swap. */
export type Submission = {
	path: "/swap/submit" | "/swap/submit-solana";
	body: Record<string, unknown>;
	/** The time until which the service takes it, by its own word. */
	expiresAt: string;
	/**
	 * The time from which no chain executes it, whoever has it: by what was signed, not by the service's word. If it is
	 * left out, all that is known is the longest lifetime that is ever signed for.
	 */
	deadAt?: string | undefined;
};

/** A wallet, and the function that makes its op for a quote: built, compared with the request, and only then signed. */
export type OriginSigner = {
	origin: QuoteResponse["origin"];
	/** The wallet's address, as its chain writes it. */
	address: string;
	/** The mandate within which an agent signs for the wallet. */
	mandate?: MandateJson | undefined;
	sign: (
		client: Client,
		terms: {
			intent: QuoteRequestBody;
			quote: QuoteResponse;
			pins: Deployment;
			limits: NonNullable<Terms["limits"]>;
			onAuthorizing: () => void;
			signal?: AbortSignal | undefined;
		},
	) => Promise<Submission>;
};
