import { fastify } from "fastify";
import { expect, test } from "vitest";
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

function unexpected(): never {
	throw new Error("unexpected");
}
