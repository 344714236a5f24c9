import type { Deployment, QuoteRequestBody, QuoteResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import type { Terms } from "./expected-order.ts";

/** What a wallet signed, as it is submitted: of a quote it becomes one swap, however often it is sent. */
export type Submission = {
	path: "/swap/submit" | "/swap/submit-solana";
	body: Record<string, string>;
	/** Until then it may become a swap, whoever has it. */
	expiresAt: string;
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
