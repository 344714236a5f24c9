export type QuoteRequest = {
	originChain: number;
	destinationChain: number;
	inputToken: string;
	outputToken: string;
	amount: string;
	walletAddress: string;
	recipient?: string;
};
export type Quote = {
	geoQuoteToken: string;
	output: string;
	feeBps: number;
	expiresAt: string;
	inputUsd?: string;
	outputUsd?: string;
	priceImpactBps?: number;
	warnings?: { code: string }[];
};
export type Delegation = { originReady: boolean; delegationTarget?: string; accountNonce?: number };
export type Authorization = {
	chainId: number;
	address: string;
	nonce: number;
	yParity: number;
	r: string;
	s: string;
};
type BuildRequest = { geoQuoteToken: string; authorization?: Authorization };
export type GeoOpBuild = { geoOpHash: string; geoOpToken: string };
export type SolanaBuild = { unsignedTransaction: string; geoOpToken: string };
export type Submitted = { swapId: string; status: string };
export type Swap = Submitted & { originTxHash?: string; deliveryTxHash?: string };

/** An answer that is not 200. */
class ApiError extends Error {
	readonly status: number;
	readonly code: string | undefined;

	constructor(status: number, body: { code?: string; message?: string }) {
		super(`${status} ${body.code}: ${body.message}`);
		this.status = status;
		this.code = body.code;
	}
}

type CallOptions = { timeoutMs?: number; retries?: number };
export type SwapApi = ReturnType<typeof createSwapApi>;

/** Returns a client with the seven calls. */
export function createSwapApi({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
	async function call<T>(path: string, body?: object, options: CallOptions = {}): Promise<T> {
		const { timeoutMs = 60_000, retries = 10 } = options;
		const response = await fetch(`${baseUrl}${path}`, {
			method: body ? "POST" : "GET",
			headers: { "x-api-key": apiKey, ...(body && { "content-type": "application/json" }) },
			...(body && { body: JSON.stringify(body) }),
			signal: AbortSignal.timeout(timeoutMs),
		});
		const answer = await response.json();
		// A part of the service does not answer at the moment. The same request may be sent again.
		if (response.status === 503 && retries > 0) {
			await new Promise((resolve) => setTimeout(resolve, 1_000));
			return call<T>(path, body, { timeoutMs, retries: retries - 1 });
		}
		if (response.status !== 200) throw new ApiError(response.status, answer as { code?: string });
		return answer as T;
	}
	return {
		quote: (request: QuoteRequest) => call<Quote>("/swap/quote", request),
		delegation: ({ chainId, walletAddress }: { chainId: number; walletAddress: string }) =>
			call<Delegation>(`/swap/delegation?chainId=${chainId}&walletAddress=${walletAddress}`),
		buildGeoOp: (request: BuildRequest) => call<GeoOpBuild>("/swap/build-geo-op", request),
		buildSolanaTx: (request: BuildRequest) => call<SolanaBuild>("/swap/build-solana-tx", request),
		submit: (request: { geoOpToken: string; signature: string }, options?: { timeoutMs?: number }) =>
			call<Submitted>("/swap/submit", request, options),
		submitSolana: (
			request: { geoOpToken: string; signedTransaction: string },
			options?: { timeoutMs?: number },
		) => call<Submitted>("/swap/submit-solana", request, options),
		status: (swapId: string) => call<Swap>(`/swap/status/${swapId}`),
	};
}
