import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	type SolanaAddress,
	type StatusResponse,
	solanaChainId,
	statusResponseSchema,
	swapUuidTimeMs,
	toSolanaWord,
	toSwapId,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { getBase58Decoder } from "@solana/kit";
import { pino } from "pino";
import { getAddress, hexToBytes, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { connectTestRedis } from "../../../test/service/test-redis.ts";
import type { Delivery, SignedOp, SignedSolanaOp } from "../../swap/facts/swap-record.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { deliveryToJson, signedOpToJson } from "../../swap/record/swap-json.ts";
import { createApp } from "../http/create-app.ts";
import { createHeldCalls } from "../key/held-calls.ts";
import { createRateLimits } from "../key/rate-limits.ts";
import { createSwapListener, type SwapListener } from "../status/swap-listener.ts";
import { getStatus } from "./get-status.ts";

const wallet = getAddress(`0x${"a1".repeat(20)}`);
const token = getAddress(`0x${"b2".repeat(20)}`);
const accountId = randomUUID();
const refundAfter = 2_000_000_000;
const explorers = { transaction: (chainId: number, hash: string) => `https://${chainId}.example/tx/${hash}` };
const hash = `0x${"ab".repeat(32)}` as const;

let database: TestDatabase;
let listener: SwapListener;
let status: ReturnType<typeof getStatus>;
const noRedis = { run: async () => undefined, close: () => {} };
const heldCalls = createHeldCalls({ redis: noRedis });
const rateLimits = createRateLimits({ redis: noRedis, unauthenticatedPerSecond: 1 });
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
	// The reread interval is so long that no test can pass without a notification.
	listener = createSwapListener({
		url: database.url,
		db: database.pool,
		rereadMs: 3_600_000,
		reconnectMs: 20,
	});
	status = getStatus({
		db: database.pool,
		listener,
		heldCalls,
		rateLimits,
		explorers,
		finalitySeconds: new Map([
			[31337, 5],
			[31338, 7],
			[solanaChainId, 43],
		]),
	});
});
afterAll(async () => {
	await listener.close();
	await database.drop();
});

async function listenerPid(): Promise<number | undefined> {
	const { rows } = await database.owner.query(
		"select pid from pg_stat_activity where datname = current_database() and query = 'listen swap_terminal'",
	);
	return rows[0]?.pid;
}
const isListening = () => expect.poll(listenerPid, { timeout: 10_000 }).toBeDefined();

const op: SignedOp = {
	delegate: wallet,
	gas: 60_000n,
	signatureKind: "personal",
	signature: `0x${"cd".repeat(65)}`,
	authorization: { chainId: 31337, address: wallet, nonce: 3, yParity: 1, r: hash, s: hash },
};

async function insertSwap({
	delivery = { kind: "inventory", amount: 7n } as Delivery,
	change = {} as Partial<Order>,
	signed = op as SignedOp | SignedSolanaOp,
} = {}) {
	const uuid = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
	const order: Order = {
		originChainId: 31337n,
		destinationChainId: 31338n,
		escrow: toWord(token),
		originVault: toWord(token),
		destinationVault: toWord(token),
		attesterSet: zeroHash,
		wallet: toWord(wallet),
		inputToken: toWord(token),
		inputAmount: 2n ** 255n + 1n,
		outputToken: toWord(wallet),
		minOutput: 5n,
		recipient: toWord(wallet),
		topUp: 0n,
		swapKey: toSwapKey(uuid),
		deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: BigInt(refundAfter) }),
		...change,
	};
	await database.owner.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery, op)
		values ($1, $2, $3, $4, 7, 700, $5, $6)`,
		[
			uuid,
			accountId,
			hexToBytes(orderId(order)),
			orderToJson(order),
			deliveryToJson(delivery),
			signedOpToJson(signed),
		],
	);
	return { uuid, order };
}

const log = pino({ level: "silent" });
async function ask(
	swapId: string,
	{
		wait,
		key = "key",
		account = accountId,
		signal = new AbortController().signal,
		held = 50,
		route = status,
	}: {
		wait?: unknown;
		key?: string;
		account?: string;
		signal?: AbortSignal;
		held?: number;
		route?: typeof status | undefined;
	} = {},
): Promise<StatusResponse> {
	const limits = {
		rates: { quote: 1, build: 1, submit: 1, delegation: 1, status: 1, list: 1 },
		heldStatusCalls: held,
	};
	const body = await route.handle({
		body: undefined,
		query: wait === undefined ? {} : { wait },
		params: { swapId },
		requestId: "",
		log,
		onGone: (tell) => (signal.aborted ? tell() : signal.addEventListener("abort", tell, { once: true })),
		account: { accountId: account, accountCreatedAt: new Date(0), keyId: key, limits },
	});
	return statusResponseSchema.strict().parse(body) as StatusResponse;
}

const update = (uuid: string, set: string) =>
	database.owner.query(`update swaps set ${set} where id = $1`, [uuid]);

test("a status has the values that were written to the database", async () => {
	const { uuid, order } = await insertSwap({
		delivery: { kind: "router", budget: 2n ** 130n, fees: [500, 3000] },
	});
	expect(await readSwap(database.pool, uuid)).toMatchObject({
		id: uuid,
		accountId,
		orderId: orderId(order),
		order,
		output: 7n,
		valueUsdCents: 700n,
		delivery: { kind: "router", budget: 2n ** 130n, fees: [500, 3000] },
		op,
		status: "pending",
		failure: undefined,
		originTxHash: undefined,
		endedAt: undefined,
	});
	expect(await readSwap(database.pool, randomUUID())).toBeUndefined();
});

test("a new swap has no transaction hashes, its funds are in the wallet, and its status has the time by which it is decided", async () => {
	const { uuid, order } = await insertSwap();
	const answer = await ask(toSwapId(uuid), { wait: "0" });
	expect(answer).toEqual({
		swapId: toSwapId(uuid),
		status: "pending",
		stage: "opening",
		orderId: orderId(order),
		decidedBy: new Date((refundAfter + 12) * 1_000).toISOString(),
		updatedAt: expect.any(String),
		funds: { chainId: 31337, holder: "wallet", token, amount: String(2n ** 255n + 1n) },
		terms: {
			originChain: 31337,
			destinationChain: 31338,
			inputToken: token,
			outputToken: wallet,
			amount: String(2n ** 255n + 1n),
			walletAddress: wallet,
			recipient: wallet,
			output: "7",
			minOutput: "5",
			feeBps: 0,
		},
		quotedAt: new Date(swapUuidTimeMs(uuid)).toISOString(),
		createdAt: expect.any(String),
		links: {},
	});
});

test("an ended swap has its whole terms, its times and links to explorers [D-status-23]", async () => {
	const { uuid } = await insertSwap();
	await update(
		uuid,
		`status = 'settled', stage = 'delivered', delivered_amount = 6, fee_millibps = 9375,
		network_cost = '{"token": "${wallet}", "amount": "2"}', origin_tx_hash = '\\x${"ab".repeat(32)}',
		delivery_tx_hash = '\\x${"cd".repeat(32)}', opened_at = '2026-06-01T12:00:01Z',
		delivered_at = '2026-06-01T12:00:02Z', decided_at = '2026-06-01T12:00:03Z', ended_at = '2026-06-01T13:00:00Z'`,
	);
	expect(await ask(toSwapId(uuid))).toMatchObject({
		terms: { feeBps: 9.375, networkCost: { token: wallet, amount: "2" } },
		deliveredAmount: "6",
		openedAt: "2026-06-01T12:00:01.000Z",
		deliveredAt: "2026-06-01T12:00:02.000Z",
		endedAt: "2026-06-01T12:00:03.000Z",
		links: {
			origin: `https://31337.example/tx/0x${"ab".repeat(32)}`,
			delivery: `https://31338.example/tx/0x${"cd".repeat(32)}`,
		},
	});
});

test("the reported funds follow the swap from wallet to escrow to recipient, or back", async () => {
	const { uuid } = await insertSwap();
	const { uuid: other } = await insertSwap();
	const stages = ["deposited", "delivering", "refunding"];
	for (const stage of stages) {
		await update(uuid, `stage = '${stage}', origin_tx_hash = '\\x${"ab".repeat(32)}'`);
		expect(await ask(toSwapId(uuid), { wait: "0" })).toMatchObject({
			funds: { chainId: 31337, holder: "escrow" },
			originTxHash: hash,
		});
	}
	await update(uuid, "stage = 'delivering', delivered_amount = 6, delivery_tx_hash = origin_tx_hash");
	expect(await ask(toSwapId(uuid), { wait: "0" })).toMatchObject({
		status: "pending",
		funds: { chainId: 31338, holder: "recipient", token: wallet, amount: "6" },
	});
	await update(uuid, "delivered_amount = null, delivery_tx_hash = null, origin_tx_hash = null");
	expect((await ask(toSwapId(uuid), { wait: "0" })).funds.holder).toBe("wallet");
	await update(uuid, `origin_tx_hash = '\\x${"ab".repeat(32)}'`);
	await update(
		uuid,
		`status = 'settled', stage = 'delivered', delivered_amount = 6, delivery_tx_hash = origin_tx_hash`,
	);
	const settled = await ask(toSwapId(uuid));
	expect(settled).toMatchObject({
		status: "settled",
		deliveryTxHash: hash,
		funds: { chainId: 31338, holder: "recipient", token: wallet, amount: "6" },
	});
	expect(settled).not.toHaveProperty("decidedBy");
	await update(
		other,
		`status = 'refunded', stage = 'refunding', failure = '{"code": "TOO_LATE", "message": "m"}', refund_tx_hash = '\\x${"ab".repeat(32)}'`,
	);
	expect(await ask(toSwapId(other))).toMatchObject({
		status: "refunded",
		refundTxHash: hash,
		failure: { code: "TOO_LATE", message: "m" },
		funds: { chainId: 31337, holder: "wallet", token, amount: String(2n ** 255n + 1n) },
	});
});

test("Solana addresses and transactions are written in base58, and those of EVM chains in hex", async () => {
	const address = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV" as SolanaAddress;
	const signature = `0x${"5a".repeat(64)}` as const;
	const spelt = getBase58Decoder().decode(hexToBytes(signature));
	const signed: SignedSolanaOp = {
		kind: "solana",
		feePayer: address,
		blockhash: address,
		lastValidBlockHeight: 2n ** 60n,
		compute: { unitLimit: 60_000, microLamportsPerUnit: 50_000n },
		signature,
	};
	const from = await insertSwap({
		signed,
		change: { originChainId: BigInt(solanaChainId), inputToken: toSolanaWord(address) },
	});
	expect((await readSwap(database.pool, from.uuid))?.op).toEqual(signed);
	expect(await ask(toSwapId(from.uuid), { wait: "0" })).toMatchObject({
		decidedBy: new Date((refundAfter + 43 + 7) * 1_000).toISOString(),
		funds: { chainId: solanaChainId, holder: "wallet", token: address },
	});
	await database.owner.query(
		`update swaps set origin_tx_hash = $2, delivery_tx_hash = $3, refund_tx_hash = $2 where id = $1`,
		[from.uuid, hexToBytes(signature), hexToBytes(hash)],
	);
	expect(await ask(toSwapId(from.uuid), { wait: "0" })).toMatchObject({
		originTxHash: spelt,
		deliveryTxHash: hash,
		refundTxHash: spelt,
		funds: { chainId: 31338, token: wallet },
	});

	const to = await insertSwap({
		delivery: { kind: "payout", amount: 7n, unusedRent: 2n },
		change: { destinationChainId: BigInt(solanaChainId), outputToken: toSolanaWord(address) },
	});
	await database.owner.query(
		`update swaps set origin_tx_hash = $2, delivery_tx_hash = $3, delivered_amount = 9 where id = $1`,
		[to.uuid, hexToBytes(hash), hexToBytes(signature)],
	);
	expect(await ask(toSwapId(to.uuid), { wait: "0" })).toMatchObject({
		originTxHash: hash,
		deliveryTxHash: spelt,
		funds: { chainId: solanaChainId, holder: "recipient", token: address, amount: "9" },
	});
});

test("any id that is not one of the account's swaps is 404 immediately", async () => {
	const { uuid } = await insertSwap();
	const { uuid: ownerless } = await insertSwap();
	await update(ownerless, "account_id = null");
	const id = toSwapId(uuid);
	const unknown = toSwapId(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) }));
	const started = performance.now();
	for (const wrong of [
		"",
		"x",
		uuid,
		id.toUpperCase(),
		`${id}0`,
		`${id.slice(0, -1)}`,
		"swp_",
		unknown,
		toSwapId(ownerless),
	]) {
		await expect(ask(wrong), wrong).rejects.toMatchObject({ code: "SWAP_NOT_FOUND" });
	}
	await expect(ask(id, { account: randomUUID() })).rejects.toMatchObject({ code: "SWAP_NOT_FOUND" });
	expect(performance.now() - started).toBeLessThan(5_000);
	for (const wait of ["16", "-1", "1.5", "", "x", ["1", "2"]]) {
		await expect(ask(id, { wait })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
	}
});

test("a held call returns when the swap is terminal, and not on earlier progress [D-status-2]", async () => {
	const { uuid } = await insertSwap();
	let isAnswered = false;
	const calls = Promise.all(Array.from({ length: 5 }, () => ask(toSwapId(uuid)))).finally(() => {
		isAnswered = true;
	});
	await update(uuid, "stage = 'deposited'");
	// Notifications come in order, so once this one for another swap has arrived, one for the first would have too.
	const { uuid: other } = await insertSwap();
	const otherCall = ask(toSwapId(other));
	await update(other, "status = 'failed'");
	expect((await otherCall).status).toBe("failed");
	expect(isAnswered).toBe(false);
	await update(uuid, "status = 'settled', stage = 'delivered'");
	expect((await calls).map((answer) => answer.status)).toEqual(Array(5).fill("settled"));
});

test("a held call returns the latest state when its time is over or the caller leaves", async () => {
	const { uuid } = await insertSwap();
	const started = performance.now();
	expect((await ask(toSwapId(uuid), { wait: "1" })).status).toBe("pending");
	expect(performance.now() - started).toBeGreaterThan(990);
	const stop = new AbortController();
	const call = ask(toSwapId(uuid), { signal: stop.signal });
	stop.abort();
	expect((await call).status).toBe("pending");
	expect((await ask(toSwapId(uuid), { signal: stop.signal })).status).toBe("pending");
	expect(performance.now() - started).toBeLessThan(5_000);
});

test("a held call beyond the key's allowance returns immediately, and calls that end free the allowance", async () => {
	const { uuid } = await insertSwap();
	const id = toSwapId(uuid);
	const stop = new AbortController();
	const started = performance.now();
	const calls = Array.from({ length: 3 }, () => ask(id, { held: 2, signal: stop.signal }));
	// Their reads race. The last one is beyond the allowance.
	expect(await Promise.race(calls)).toMatchObject({ status: "pending", held: false });
	expect(performance.now() - started).toBeLessThan(5_000);
	expect(await heldCalls.take("key", { limit: 2, seconds: 1 })).toBeUndefined();
	expect(await ask(id, { held: 2, wait: "0" })).not.toHaveProperty("held");
	stop.abort();
	expect((await Promise.all(calls)).filter(({ held }) => held === undefined)).toHaveLength(2);
	const again = ask(id, { held: 1 });
	await update(uuid, "status = 'settled', stage = 'delivered'");
	expect((await again).status).toBe("settled");
});

test("pollers beyond the key's allowance that repeat immediately get a Retry-After, and do not use up the key's rate", async () => {
	const { uuid } = await insertSwap();
	// The rate covers three calls held for three seconds each, and two calls a second that cannot be held.
	const perSecond = 4;
	const burst = 20 * perSecond;
	const rates = { quote: 1, build: 1, submit: 1, delegation: 1, status: perSecond, list: 1 };
	const isOver = new AbortController();
	const shared = await connectTestRedis({ processes: 1 });
	const [redis = noRedis] = shared.connections;
	const limits = createRateLimits({ redis, prefix: shared.prefix, unauthenticatedPerSecond: 1 });
	const app = createApp({
		routes: [
			getStatus({
				db: database.pool,
				listener,
				heldCalls: createHeldCalls({ redis, prefix: shared.prefix }),
				rateLimits: limits,
				finalitySeconds: new Map(),
				explorers,
			}),
		],
		apiKeys: {
			authenticate: async () => ({
				accountId,
				accountCreatedAt: new Date(0),
				keyId: "key",
				limits: { rates, heldStatusCalls: 3 },
			}),
		},
		rateLimits: limits,
		stopping: isOver.signal,
		log,
	});
	try {
		const url = `${await app.listen({ host: "127.0.0.1", port: 0 })}/swap/status/${toSwapId(uuid)}`;
		let unheld = 0;
		let refused = 0;
		/** Polls like a client that honors Retry-After only with a 429. */
		const poll = async () => {
			while (!isOver.signal.aborted) {
				const answer = await fetch(`${url}?wait=3`);
				const body = (await answer.json()) as { held?: boolean };
				if (answer.status === 429) {
					refused++;
					await sleep(1_000 * Number(answer.headers.get("retry-after")));
					continue;
				}
				expect(answer.status).toBe(200);
				expect(answer.headers.get("retry-after")).toBe(body.held === false ? "1" : null);
				if (body.held === false) unheld++;
			}
		};
		const pollers = Array.from({ length: 5 }, poll);
		const others: { status: number; remaining: number }[] = [];
		while (refused < 3) {
			const { status, headers } = await fetch(`${url}?wait=0`);
			others.push({ status, remaining: Number(headers.get("ratelimit-remaining")) });
			await sleep(500);
		}
		isOver.abort();
		await app.close();
		await Promise.all(pollers);
		expect(unheld).toBeGreaterThanOrEqual(burst);
		expect(others.filter(({ status }) => status !== 200)).toEqual([]);
		expect(Math.min(...others.map(({ remaining }) => remaining))).toBeGreaterThan(burst / 2);
	} finally {
		isOver.abort();
		await app.close();
		await shared.close();
	}
});

test("all processes share a key's allowance of held calls, and a terminal swap is returned without using it", async () => {
	const shared = await connectTestRedis({ processes: 2 });
	const takes: string[] = [];
	const processes = shared.connections.map((redis) => {
		const heldCalls = createHeldCalls({ redis, prefix: shared.prefix });
		return getStatus({
			db: database.pool,
			listener,
			heldCalls: {
				take: (keyId, allowance) => {
					takes.push(keyId);
					return heldCalls.take(keyId, allowance);
				},
			},
			rateLimits,
			finalitySeconds: new Map(),
			explorers,
		});
	});
	try {
		const { uuid } = await insertSwap();
		const id = toSwapId(uuid);
		let answered = 0;
		const calls = Array.from({ length: 5 }, (_, i) =>
			ask(id, { held: 2, route: processes[i % 2] }).finally(() => {
				answered++;
			}),
		);
		// Three of the calls are beyond the allowance, regardless of their order.
		await expect.poll(() => answered, { timeout: 10_000 }).toBe(3);
		expect(await shared.redis.zcard(`${shared.prefix}:key`)).toBe(2);
		await update(uuid, "status = 'settled', stage = 'delivered'");
		const statuses = (await Promise.all(calls)).map(({ status }) => status);
		expect(statuses.toSorted()).toEqual(["pending", "pending", "pending", "settled", "settled"]);
		await expect.poll(() => shared.redis.zcard(`${shared.prefix}:key`), { timeout: 10_000 }).toBe(0);
		expect((await ask(id, { key: "late", route: processes[0] })).status).toBe("settled");
		expect(takes).not.toContain("late");
	} finally {
		await shared.close();
	}
});

test("a held call survives the loss of the listening connection and returns changes made meanwhile", async () => {
	const { uuid } = await insertSwap();
	const call = ask(toSwapId(uuid));
	await isListening();
	const pid = await listenerPid();
	await database.owner.query("select pg_terminate_backend($1)", [pid]);
	await update(uuid, "status = 'settled', stage = 'delivered'");
	expect((await call).status).toBe("settled");
	await isListening();
	expect(await listenerPid()).not.toBe(pid);
});

test("a lost notification is compensated by reading the swap again", async () => {
	const { uuid } = await insertSwap();
	const deaf = createSwapListener({ url: "postgres://127.0.0.1:1/x", db: database.pool, rereadMs: 50 });
	const heard = deaf.waitForTerminal(uuid, 60_000);
	const started = performance.now();
	await update(uuid, "status = 'settled', stage = 'delivered'");
	await heard.over;
	expect(performance.now() - started).toBeLessThan(5_000);
	await deaf.close();
});
