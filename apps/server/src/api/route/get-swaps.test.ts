import { randomBytes, randomUUID } from "node:crypto";
import {
	fromSwapId,
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	type SolanaAddress,
	type SwapsResponse,
	solanaChainId,
	swapsResponseSchema,
	swapUuidTimeMs,
	toSolanaWord,
	toSwapId,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { pino } from "pino";
import { type Address, getAddress, type Hex, hexToBytes, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { sequence } from "../../../test/swap/sequence.ts";
import { parseSealKeys, type SealKeys } from "../../config/seal-keys.ts";
import type { Database } from "../../database/database.ts";
import type { Route, RouteRequest } from "../http/route.ts";
import { sealToken } from "../seal/seal-token.ts";
import { createSwapListener, type SwapListener } from "../status/swap-listener.ts";
import { getStatus } from "./get-status.ts";
import { getSwaps } from "./get-swaps.ts";

const address: Address = "0x00000000000000000000000000000000000000a1";
const sealKeys: SealKeys = parseSealKeys(`test:${randomBytes(32).toString("base64url")}`);
const finalitySeconds = new Map([[31337, 5]]);
const explorers = { transaction: (chainId: number, hash: string) => `https://${chainId}.example/tx/${hash}` };

let database: TestDatabase;
let listener: SwapListener;
let swaps: Route;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
	listener = createSwapListener({ url: database.url, db: database.pool });
	swaps = getSwaps({ db: database.pool, sealKeys, finalitySeconds, explorers, nowMs: Date.now });
});
afterAll(async () => {
	await listener.close();
	await database.drop();
});

async function insertSwap(
	accountId: string | null,
	{
		agoMs = 0,
		status = "pending",
		wallet = toWord(address),
		isOnSolana = false,
	}: { agoMs?: number; status?: string; wallet?: Hex; isOnSolana?: boolean } = {},
): Promise<string> {
	const uuid = newSwapUuid({ nowMs: Date.now() - agoMs, random: randomBytes(10) });
	const order: Order = {
		originChainId: isOnSolana ? BigInt(solanaChainId) : 31337n,
		destinationChainId: 31338n,
		attesterSet: zeroHash,
		escrow: toWord(address),
		originVault: toWord(address),
		destinationVault: toWord(address),
		wallet,
		recipient: toWord(address),
		inputAmount: 10n,
		minOutput: 5n,
		inputToken: isOnSolana ? wallet : toWord(address),
		outputToken: toWord(address),
		topUp: 0n,
		swapKey: toSwapKey(uuid),
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
	};
	await database.owner.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery, status)
		values ($1, $2, $3, $4, 7, 700, '{"kind": "inventory", "amount": "7"}', $5)`,
		[uuid, accountId, hexToBytes(orderId(order)), orderToJson(order), status],
	);
	return toSwapId(uuid);
}

function call(
	route: Route,
	account: string,
	{
		accountCreatedAt = new Date(),
		...request
	}: Partial<Pick<RouteRequest, "query" | "params">> & { accountCreatedAt?: Date },
): Promise<unknown> {
	const limits = {
		rates: { quote: 1, build: 1, submit: 1, delegation: 1, status: 1, list: 1 },
		heldStatusCalls: 1,
	};
	return route.handle({
		body: undefined,
		query: {},
		params: {},
		requestId: "",
		log: pino({ level: "silent" }),
		onGone: () => {},
		...request,
		account: { accountId: account, accountCreatedAt, keyId: "key", limits },
	});
}

async function list(
	account: string,
	query: Record<string, unknown> = {},
	own: { accountCreatedAt?: Date } = {},
): Promise<SwapsResponse> {
	return swapsResponseSchema.strict().parse(await call(swaps, account, { query, ...own }));
}
const idsOf = ({ swaps }: SwapsResponse) => swaps.map(({ swapId }) => swapId);

test("an account's swaps are listed newest first, each with the same fields as its status", async () => {
	const [mine, other] = [randomUUID(), randomUUID()];
	const old = await insertSwap(mine, { agoMs: 60_000, status: "settled" });
	await insertSwap(other);
	await insertSwap(null);
	const young = await insertSwap(mine);
	const answer = await list(mine);
	expect(idsOf(answer)).toEqual([young, old]);
	expect(answer.nextCursor).toBeUndefined();
	const heldCalls = { take: () => Promise.reject(new Error("nothing is held")) };
	const rateLimits = { takeUnheld: () => Promise.reject(new Error("nothing is held")) };
	const status = getStatus({
		db: database.pool,
		listener,
		heldCalls,
		rateLimits,
		finalitySeconds,
		explorers,
	});
	for (const swap of answer.swaps) {
		expect(swap).toEqual(await call(status, mine, { params: { swapId: swap.swapId }, query: { wait: "0" } }));
		expect(Date.now() - Date.parse(swap.createdAt)).toBeLessThan(60_000);
	}
	expect(await list(randomUUID())).toEqual({ swaps: [] });
});

test("while swaps are added, older and newer, paging lists each existing swap once and in order", async () => {
	const account = randomUUID();
	const existing: string[] = [];
	for (let i = 0; i < 25; i++) existing.unshift(await insertSwap(account, { agoMs: (25 - i) * 1_000 }));
	const random = sequence(Number(process.env.GEOSWAP_SEED));
	const seen: string[] = [];
	let cursor: string | undefined;
	do {
		const page = await list(account, { limit: "4", ...(cursor && { cursor }) });
		expect(page.swaps.length).toBeGreaterThan(0);
		seen.push(...idsOf(page));
		cursor = page.nextCursor;
		// A quote may be submitted long after it was issued, so its swap lands in the middle of the list.
		await Promise.all([
			insertSwap(account),
			insertSwap(account, { agoMs: 500 + Math.floor(random() * 24_500) }),
			insertSwap(randomUUID()),
		]);
	} while (cursor !== undefined);
	expect(new Set(seen).size).toBe(seen.length);
	expect(seen.filter((id) => existing.includes(id))).toEqual(existing);
	expect(seen).toEqual(seen.toSorted().toReversed());
});

test("a page has 20 swaps by default, and at most 100", async () => {
	const account = randomUUID();
	await Promise.all(Array.from({ length: 101 }, () => insertSwap(account)));
	expect((await list(account)).swaps).toHaveLength(20);
	expect((await list(account, { limit: "100" })).swaps).toHaveLength(100);
	for (const limit of ["0", "101", "-1", "1.5", "", "ten", ["1", "2"]]) {
		await expect(list(account, { limit })).rejects.toMatchObject({
			code: "INVALID_REQUEST",
			details: { issues: [{ path: "limit" }] },
		});
	}
});

test("the last page has no cursor, even if it is full", async () => {
	const account = randomUUID();
	for (let i = 0; i < 4; i++) await insertSwap(account);
	const { nextCursor: cursor } = await list(account, { limit: "2" });
	expect(await list(account, { limit: "2", cursor })).not.toHaveProperty("nextCursor");
	expect(await list(account, { limit: "4" })).not.toHaveProperty("nextCursor");
});

test("a page of an old account may have fewer swaps, and only the last page has no cursor", async () => {
	const account = randomUUID();
	const ids = [await insertSwap(account, { agoMs: 60_000 }), await insertSwap(account)];
	const own = { accountCreatedAt: new Date(Date.now() - 400 * 86_400_000) };
	const first = await list(account, { limit: "5" }, own);
	expect(idsOf(first)).toEqual(ids.toReversed());
	const second = await list(account, { limit: "5", cursor: first.nextCursor }, own);
	expect(second).toEqual({ swaps: [], nextCursor: expect.any(String) });
	expect(await list(account, { limit: "5", cursor: second.nextCursor }, own)).toEqual({ swaps: [] });
});

test("two lists are read concurrently; others wait for two seconds and are then refused as unavailable", async () => {
	const held = Promise.withResolvers<{ rows: [] }>();
	let queries = 0;
	const query = () => {
		queries++;
		return held.promise;
	};
	const slow = getSwaps({
		db: { query } as unknown as Database,
		sealKeys,
		finalitySeconds,
		explorers,
		nowMs: Date.now,
	});
	const calls = Array.from({ length: 5 }, () => call(slow, randomUUID(), {}));
	const refused = { code: "UPSTREAM_UNAVAILABLE", details: { upstream: "database" } };
	for (const late of calls.slice(2)) await expect(late).rejects.toMatchObject(refused);
	expect(queries).toBe(2);
	held.resolve({ rows: [] });
	expect(await Promise.all(calls.slice(0, 2))).toEqual([{ swaps: [] }, { swaps: [] }]);
});

test("a list by status contains only swaps with that status", async () => {
	const account = randomUUID();
	const statuses = ["pending", "settled", "failed", "refunded"];
	const ids: string[] = [];
	for (const status of statuses) ids.push(await insertSwap(account, { status }));
	for (const [i, status] of statuses.entries()) {
		expect(idsOf(await list(account, { status }))).toEqual([ids[i]]);
	}
	await expect(list(account, { status: "opening" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("a list by wallet contains only its swaps, on EVM chains and Solana, for every spelling of the address [D-beyond-9]", async () => {
	const account = randomUUID();
	const other = `0x${"Ab".repeat(20)}` as const;
	const solana = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV" as SolanaAddress;
	const first = await insertSwap(account, { agoMs: 2_000, status: "settled" });
	const second = await insertSwap(account, { agoMs: 1_000 });
	const others = await insertSwap(account, { wallet: toWord(other) });
	const onSolana = await insertSwap(account, { wallet: toSolanaWord(solana), isOnSolana: true });
	expect(idsOf(await list(account, { wallet: address }))).toEqual([second, first]);
	expect(idsOf(await list(account, { wallet: address, status: "settled" }))).toEqual([first]);
	expect(idsOf(await list(account, { wallet: solana }))).toEqual([onSolana]);
	for (const wallet of [other.toLowerCase(), getAddress(other.toLowerCase())]) {
		expect(idsOf(await list(account, { wallet }))).toEqual([others]);
	}
	expect(idsOf(await list(randomUUID(), { wallet: address }))).toEqual([]);
	for (const wallet of [other, "0x12", "", "nobody", toWord(other)]) {
		await expect(list(account, { wallet })).rejects.toMatchObject({
			code: "INVALID_REQUEST",
			details: { issues: [{ path: "wallet" }] },
		});
	}
});

test("a list by time contains the swaps quoted from its beginning until before its end [D-beyond-9]", async () => {
	const account = randomUUID();
	const own = { accountCreatedAt: new Date(Date.now() - 30 * 86_400_000) };
	const nowMs = Date.now();
	const ids: string[] = [];
	for (const agoMs of [4_000, 3_000, 2_000, 1_000]) ids.unshift(await insertSwap(account, { agoMs }));
	const iso = (id: string | undefined) => {
		const uuid = fromSwapId(id ?? "");
		return new Date(uuid ? swapUuidTimeMs(uuid) : 0).toISOString();
	};
	const [newest, , , oldest] = ids;
	expect(idsOf(await list(account, { from: iso(newest) }, own))).toEqual([newest]);
	expect(idsOf(await list(account, { to: iso(newest) }, own))).toEqual(ids.slice(1));
	expect(idsOf(await list(account, { from: iso(oldest), to: iso(newest) }, own))).toEqual(ids.slice(1));
	const withOffset = iso(newest).replace("Z", "+00:00");
	expect(idsOf(await list(account, { from: withOffset, wallet: address, status: "pending" }, own))).toEqual([
		newest,
	]);
	const empty = { from: new Date(nowMs).toISOString(), to: new Date(nowMs - 9_000).toISOString() };
	expect(await list(account, empty, own)).toEqual({ swaps: [] });
	for (const from of ["yesterday", "2026-06-01", "2026-06-01T12:00:00", "1"]) {
		await expect(list(account, { from })).rejects.toMatchObject({
			code: "INVALID_REQUEST",
			details: { issues: [{ path: "from" }] },
		});
	}
});

test("a cursor that was altered, or is for another account, list or purpose, is refused [D-beyond-9]", async () => {
	const [mine, other] = [randomUUID(), randomUUID()];
	for (let i = 0; i < 3; i++) {
		await insertSwap(mine, { status: "settled" });
		await insertSwap(other, { status: "settled" });
	}
	const cursorOf = async (account: string, query = {}) =>
		(await list(account, { limit: "1", ...query })).nextCursor ?? "";
	const own = await cursorOf(mine);
	expect((await list(mine, { cursor: own })).swaps).toHaveLength(2);
	const settled = await cursorOf(mine, { status: "settled" });
	expect((await list(mine, { cursor: settled, status: "settled" })).swaps).toHaveLength(2);
	const quote = sealToken(sealKeys, { purpose: "quote:evm", accountId: mine, payload: {} });
	for (const query of [
		{ cursor: await cursorOf(other) },
		{ cursor: `${own.slice(0, -1)}${own.endsWith("A") ? "B" : "A"}` },
		{ cursor: `${own} ` },
		{ cursor: own.slice(0, 20) },
		{ cursor: "x".repeat(20_000) },
		{ cursor: "" },
		{ cursor: [own, own] },
		{ cursor: quote },
		{ cursor: toSwapId(randomUUID()) },
		{ cursor: settled },
		{ cursor: own, status: "settled" },
		{ cursor: own, wallet: address },
		{ cursor: own, from: "2026-06-01T00:00:00Z" },
		{ cursor: own, to: "2026-06-01T00:00:00Z" },
	]) {
		await expect(list(mine, query)).rejects.toMatchObject({
			code: "INVALID_REQUEST",
			details: { issues: [{ path: "cursor" }] },
		});
	}
});
