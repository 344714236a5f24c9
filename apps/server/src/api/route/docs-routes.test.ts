import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorBodySchema, errorCodes } from "@geoswap/protocol";
import { pino } from "pino";
import { expect, test } from "vitest";
import { routesWithoutParts } from "../../../test/api/routes-without-parts.ts";
import { createApp } from "../http/create-app.ts";
import type { ApiKeys } from "../key/api-keys.ts";
import type { RequestLimits } from "../key/rate-limits.ts";

const routes = routesWithoutParts();
const app = createApp({
	routes,
	apiKeys: {
		authenticate: () => {
			throw new Error("nobody's key is looked at");
		},
	} satisfies ApiKeys,
	rateLimits: {
		takeForKey: () => {
			throw new Error("no key is counted");
		},
		takeForAddress: () => ({ isAllowed: true, limit: 1, remaining: 1, resetSeconds: 0 }),
		refusalOf: () => undefined,
	} satisfies RequestLimits,
	log: pino({ level: "silent" }),
});

test("the OpenAPI document is served without a key and equals the committed one, byte for byte", async () => {
	const answer = await app.inject("/openapi.json");
	expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
	expect(answer.body).toBe(
		readFileSync(join(import.meta.dirname, "../../../../../docs/openapi.json"), "utf8"),
	);
});

test("the docs page has every endpoint, no scripts, and loads nothing from other hosts", async () => {
	const answer = await app.inject("/docs");
	expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
	for (const { doc, path } of routes) {
		expect(answer.body).toContain(`id="${doc.id}"`);
		expect(answer.body).toContain(path.replaceAll(/:(\w+)/g, "{$1}"));
	}
	expect(answer.body).not.toMatch(/<script|<img|<iframe|javascript:|\son\w+=|(src|href)="https?:/i);
});

test("GET / redirects to the docs, and every docs page that the guide or an error links to is served", async () => {
	const root = await app.inject("/");
	expect([root.statusCode, root.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
	expect(root.body).toContain('http-equiv="refresh" content="0; url=/docs"');
	const docs = join(import.meta.dirname, "../../../../../docs");
	const sources = ["api.md", ...errorCodes.map((code) => `errors/${code}.md`)];
	const named = sources.flatMap((source) =>
		[...readFileSync(join(docs, source), "utf8").matchAll(/\]\((?:\.\.\/)?([a-z-]+)\.md/g)].map(
			([, name]) => name,
		),
	);
	expect(new Set(named)).toEqual(new Set(["api", "signing", "receipts", "rescue", "conformance"]));
	for (const name of ["signing", "receipts", "rescue", "conformance"]) {
		const { statusCode, body } = await app.inject(`/docs/${name}`);
		expect([statusCode, body.includes("<h1>")]).toEqual([200, true]);
	}
	const guide = (await app.inject("/docs")).body;
	expect(guide).toContain('href="/docs/signing"');
	expect(guide).toContain('href="/docs/conformance"');
	expect((await app.inject("/docs/trust")).statusCode).toBe(404);
});

test("the content security policy of a page allows only its own style, by its hash", async () => {
	for (const url of ["/docs", "/docs/errors/NO_ROUTE"]) {
		const { body, headers } = await app.inject(url);
		const styles = [...body.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style = ""]) => style);
		expect(styles).toHaveLength(1);
		const hash = createHash("sha256")
			.update(styles[0] ?? "")
			.digest("base64");
		const policy = String(headers["content-security-policy"]);
		expect(policy).toContain(`default-src 'none'; style-src 'sha256-${hash}'`);
		expect(policy).not.toContain("unsafe");
		expect(body).not.toContain("style=");
	}
});

test.each(errorCodes)("%s has a page of its own", async (code) => {
	const { statusCode, body } = await app.inject(`/docs/errors/${code}`);
	expect(statusCode).toBe(200);
	expect(body).toContain(`<h1><code>${code}</code></h1>`);
});

test.each(["NOPE", "no_route", "..%2f..%2fpackage", "README"])(
	"%s has no error page and is answered with 404",
	async (code) => {
		const answer = await app.inject(`/docs/errors/${code}`);
		expect([answer.statusCode, errorBodySchema.parse(answer.json()).code]).toEqual([404, "NOT_FOUND"]);
		expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
		expect(answer.headers).not.toHaveProperty("content-security-policy");
	},
);

test("every link on the pages leads to an existing page and section", async () => {
	const ids = new Map<string, Set<string>>();
	const pages = [
		"/",
		"/docs",
		"/docs/signing",
		"/docs/receipts",
		"/docs/rescue",
		"/docs/conformance",
		...errorCodes.map((code) => `/docs/errors/${code}`),
	];
	const links = new Set<string>();
	for (const url of pages) {
		const { body } = await app.inject(url);
		ids.set(url, new Set([...body.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => id)));
		for (const [, href = ""] of body.matchAll(/<a [^>]*href="([^"]+)"/g)) {
			links.add(href.startsWith("#") ? url + href : href);
		}
	}
	for (const link of links) {
		const [url = "", id] = link.split("#");
		expect((await app.inject(url)).statusCode, link).toBe(200);
		if (id !== undefined) expect(ids.get(url)?.has(id), link).toBe(true);
	}
});
