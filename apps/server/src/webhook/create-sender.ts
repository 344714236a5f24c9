import { type LookupAddress, lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import type { Milliseconds } from "@geoswap/protocol";
import { Agent, request } from "undici";
import { isPrivateHost, isPublicAddress } from "./webhook-url.ts";

type WebhookRequest = { url: string; headers: Record<string, string>; body: string };
/** `gone`: the receiver unsubscribed. */
export type SendOutcome =
	| { outcome: "delivered" }
	| { outcome: "gone" }
	| { outcome: "failed"; error: string };

export type WebhookSender = {
	send(request: WebhookRequest): Promise<SendOutcome>;
	close(): Promise<void>;
};

type Resolve = (
	hostname: string,
	options: { all: true; family?: number | "IPv4" | "IPv6"; hints?: number },
	callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Creates a sender that connects only to public addresses. The name is resolved once per connection, and the
 * connection goes to the address that was checked, so a DNS answer that changes afterwards has no effect. Redirects
 * are not followed.
 */
export function createSender({
	isDevnet,
	resolve = systemLookup,
	timeoutMs = 10_000,
	ca,
}: {
	/** True if all chains exist on one machine only. Receivers may then be on that machine too. */
	isDevnet: boolean;
	resolve?: Resolve;
	timeoutMs?: Milliseconds;
	/** A certificate authority to trust instead of the well-known ones. */
	ca?: string;
}): WebhookSender {
	const lookup: LookupFunction = (hostname, options, callback) => {
		resolve(hostname, { ...options, all: true } as { all: true }, (error, addresses) => {
			if (error) return callback(error, "");
			const [first] = addresses;
			const isRefused = !isDevnet && addresses.some(({ address }) => !isPublicAddress(address));
			if (isRefused || !first) return callback(new PrivateAddressError(), "");
			if (options.all) return callback(null, addresses);
			return callback(null, first.address, first.family);
		});
	};
	const agent = new Agent({
		connect: { timeout: timeoutMs, lookup, ...(ca !== undefined && { ca }) },
		headersTimeout: timeoutMs,
		bodyTimeout: timeoutMs,
		pipelining: 1,
		connections: 8,
	});

	return {
		async send({ url, headers, body }) {
			try {
				// An address needs no lookup, so `lookup` would not check it.
				if (!isDevnet && isPrivateHost(new URL(url))) throw new PrivateAddressError();
				const answer = await request(url, {
					method: "POST",
					headers: { "content-type": "application/json", "user-agent": "geoswap-webhooks", ...headers },
					body,
					dispatcher: agent,
					signal: AbortSignal.timeout(timeoutMs),
				});
				await answer.body.dump({ limit: 16 * 1_024 }).catch(() => {});
				const { statusCode } = answer;
				if (statusCode >= 200 && statusCode < 300) return { outcome: "delivered" };
				if (statusCode === 410) return { outcome: "gone" };
				const isRedirect = statusCode >= 300 && statusCode < 400;
				const error = `the receiver answered ${statusCode}${isRedirect ? "; redirects are not followed" : ""}`;
				return { outcome: "failed", error };
			} catch (error) {
				return { outcome: "failed", error: errorText(error) };
			}
		},
		close: () => agent.destroy(),
	};
}

class PrivateAddressError extends Error {
	override name = "PrivateAddressError";

	constructor() {
		super("the host has an address that is not reachable from the internet");
	}
}

/** Returns an error text for the account, without details of the service's network. */
function errorText(error: unknown): string {
	if (!(error instanceof Error)) return "the receiver could not be reached";
	if (error instanceof PrivateAddressError) return error.message;
	if (error.name === "TimeoutError" || error.name.endsWith("TimeoutError")) {
		return "the receiver did not answer in time";
	}
	const { code } = error as NodeJS.ErrnoException;
	return code === undefined
		? "the receiver could not be reached"
		: `the receiver could not be reached (${code})`;
}
