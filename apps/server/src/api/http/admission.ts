import { SwapError } from "@geoswap/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import { apiKeyLength } from "../key/api-key.ts";
import type { Account, ApiKeys, Operation } from "../key/api-keys.ts";
import type { AddressKind, RateState, RequestLimits } from "../key/rate-limits.ts";
import type { RequestObserver } from "./observe-requests.ts";
import { aboveRate, refusalText } from "./refusal-text.ts";

declare module "fastify" {
	interface FastifyRequest {
		/** The account whose key the request sent. */
		account: Account | undefined;
		/** The caller's remaining rate, which headers of the answer report. */
		rate: RateState | undefined;
	}
}

/** Admits requests. Each method throws or answers if the request is refused. */
export type Admission = {
	/** Checks the key, then its rate. */
	withKey(operation: Operation): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
	/** Limits requests that need no key, by address. */
	withoutKey(request: FastifyRequest, kind?: AddressKind): void;
	/** Limits the preflight requests of browsers, by address. */
	preflight(request: FastifyRequest): void;
};

export function createAdmission({
	apiKeys,
	rateLimits,
	observer,
	onKeyUsed,
}: {
	apiKeys: ApiKeys;
	rateLimits: RequestLimits;
	observer: Pick<RequestObserver, "identified" | "refused">;
	/** Called for each request with a valid key, within its rate. */
	onKeyUsed?: ((keyId: string, address: string) => void) | undefined;
}): Admission {
	async function authenticate(request: FastifyRequest): Promise<Account> {
		const key = request.headers["x-api-key"];
		try {
			return await apiKeys.authenticate(typeof key === "string" ? key : undefined);
		} catch (error) {
			if (!(error instanceof SwapError) || error.code !== "UNAUTHORIZED") throw error;
			refuseAbove(rateLimits.takeForAddress(addressOf(request), "unauthenticated"), request);
			throw error;
		}
	}

	/**
	 * Refuses an address that is above its limit and sends nothing that could be a key, with the cheapest possible
	 * answer. The connection stays open, because it may be a load balancer's and also carry other callers' requests.
	 */
	function refuseFlood(request: FastifyRequest, reply: FastifyReply): boolean {
		if (request.headers["x-api-key"]?.length === apiKeyLength) return false;
		const state = rateLimits.refusalOf(addressOf(request));
		if (!state) return false;
		const { text, body } = refusalText(state, { requestId: request.id });
		observer.refused(request, body);
		request.rate = state;
		reply
			.code(429)
			.headers({
				"retry-after": String(state.resetSeconds),
				"content-type": "application/json; charset=utf-8",
			})
			.send(text);
		return true;
	}

	return {
		withKey: (operation) => async (request, reply) => {
			if (refuseFlood(request, reply)) return reply;
			const account = await authenticate(request);
			request.account = account;
			const state = await rateLimits.takeForKey({
				keyId: account.keyId,
				operation,
				perSecond: account.limits.rates[operation],
			});
			request.rate = state;
			refuseAbove(state, request);
			// The request is identified only after the rate check, so that a flooding key does not fill the trace collector
			// either.
			observer.identified(request);
			const address = addressOf(request);
			if (address) onKeyUsed?.(account.keyId, address);
			return undefined;
		},
		withoutKey: (request, kind = "public") =>
			refuseAbove(rateLimits.takeForAddress(addressOf(request), kind), request),
		preflight: (request) => refuseAbove(rateLimits.takeForAddress(addressOf(request), "preflight"), request),
	};
}

/** Returns the address that the request came from, or an empty text if its connection is already closed. */
function addressOf({ ip }: { ip: string | undefined }): string {
	return ip ?? "";
}

export function rateHeaders({ limit, remaining, resetSeconds }: RateState): Record<string, string> {
	return {
		"ratelimit-limit": String(limit),
		"ratelimit-remaining": String(remaining),
		"ratelimit-reset": String(resetSeconds),
	};
}

function refuseAbove(state: RateState, request: FastifyRequest): void {
	if (state.isAllowed) return;
	request.rate = state;
	throw aboveRate(state.resetSeconds);
}
