import type { Deployment, MandateJson, QuoteRequestBody } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import type { Terms } from "./expected-order.ts";
import type { Quote } from "./get-quote.ts";

/** A signed op or transaction, as it is submitted. Its quote becomes one swap, even if it is sent many times. */
export type Submission = {
	path: "/swap/submit" | "/swap/submit-solana";
	body: Record<string, unknown>;
	/** The time until which the service accepts it, as the service reported. */
	expiresAt: string;
	/**
	 * The time from which no chain executes it, regardless of who has it. It follows from what was signed, not from a
	 * response of the service. If it is left out, only the maximum lifetime of any submission is known.
	 */
	deadAt?: string | undefined;
};

/**
 * A wallet, and the function that makes its op for a quote. The op is built, compared with the request, and only then
 * signed.
 */
export type OriginSigner = {
	origin: Quote["origin"];
	/** The wallet's address, as its chain writes it. */
	address: string;
	/** The mandate within which an agent signs for the wallet. */
	mandate?: MandateJson | undefined;
	sign: (
		client: Client,
		terms: {
			intent: QuoteRequestBody;
			quote: Quote;
			pins: Deployment;
			limits: NonNullable<Terms["limits"]>;
			onAuthorizing: () => void;
			signal?: AbortSignal | undefined;
		},
	) => Promise<Submission>;
};
