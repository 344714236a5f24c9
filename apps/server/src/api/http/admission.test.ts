import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { fastify } from "fastify";
import { expect, test } from "vitest";
import { apiKeyLength } from "../key/api-key.ts";
import type { Account } from "../key/api-keys.ts";
import { createAdmission } from "./admission.ts";

test("requests above a key's rate are not traced", async () => {
	let remaining = 2;
	const traced: string[] = [];
	const admission = createAdmission({
		apiKeys: {
			authenticate: async () => ({ keyId: "key", limits: { rates: { status: 2 } } }) as unknown as Account,
		},
		rateLimits: {
			takeForKey: async () => ({ isAllowed: remaining-- > 0, limit: 2, remaining: 0, resetSeconds: 1 }),
			takeForAddress: unexpected,
			refusalOf: () => undefined,
		},
		observer: { identified: ({ url }) => traced.push(url), refused: unexpected },
	});
	const app = fastify();
	app.get("/:call", { onRequest: admission.withKey("status") }, async () => ({}));
	for (const call of ["/1", "/2", "/3", "/4"]) await app.inject({ url: call });
	expect(traced).toEqual(["/1", "/2"]);
});

test("a connection that breaks while its key is looked up is not counted as an error of the service", async ({
	onTestFinished,
}) => {
	const app = fastify();
	onTestFinished(() => app.close());
	const used: string[] = [];
	const gone = Promise.withResolvers<void>();
	const admission = createAdmission({
		apiKeys: {
			async authenticate() {
				client.destroy();
				await gone.promise;
				return { keyId: "key", limits: { rates: { status: 2 } } } as unknown as Account;
			},
		},
		rateLimits: {
			takeForKey: async () => ({ isAllowed: true, limit: 2, remaining: 1, resetSeconds: 1 }),
			takeForAddress: unexpected,
			refusalOf: () => undefined,
		},
		observer: { identified: () => {}, refused: unexpected },
		// Counting addresses reads their text, which fails for a closed connection.
		onKeyUsed: (_, address) => used.push(address.toLowerCase()),
	});
	app.server.on("connection", (socket) => socket.on("close", () => gone.resolve()));
	const handled = Promise.withResolvers<unknown>();
	app.setErrorHandler(async (error) => handled.resolve(error));
	app.get("/", { onRequest: admission.withKey("status") }, async () => handled.resolve("handled"));
	await app.listen({ host: "127.0.0.1", port: 0 });
	const client = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
	await once(client, "connect");
	// Requests with a key do not read the address earlier, because it would be cached.
	client.write(`GET / HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${"k".repeat(apiKeyLength)}\r\n\r\n`);
	expect([await handled.promise, used]).toEqual(["handled", []]);
});

function unexpected(): never {
	throw new Error("unexpected");
}
