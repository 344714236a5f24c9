import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../../telemetry/log.ts";
import type { Span } from "../../telemetry/tracer.ts";
import type { Account } from "../key/api-keys.ts";
import type { Holds } from "./holds.ts";
import type { RequestObserver } from "./observe-requests.ts";
import type { RouteRequest } from "./route.ts";

type Shared = { holds: Holds; observer: Pick<RequestObserver, "spanOf">; log: Log };

/** Fastify's request for routes. A held call keeps it, so it copies nothing and creates nothing in advance. */
export class HandledRequest implements RouteRequest {
	readonly body: unknown;
	readonly #request: FastifyRequest;
	readonly #reply: FastifyReply;
	readonly #shared: Shared;

	constructor(
		request: FastifyRequest,
		reply: FastifyReply,
		{ body, shared }: { body: unknown; shared: Shared },
	) {
		this.body = body;
		this.#request = request;
		this.#reply = reply;
		this.#shared = shared;
	}

	get query(): Record<string, unknown> {
		return this.#request.query as Record<string, unknown>;
	}

	get params(): Record<string, string> {
		return this.#request.params as Record<string, string>;
	}

	get requestId(): string {
		return this.#request.id;
	}

	get account(): Account {
		const { account } = this.#request;
		if (!account) throw new Error("a route that needs a key was reached without one");
		return account;
	}

	get log(): Log {
		return this.#shared.log.child({ requestId: this.#request.id });
	}

	get span(): Span | undefined {
		return this.#shared.observer.spanOf(this.#request);
	}

	get origin(): string | undefined {
		const { protocol, host } = this.#request;
		// The header may contain anything.
		return URL.canParse(`${protocol}://${host}`) ? new URL(`${protocol}://${host}`).origin : undefined;
	}

	get lastEventId(): string | undefined {
		const id = this.#request.headers["last-event-id"];
		// A client that has received no event yet may send an empty header.
		return typeof id === "string" && id !== "" ? id : undefined;
	}

	onGone(tell: () => void): void {
		this.#shared.holds.onGone(this.#reply.raw, tell);
	}
}
