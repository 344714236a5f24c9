import { addressOfWord, formatAddress, toSwapId } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleScene, createConsoleScene } from "../../test/console/console-scene.ts";
import type { SeededSwap, Story } from "../../test/console/seed-swaps.ts";
import { readPauses } from "../swap/pause/pauses.ts";
import { formTokenOf } from "./login/sessions.ts";
import { consoleRoutes } from "./route/console-routes.ts";

let scene: ConsoleScene;
let swaps: SeededSwap[];
let cookie: string;
const clock = { nowMs: Date.now() };

beforeAll(async () => {
	scene = await createConsoleScene({ isDevnet: true, nowMs: () => clock.nowMs });
	swaps = await scene.seed({
		stories: ["settled", "refunded", "failed", "deposited", "delivering", "delivered"],
		atMs: clock.nowMs - 3_600_000,
	});
	await scene.moveChains();
	cookie = await logIn();
});
afterAll(() => scene?.stop());

const host = "localhost:9090";
const origin = `http://${host}`;
const get = (url: string, headers: Record<string, string> = {}) =>
	scene.app.inject({ method: "GET", url, headers: { host, ...headers } });
const post = (url: string, body: Record<string, string>, headers: Record<string, string> = {}) =>
	scene.app.inject({
		method: "POST",
		url,
		headers: { host, origin, "content-type": "application/x-www-form-urlencoded", ...headers },
		payload: new URLSearchParams(body).toString(),
	});
const token = () => formTokenOf(cookie.split("=")[1] ?? "");
const logged = async () => {
	const { rows } = await scene.database.owner.query(
		"select actor, action, detail, address from console_log order by id desc limit 1",
	);
	return rows[0];
};

async function logIn(): Promise<string> {
	const response = await get(`/invite?token=${await scene.invite("ada")}`);
	expect(response.statusCode).toBe(303);
	return String(response.headers["set-cookie"]).split(";")[0] ?? "";
}

function swapOf(story: Story): SeededSwap {
	const found = swaps.find((swap) => swap.story === story);
	if (!found) throw new Error(`no swap is ${story}`);
	return found;
}

test("no route except for the login gives data to a person who is not logged in", async () => {
	const routes = consoleRoutes(scene.parts, { idleMs: 1, maxMs: 1 });
	expect(routes.length).toBeGreaterThan(15);
	const open = routes.filter(({ access }) => access === "public").map(({ path }) => path);
	expect(open).toEqual([
		...["/login", "/login/options", "/login/verify", "/invite", "/invite/options", "/invite/verify"],
		...["/assets/:hash/:name", "/health"],
	]);
	for (const { method, path, access } of routes) {
		if (access === "public") continue;
		const url = path.replace(":id", toSwapId(swapOf("settled").id)).replace(":chainId", "8453");
		for (const headers of [{}, { cookie: "geoswap_console=made-up" }]) {
			const response = method === "GET" ? await get(url, headers) : await post(url, {}, headers);
			expect([response.statusCode, path]).toEqual([method === "GET" ? 303 : 401, path]);
			if (method === "GET") expect(response.headers.location).toBe("/login");
		}
	}
});

test("every answer forbids inline scripts, frames, sniffing and other origins", async () => {
	for (const url of ["/", "/login", "/nowhere", "/swaps"]) {
		const { headers, body } = await get(url, { cookie });
		expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'");
		expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
		expect(body).not.toMatch(/<script>|<style|\sstyle=|\son\w+=|https?:\/\/(?!basescan|arbiscan|explorer)/);
	}
});

test("a form of another site, one without the session's token, and another host are refused", async () => {
	const body = { reason: "a drill", sure: "yes" };
	for (const [headers, fields, status] of [
		[{ origin: "https://evil.example" }, { ...body, token: token() }, 403],
		[{ origin: "null" }, { ...body, token: token() }, 403],
		[{}, body, 403],
		[{}, { ...body, token: formTokenOf("another") }, 403],
		[{ host: "rebound.example" }, { ...body, token: token() }, 421],
	] as const) {
		const response = await post("/chains/8453/pause", fields, { cookie, ...headers });
		expect(response.statusCode).toBe(status);
	}
	expect(await readPauses(scene.database.owner)).toEqual([]);
	expect((await get("/", { cookie, host: "127.0.0.1:9090" })).body).toContain("Open the console at");
});

test("a supervisor can request the health by any host name, and gets no other data", async () => {
	const { statusCode, body } = await get("/health", { host: "10.0.0.7:9090" });
	expect({ statusCode, body }).toEqual({ statusCode: 200, body: "{}" });
});

test("a chain is paused and lifted with a reason and a confirmation, and the log names the person", async () => {
	expect((await get("/chains/8453/pause", { cookie })).body).toContain("Pause Base?");
	for (const fields of [{ reason: " ", sure: "yes" }, { reason: "a drill" }]) {
		expect((await post("/chains/8453/pause", { token: token(), ...fields }, { cookie })).statusCode).toBe(
			400,
		);
	}
	const fields = { token: token(), reason: "a <b>drill</b>", sure: "yes" };
	expect((await post("/chains/8453/pause", fields, { cookie })).statusCode).toBe(303);
	expect(await readPauses(scene.database.owner)).toMatchObject([
		{ chainId: 8_453, cause: "operator", setBy: "ada", reason: "a <b>drill</b>" },
	]);
	expect(await logged()).toMatchObject({ actor: "ada", action: "paused", address: "127.0.0.1" });
	clock.nowMs += 2_000;
	const { body } = await get("/", { cookie });
	expect(body).toContain("Base is paused (operator): a &lt;b&gt;drill&lt;/b&gt;");
	await post("/chains/8453/lift", { token: token(), reason: "over", sure: "yes" }, { cookie });
	expect(await readPauses(scene.database.owner)).toEqual([]);
	expect(await logged()).toMatchObject({ actor: "ada", action: "lifted" });
	expect((await get("/log", { cookie })).body).toContain("Lifted the operator&#39;s pause of Base");
});

test("a pause for a breach is shown with its command and cannot be lifted in the console", async () => {
	const { owner } = scene.database;
	await owner.query(
		"insert into pauses (chain_id, cause, reason, set_by, since, breaches) values (42161, 'breach', 'short', 'worker', now(), '{I2 short}')",
	);
	clock.nowMs += 2_000;
	const { body } = await get("/chains", { cookie });
	expect(body).toContain("geoswapd pauses lift 42161 --cause breach");
	expect(body).not.toContain("/chains/42161/lift");
	await post("/chains/42161/lift", { token: token(), reason: "no", sure: "yes" }, { cookie });
	expect(await readPauses(owner)).toMatchObject([{ cause: "breach" }]);
	expect(await logged()).not.toMatchObject({ action: "lifted", detail: expect.stringContaining("Arbitrum") });
	await owner.query(
		"update pauses set lifted_at = now(), lifted_by = 'a', lifted_reason = 'b' where lifted_at is null",
	);
});

test("the log can only be appended to, even by the console's login", async () => {
	for (const pool of [scene.database.pool, scene.database.owner]) {
		await expect(pool.query("update console_log set detail = 'nothing'")).rejects.toThrow(/denied|refused/);
		await expect(pool.query("delete from console_log")).rejects.toThrow(/denied|refused/);
	}
});

test("a link works once and only before its expiry; a session ends when idle, at its limit, and by logging out", async () => {
	const link = `/invite?token=${await scene.invite("bob")}`;
	expect((await get(link)).statusCode).toBe(303);
	expect((await get(link)).statusCode).toBe(403);
	const late = await scene.invite("bob", { expiresAtMs: clock.nowMs - 1 });
	expect((await get(`/invite?token=${late}`)).statusCode).toBe(403);

	const mine = await logIn();
	const minutes = async (count: number, headers: Record<string, string> = {}) => {
		clock.nowMs += count * 60_000;
		return (await get("/keys", { cookie: mine, ...headers })).statusCode;
	};
	expect(await minutes(29)).toBe(200);
	expect(await minutes(29)).toBe(200);
	// A page that refreshes itself does not extend the session.
	expect(await minutes(20, { "x-refresh": "1" })).toBe(200);
	expect(await minutes(11)).toBe(303);
	const other = await logIn();
	for (let hours = 0; hours < 11.5; hours += 0.4) {
		clock.nowMs += 24 * 60_000;
		expect((await get("/keys", { cookie: other })).statusCode).toBe(200);
	}
	clock.nowMs += 24 * 60_000;
	expect((await get("/keys", { cookie: other })).statusCode).toBe(303);

	cookie = await logIn();
	const gone = await logIn();
	const form = { token: formTokenOf(gone.split("=")[1] ?? "") };
	expect((await post("/logout", form, { cookie: gone })).headers["set-cookie"]).toContain("Max-Age=0");
	expect((await get("/keys", { cookie: gone })).statusCode).toBe(303);
	expect((await get("/keys", { cookie })).statusCode).toBe(200);
	await scene.moveChains();
});

test("the cookie is out of reach of scripts and other sites", async () => {
	const response = await get(`/invite?token=${await scene.invite("eve")}`);
	expect(response.headers["set-cookie"]).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
	const { rows } = await scene.database.owner.query("select token_hash from console_sessions");
	const value = String(response.headers["set-cookie"]).split(/[=;]/)[1] ?? "";
	expect(rows.some(({ token_hash }) => token_hash.toString() === value)).toBe(false);
});

test("outside a devnet the link only offers to register a passkey, and opening it does not use it up", async () => {
	const real = await createConsoleScene();
	try {
		const link = `/invite?token=${await real.invite("ada")}`;
		for (let i = 0; i < 2; i++) {
			const { statusCode, body, headers } = await real.app.inject({ url: link, headers: { host } });
			expect([statusCode, headers["set-cookie"]]).toEqual([200, undefined]);
			expect(body).toContain("Register a passkey");
		}
	} finally {
		await real.stop();
	}
});

test("refused logins are in the log, and a network that tries too often is refused", async () => {
	const attempt = () =>
		scene.app.inject({
			method: "POST",
			url: "/login/verify",
			headers: { host, origin, "content-type": "application/json" },
			payload: { response: { id: "unknown" } },
		});
	expect((await attempt()).statusCode).toBe(403);
	expect(await logged()).toMatchObject({ actor: null, action: "login-refused", address: "127.0.0.1" });
	const statuses = new Set<number>();
	for (let i = 0; i < 12; i++) statuses.add((await attempt()).statusCode);
	expect(statuses).toEqual(new Set([403, 429]));
	clock.nowMs += 60_000;
	expect((await attempt()).statusCode).toBe(403);
});

test("a swap is found by its id, order, transactions, wallet, recipient, API key and account", async () => {
	clock.nowMs += 1_000;
	const { id, order, orderId } = swapOf("settled");
	const { rows } = await scene.database.owner.query(
		"select encode(hash, 'hex') as hash, chain_id from lane_transactions where jobs @> $1 and length(hash) = 32",
		[JSON.stringify([{ swapId: id }])],
	);
	const swapPath = `/swaps/${toSwapId(id)}`;
	const find = (text: string) => get(`/swaps?q=${encodeURIComponent(text)}`, { cookie });
	for (const text of [
		toSwapId(id),
		id,
		orderId,
		...rows.map(({ hash }) => `0x${hash}`),
		` ${toSwapId(id)} `,
	]) {
		expect((await find(text)).headers.location, text).toBe(swapPath);
	}
	const { originChainId, destinationChainId, wallet, recipient } = order;
	for (const [chainId, word] of [
		[originChainId, wallet],
		[destinationChainId, recipient],
	] as const) {
		const { headers, body } = await find(formatAddress(chainId, addressOfWord(chainId, word)));
		expect(headers.location === swapPath || body.includes(swapPath)).toBe(true);
	}
	const accountPath = `/swaps?account=${scene.accountIds[0]}`;
	for (const text of [scene.accountIds[0] ?? "", "agents-one", "AGENTS-one", scene.keyIds[0] ?? ""]) {
		expect((await find(text)).headers.location, text).toBe(accountPath);
	}
	expect((await get(accountPath, { cookie })).body).toContain("Swaps of agents-one");
	expect((await find("nothing of ours")).body).toContain("Nothing is known by this");
	expect((await find(`0x${"ab".repeat(20)}`)).body).toContain("No swap of the last 30 days");
});

test("the list is filtered and continues from an id; the page of an unknown swap states that it is unknown", async () => {
	const listed = async (query: string) => {
		const { body } = await get(`/swaps?${query}`, { cookie });
		return swaps.filter(({ id }) => body.includes(toSwapId(id))).map(({ story }) => story);
	};
	expect(await listed("")).toEqual(swaps.map(({ story }) => story));
	expect(await listed("show=refunded")).toEqual(["refunded"]);
	expect(await listed("show=under-way")).toEqual(["deposited", "delivering", "delivered"]);
	const { order } = swapOf("failed");
	expect(await listed(`from=${order.originChainId}&to=${order.destinationChainId}`)).toContain("failed");
	const [first, second] = swaps;
	expect(await listed(`before=${second?.id}`)).toEqual([first?.story]);
	const missing = await get("/swaps/swp_01m7kmfm4af3vt0pn7rbgrgfxv", { cookie });
	expect([missing.statusCode, missing.body.includes("No such swap")]).toEqual([404, true]);
});

test("a database that does not respond in time leads to a page that states so", async () => {
	const { pool } = scene.parts;
	const slow = Object.assign(new Error("canceling statement due to statement timeout"), { code: "57014" });
	const query = pool.query.bind(pool);
	Object.assign(pool, {
		query: (...args: unknown[]) =>
			JSON.stringify(args).includes("order_terms->>'wallet'")
				? Promise.reject(slow)
				: (query as (...args: unknown[]) => unknown)(...args),
	});
	try {
		const { statusCode, body } = await get(`/swaps?q=0x${"cd".repeat(20)}`, { cookie });
		expect([statusCode, body.includes("took too long")]).toEqual([503, true]);
	} finally {
		Object.assign(pool, { query });
	}
});

test("a search or a form with a character that PostgreSQL cannot store is 400", async () => {
	expect((await get("/swaps?search=%00", { cookie })).statusCode).toBe(400);
	expect((await get("/swaps/%00", { cookie })).statusCode).toBe(400);
	expect((await post("/chains/1/pause", { reason: "\u0000" }, { cookie })).statusCode).toBe(400);
});
