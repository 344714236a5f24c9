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
import { guidePages } from "../openapi/page/read-docs-files.ts";

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
	expect(new Set(named)).toEqual(
		new Set(["api", "signing", "events", "mandates", "receipts", "rescue", "conformance"]),
	);
	for (const name of guidePages) {
		const { statusCode, body } = await app.inject(`/docs/${name}`);
		expect([statusCode, body.includes("<h1>")]).toEqual([200, true]);
	}
	const guide = (await app.inject("/docs")).body;
	expect(guide).toContain('href="/docs/signing"');
	expect(guide).toContain('href="/docs/conformance"');
	expect((await app.inject("/docs/operations")).statusCode).toBe(404);
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

test.each(errorCodes)("%s has a dedicated page", async (code) => {
	const { statusCode, body } = await app.inject(`/docs/errors/${code}`);
	expect(statusCode).toBe(200);
	expect(body).toContain(`<h1><code>${code}</code></h1>`);
});

test.each(["NOPE", "no_route", "..%2f..%2fpackage", "README"])(
	"%s has no error page, and its URL returns 404",
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
		...guidePages.map((name) => `/docs/${name}`),
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

test("the skill is served in its published form, with a name that fits its folder and a description that fits the format [D-beyond-13]", async () => {
	const { body, headers } = await app.inject("/SKILL.md");
	const folder = join(import.meta.dirname, "../../../../../packages/cli/skills/geoswap");
	expect(headers["content-type"]).toBe("text/markdown; charset=utf-8");
	expect(body).toBe(readFileSync(join(folder, "SKILL.md"), "utf8"));
	const [, front = ""] = /^---\n([\s\S]+?)\n---\n/.exec(body) ?? [];
	const fields = new Map(front.split("\n").map((line) => [line.split(": ")[0], line.replace(/^.+?: /, "")]));
	expect([...fields.keys()]).toEqual(["name", "description", "license", "compatibility"]);
	expect(fields.get("name")).toBe("geoswap");
	expect(fields.get("description")?.length).toBeLessThanOrEqual(1024);
	expect(fields.get("compatibility")?.length).toBeLessThanOrEqual(500);
});

test("llms.txt lists every page that the docs have for writers of agents, and each of its links is served [D-beyond-13]", async () => {
	const { body, headers } = await app.inject("/llms.txt");
	expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
	expect(body).toMatch(/^# Geoswap\n\n> Geoswap swaps a token .+\n\n## Start here\n/);
	const links = [...body.matchAll(/^- \[[^\]]+\]\(([^)]+)\): .+$/gm)].map(([, link = ""]) => link);
	for (const link of links) expect((await app.inject(link)).statusCode, link).toBe(200);
	const [, table = ""] = docsFile("README.md").split(/^## /m);
	const named = [...table.matchAll(/^\| \[[^\]]+\]\((?!\.\.)([^)]+)\.md\)/gm)].map(([, name = ""]) => name);
	const served = named.map((name) => (name === "errors/README" ? "/docs/api.md#errors" : `/docs/${name}.md`));
	expect(new Set(links)).toEqual(new Set(["/SKILL.md", "/llms-full.txt", "/openapi.json", ...served]));
	expect(links).toEqual(expect.arrayContaining(guidePages.map((name) => `/docs/${name}.md`)));
});

test("every page and every error is served as Markdown, and each of its links leads to a page that is served", async () => {
	const paths = [
		...["api", ...guidePages].map((name) => `/docs/${name}.md`),
		...errorCodes.map((code) => `/docs/errors/${code}.md`),
	];
	const links = new Set<string>();
	for (const path of paths) {
		const { statusCode, headers, body } = await app.inject(path);
		expect([path, statusCode, headers["content-type"]]).toEqual([path, 200, "text/markdown; charset=utf-8"]);
		expect(body).toMatch(/^# /);
		for (const [, link = ""] of body.matchAll(/\]\((?!https?:|#)([^)\s]+)\)/g)) links.add(link);
	}
	for (const link of links) expect((await app.inject(link)).statusCode, link).toBe(200);
	for (const path of ["/docs/operations.md", "/docs/errors/NO_SUCH_CODE.md"])
		expect((await app.inject(path)).statusCode, path).toBe(404);
});

test("llms-full.txt has the current text of the skill, of every page and of every error [D-beyond-13]", async () => {
	const { body } = await app.inject("/llms-full.txt");
	const names = [...guidePages.filter((name) => name !== "conformance"), "api"];
	for (const name of [...names, ...errorCodes.map((code) => `errors/${code}`)]) {
		const lines = docsFile(`${name}.md`).split("\n");
		// Links have other targets than in the files, and may be plain text.
		const missing = lines.filter((line) => !line.includes("](") && !body.includes(line));
		expect({ name, missing }).toEqual({ name, missing: [] });
	}
	expect(body).toContain((await app.inject("/SKILL.md")).body);
	const links = [...body.matchAll(/\]\((?!https?:|#)([^)\s]+)\)/g)].map(([, link = ""]) => link);
	for (const link of new Set(links)) expect((await app.inject(link)).statusCode, link).toBe(200);
});

function docsFile(name: string): string {
	return readFileSync(join(import.meta.dirname, "../../../../../docs", name), "utf8");
}
