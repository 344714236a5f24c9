import type { Deployment, QuoteRequestBody, QuoteResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import type { Terms } from "./expected-order.ts";

/** What a wallet signed, as it is submitted: of a quote it becomes one swap, however often it is sent. */
export type Submission = {
	path: "/swap/submit" | "/swap/submit-solana";
	body: Record<string, string>;
	/** Until then the service takes it, by its own word. */
	expiresAt: string;
	/**
	 * From then on no chain executes it, whoever has it: by what was signed, not by the service's word. Where it is left out
	 * nobody knows it better than by the most that is ever signed for.
	 */
	deadAt?: string | undefined;
};

/** A wallet, and how an op of a quote is made for it: built, compared with what was asked for, and only then signed. */
export type OriginSigner = {
	origin: QuoteResponse["origin"];
	/** As its chain writes it. */
	address: string;
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
