import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import {
	receiptResponseSchema,
	revokedSharesSchema,
	type StatusResponse,
	type SwapUuid,
	shareResponseSchema,
	toSwapId,
} from "@geoswap/protocol";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routesWithoutParts } from "../../../test/api/routes-without-parts.ts";
import { createShareScene, type ShareScene } from "../../../test/api/share-scene.ts";
import type { Story } from "../../../test/console/seed-swaps.ts";
import { moveTestSwap } from "../../../test/swap/insert-test-swap.ts";
import type { Config } from "../../config/config.ts";
import { createEventFeed } from "../event/create-event-feed.ts";
import { createApp } from "../http/create-app.ts";
import { createRateLimits } from "../key/rate-limits.ts";

const stories: Story[] = ["settled", "refunded", "failed", "opening", "deposited", "delivering", "delivered"];
const ids = new Map<Story, SwapUuid>();
let drawn = 0;
let scene: ShareScene;
beforeAll(async () => {
	// The test can predict the tokens, because they are derived only from the injected randomness.
	const random = (bytes: number) => createHash("sha512").update(String(++drawn)).digest().subarray(0, bytes);
	scene = await createShareScene({ random, perKey: 2 });
	const swaps = await scene.seed({ stories, atMs: Date.now() - 2_500_000 });
	for (const { story, id } of swaps) ids.set(story, id);
});
afterAll(() => scene?.stop());

const idOf = (story: Story): SwapUuid => ids.get(story) as SwapUuid;
const get = (path: string, headers: Record<string, string> = { accept: "text/html" }) =>
	fetch(scene.baseUrl + path, { headers });

test("a link has at least 128 random bits, each one is new, and the database keeps only its hash [D-beyond-12]", async () => {
	const answers = await Promise.all(
		[1, 2, 3].map(async () => (await scene.ask("POST", idOf("settled"))).json()),
	);
	const tokens = answers.map((answer) => shareResponseSchema.strict().parse(answer).token);
	expect(new Set(tokens).size).toBe(3);
	for (const token of tokens) {
		expect(Buffer.from(token, "base64url").byteLength * 8).toBeGreaterThanOrEqual(128);
		const drawings = Array.from({ length: drawn }, (_, i) =>
			createHash("sha512")
				.update(String(i + 1))
				.digest()
				.subarray(0, 18)
				.toString("base64url"),
		);
		expect(drawings).toContain(token);
		expect((await get(`/s/${token}`)).status).toBe(200);
	}
	const { rows } = await scene.database.owner.query("select s::text as row from swap_shares s");
	const stored = rows.map(({ row }) => row).join();
	for (const token of tokens) {
		expect(stored).not.toContain(token);
		expect(stored).not.toContain(Buffer.from(token, "base64url").toString("hex"));
		expect(stored).toContain(createHash("sha256").update(token).digest("hex"));
	}
});

test("a link names the address that the caller used, or the configured one", async () => {
	const { url, token, swapId } = shareResponseSchema.parse(
		await (await scene.ask("POST", idOf("failed"))).json(),
	);
	expect(url).toBe(`${scene.baseUrl}/s/${token}`);
	expect(swapId).toBe(toSwapId(idOf("failed")));
	const other = await createShareScene({ publicUrl: "https://swaps.example" });
	try {
		const [swap] = await other.seed({ stories: ["opening"], atMs: Date.now() });
		const answer = shareResponseSchema.parse(await (await other.ask("POST", swap?.id as SwapUuid)).json());
		expect(answer.url).toBe(`https://swaps.example/s/${answer.token}`);
	} finally {
		await other.stop();
	}
});

test("only the swap's account creates and revokes links", async () => {
	const id = idOf("refunded");
	const path = await scene.share(id);
	for (const method of ["POST", "DELETE"] as const) {
		const refused = await scene.ask(method, id, { apiKey: scene.stranger });
		expect([refused.status, await refused.json()]).toMatchObject([404, { code: "SWAP_NOT_FOUND" }]);
	}
	expect((await get(path)).status).toBe(200);
});

test("a revoked link stops working immediately, with its page, stream and receipt, and gets the same response as one that never existed [D-beyond-12]", async () => {
	const id = idOf("settled");
	const [first, second] = [await scene.share(id), await scene.share(id)];
	const revoked = revokedSharesSchema.strict().parse(await (await scene.ask("DELETE", id)).json());
	expect(revoked.revoked).toBeGreaterThanOrEqual(2);
	const never = `/s/${"A".repeat(24)}`;
	for (const part of ["", "/events", "/receipt"]) {
		const known = await get(never + part);
		for (const path of [first, second, "/s/x", `/s/${"é".repeat(24)}`]) {
			const answer = await get(path + part);
			expect(answer.status).toBe(404);
			const withoutId = (text: string) => text.replaceAll(/"requestId":"[^"]*"/g, "");
			expect(withoutId(await answer.text())).toBe(withoutId(await known.clone().text()));
		}
	}
	// A program gets the same error as JSON.
	const asProgram = await get(first, { accept: "*/*" });
	expect([asProgram.status, await asProgram.json()]).toMatchObject([404, { code: "NOT_FOUND" }]);
	expect(await (await scene.ask("DELETE", id)).json()).toEqual({ swapId: toSwapId(id), revoked: 0 });
	expect((await get(await scene.share(id))).status).toBe(200);
	// The address is a secret, so the log names only the route.
	expect(scene.logged.join()).toContain("/s/:share");
	for (const path of [first, second]) expect(scene.logged.join()).not.toContain(path.slice("/s/".length));
});

test("a swap has at most 20 links, and one more replaces the oldest", async () => {
	const id = idOf("failed");
	await scene.ask("DELETE", id);
	const paths: string[] = [];
	for (let i = 0; i < 21; i++) paths.push(await scene.share(id));
	const statuses = await Promise.all(paths.map(async (path) => (await get(path)).status));
	expect(statuses).toEqual([404, ...Array(20).fill(200)]);
});

test.each(stories)(
	"the page of a swap that is %s shows nothing that is private to its account or the operator",
	async (story) => {
		const id = idOf(story);
		const path = await scene.share(id);
		const { rows } = await scene.database.owner.query(
			"select s.account_id, s.id as uuid, a.name from swaps s join accounts a on a.id = s.account_id where s.id = $1",
			[id],
		);
		const { account_id, uuid, name } = rows[0];
		const page = await (await get(path)).text();
		const receipt = await (await get(`${path}/receipt`)).text();
		for (const secret of [account_id, uuid, name, "geosk_"]) expect(page + receipt).not.toContain(secret);
		for (const inside of ["relayer", "attester", "delegate", "vault", "webhook"]) {
			expect(page.toLowerCase()).not.toContain(inside);
		}
	},
);

test("the page allows only its own style and script, and is neither cached nor indexed by search engines", async () => {
	const response = await get(await scene.share(idOf("settled")));
	const text = await response.text();
	const headers = Object.fromEntries(response.headers);
	expect(headers).toMatchObject({
		"content-type": "text/html; charset=utf-8",
		"cache-control": "no-store",
		"referrer-policy": "no-referrer",
		"x-robots-tag": "noindex, nofollow",
		"x-content-type-options": "nosniff",
	});
	const hashIn = (tag: string) => {
		const content = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(text)?.[1] ?? "";
		expect(content.length).toBeGreaterThan(100);
		return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
	};
	expect(headers["content-security-policy"]).toBe(
		`default-src 'none'; style-src ${hashIn("style")}; script-src ${hashIn("script")}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
	);
	// Nothing is loaded from other hosts. Explorers are only linked to, and do not learn where the reader came from.
	expect(text).not.toMatch(/\ssrc=|@import|url\(/);
	for (const [link] of text.matchAll(/<a [^>]*href="https?:[^>]*>/g))
		expect(link).toContain('rel="noreferrer"');
	// The page for a wrong link has equally strict headers.
	const gone = Object.fromEntries((await get("/s/x")).headers);
	for (const name of ["content-security-policy", "cache-control", "referrer-policy", "x-robots-tag"]) {
		expect(gone[name]).toBe(headers[name]);
	}
});

test("the receipt of an ended swap needs only the link, and a pending swap has no receipt", async () => {
	const receipt = await (await get(`${await scene.share(idOf("settled"))}/receipt`)).json();
	expect(receiptResponseSchema.strict().parse(receipt).swapId).toBe(toSwapId(idOf("settled")));
	const pending = await get(`${await scene.share(idOf("opening"))}/receipt`);
	expect([pending.status, await pending.json()]).toMatchObject([409, { code: "SWAP_NOT_ENDED" }]);
});

test("a stream reports only that the swap has changed, ends with it, and an account has a limited number", async () => {
	const id = idOf("deposited");
	const path = await scene.share(id);
	const streams = await Promise.all([1, 2].map(() => get(`${path}/events`)));
	const third = await get(`${path}/events`);
	expect([third.status, await third.json()]).toMatchObject([429, { code: "RATE_LIMITED" }]);
	await moveTestSwap(scene.database.owner, id, "delivering");
	await moveTestSwap(scene.database.owner, id, "settled");
	await scene.publish();
	for (const stream of streams) {
		const lines = (await stream.text()).split("\n").filter((line) => line !== "");
		expect(lines.at(-2)).toBe("event: end");
		for (const line of lines)
			expect(line).toMatch(/^(retry: \d+|id: \d+-\d+|event: end|data: \{\}|: .*|:.*)$/);
		expect(lines.filter((line) => line === "data: {}").length).toBeGreaterThanOrEqual(3);
	}
});

test("viewers without a key are limited by address, and get a page with the reason", async () => {
	const strict = await createShareScene({ unauthenticatedPerSecond: 0.1 });
	try {
		let refused: Response | undefined;
		for (let i = 0; i < 1_000 && !refused; i++) {
			const answer = await fetch(`${strict.baseUrl}/s/${"A".repeat(24)}`, {
				headers: { accept: "text/html" },
			});
			const text = await answer.text();
			if (answer.status === 429) {
				refused = answer;
				expect(text).toContain("Open it again in a minute");
			}
		}
		expect(refused?.headers.get("retry-after")).toMatch(/^\d+$/);
	} finally {
		await strict.stop();
	}
});

test("a swap has at most 20 links, even if 50 are created concurrently", async () => {
	const id = idOf("settled");
	await Promise.all(Array.from({ length: 50 }, () => scene.share(id)));
	const { rows } = await scene.database.owner.query("select from swap_shares where swap_id = $1", [id]);
	expect(rows).toHaveLength(20);
});

test("a status call returns while requests for pages hold all their connections and many more wait", async () => {
	const id = idOf("settled");
	const [path, apiKey] = [await scene.share(id), await scene.accountOf(id)];
	const holder = await scene.database.owner.connect();
	try {
		await holder.query("begin; lock table swap_shares in access exclusive mode");
		const pages = Array.from({ length: 60 }, (_, i) => get(`${path}${["", "/receipt", "/events"][i % 3]}`));
		await expect.poll(() => scene.shareDb.waitingCount).toBe(60 - scene.shareDb.options.max);
		const status = await fetch(`${scene.baseUrl}/swap/status/${toSwapId(id)}`, {
			headers: { "x-api-key": apiKey },
		});
		expect([status.status, await status.json()]).toMatchObject([200, { status: "settled" }]);
		await holder.query("rollback");
		for (const answer of await Promise.all(pages)) {
			expect([200, 429, 503]).toContain(answer.status);
			await answer.text();
		}
	} finally {
		// Also ends its transaction.
		holder.release(true);
	}
});

test("the service reads pages, their receipts and their streams with dedicated connections", async () => {
	const { shareDb, publish } = scene;
	const feed = createEventFeed({ db: shareDb, statusOf: () => ({}) as StatusResponse, pollMs: 20 });
	const config = {
		chains: [],
		api: { eventStreams: { perKey: 1 }, sharePages: { streams: 1 } },
	} as unknown as Config;
	const routes = routesWithoutParts({
		shares: { db: shareDb, feed },
		heldStreams: { take: async () => () => {} },
		finalitySeconds: new Map(),
		receiptSigner: undefined,
		config,
	});
	const app = createApp({
		routes: routes.filter(({ path: own }) => own.startsWith("/s/")),
		apiKeys: { authenticate: () => Promise.reject(new Error("no key is needed")) },
		rateLimits: createRateLimits({
			redis: { run: async () => undefined, close: () => {} },
			unauthenticatedPerSecond: 1,
		}),
		log: pino({ level: "silent" }),
	});
	try {
		await publish();
		const path = await scene.share(idOf("opening"));
		const unknown = `/s/${"A".repeat(24)}`;
		// The pool of the other routes is absent and throws if it is used, which would be a 500.
		for (const url of [unknown, `${unknown}/receipt`, `${unknown}/events`]) {
			expect([url, (await app.inject(url)).statusCode]).toEqual([url, 404]);
		}
		await app.listen({ host: "127.0.0.1", port: 0 });
		const baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
		const ending = new AbortController();
		const open = await fetch(`${baseUrl}${path}/events`, { signal: ending.signal });
		expect(open.status).toBe(200);
		await expect.poll(() => feed.size()).toBe(1);
		// One more than the process's limit.
		expect((await fetch(`${baseUrl}${path}/events`)).status).toBe(503);
		ending.abort();
	} finally {
		await app.close();
		feed.close();
	}
});
