import fc from "fast-check";
import { bytesToHex, type Hex, keccak256 } from "viem";
import { expect, test } from "vitest";
import { evmCallTraits } from "./call-traits.ts";
import type { NodeKind } from "./create-node-client.ts";
import { createNodePool } from "./create-node-pool.ts";
import type { NodeAnswer, NodeCall } from "./node-call.ts";
import type { NodeRole } from "./node-state.ts";

/** A clock that advances only when everything waits for it. */
function virtualClock() {
	let now = 1_000_000;
	const timers: { atMs: number; resolve: () => void }[] = [];
	const wait = (ms: number) =>
		new Promise<void>((resolve) => {
			timers.push({ atMs: now + ms, resolve });
		});
	/** Lets time pass until the work is done. */
	async function run<T>(work: Promise<T>): Promise<T> {
		let isDone = false;
		const settled = work.finally(() => {
			isDone = true;
		});
		settled.catch(() => {});
		for (let i = 0; i < 10_000 && !isDone; i++) {
			for (let j = 0; j < 30 && !isDone; j++) await Promise.resolve();
			if (isDone) break;
			timers.sort((one, other) => one.atMs - other.atMs);
			const next = timers.shift();
			if (!next) break;
			now = Math.max(now, next.atMs);
			next.resolve();
		}
		return settled;
	}
	return { nowMs: () => now, wait, run, pass: (ms: number) => run(wait(ms)) };
}

/** A node whose chain and faults the test controls. */
type FakeNode = {
	head: number;
	delayMs: number;
	fault: ((call: NodeCall) => NodeAnswer | undefined) | undefined;
	calls: NodeCall[];
};

const ok = (result: unknown): NodeAnswer => ({ kind: "result", result, value: result });
const refused = (message: string, code = -32_000): NodeAnswer => ({
	kind: "refused",
	code,
	message,
	give: () => {
		throw new Error(message);
	},
});
const failed = (error = "no answer"): NodeAnswer => ({
	kind: "failed",
	isLimited: false,
	error: new Error(error),
});
const limited = (retryAfterMs?: number): NodeAnswer => ({
	kind: "failed",
	isLimited: true,
	...(retryAfterMs === undefined ? {} : { retryAfterMs }),
	error: new Error("too many requests"),
});

const chainId = 1;
const hex = (value: number): string => `0x${value.toString(16)}`;
const kind: NodeKind = {
	traitsOf: evmCallTraits,
	identity: { call: { method: "eth_chainId", params: [] }, isOurs: (id) => Number(id) === chainId },
	headCall: { method: "eth_blockNumber", params: [] },
	blockCall: (hash) => ({ method: "eth_getBlockByHash", params: [hash, false] }),
	isKnown: (message) => /known|nonce too low/.test(message),
};

function answerOf(node: FakeNode, { method, params }: NodeCall): NodeAnswer {
	if (method === "eth_chainId") return ok(hex(chainId));
	if (method === "eth_blockNumber") return ok(hex(node.head));
	if (method === "eth_getBlockByHash") {
		const number = Number(String(params[0]).slice(1));
		return ok(number <= node.head ? { number: hex(number), hash: params[0] } : null);
	}
	if (method === "eth_getBlockByNumber") {
		const number = params[0] === "latest" ? node.head : Number(params[0]);
		return ok(number <= node.head ? { number: hex(number), hash: `h${number}` } : null);
	}
	return ok(node.head);
}

function scene(
	count: number,
	{ roles = ["read", "send", "agree"] as readonly NodeRole[], clock = virtualClock() } = {},
) {
	const nodes = Array.from(
		{ length: count },
		(): FakeNode => ({ head: 100, delayMs: 10, fault: undefined, calls: [] }),
	);
	const changes: string[] = [];
	const pool = createNodePool({
		nodes: nodes.map((node, i) => ({
			host: `node-${i}`,
			roles,
			ask: async (call: NodeCall) => {
				node.calls.push(call);
				await clock.wait(node.delayMs);
				return node.fault?.(call) ?? answerOf(node, call);
			},
		})),
		kind,
		nowMs: clock.nowMs,
		wait: clock.wait,
		onChange: ({ host, reason }) => void changes.push(`${host} ${reason ?? "back"}`),
	});
	const ask = (method: string, ...params: unknown[]) => clock.run(pool.request({ method, params }));
	const head = async () =>
		Number(((await ask("eth_getBlockByNumber", "latest", false)) as { number: string }).number);
	const clear = () => {
		for (const node of nodes) node.calls.length = 0;
	};
	const [a, b, c] = nodes as [FakeNode, FakeNode, FakeNode];
	return { clock, pool, nodes, a, b, c, ask, head, clear, changes };
}
function bloomOf(words: readonly string[]): Hex {
	const bloom = new Uint8Array(256);
	for (const word of words) {
		const hash = keccak256(word as Hex, "bytes");
		for (const i of [0, 2, 4]) {
			const bit = (((hash[i] ?? 0) << 8) | (hash[i + 1] ?? 0)) & 2047;
			bloom[255 - (bit >> 3)] = (bloom[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7));
		}
	}
	return bytesToHex(bloom);
}

const methods = ({ calls }: FakeNode) => calls.map(({ method }) => method);
const mine = (nodes: readonly FakeNode[], blocks = 1) => {
	for (const node of nodes) node.head += blocks;
};

test("the first node answers everything while it is healthy, and the others get no requests", async () => {
	const { a, b, nodes, ask, head } = scene(3);
	for (let i = 0; i < 10; i++) {
		expect(await head()).toBe(a.head);
		await ask("eth_call", {}, "latest");
		mine(nodes);
	}
	expect(b.calls).toEqual([]);
});

test("a node that fails is replaced within the same call, is not used for a while, and is used again once it responds", async () => {
	const { a, b, head, nodes, clock, changes, clear } = scene(2);
	await head();
	a.fault = () => failed();
	mine(nodes);
	expect(await head()).toBe(101);
	expect(changes).toEqual(["node-0 fails"]);
	clear();
	mine(nodes);
	await head();
	expect(a.calls).toEqual([]);
	a.fault = undefined;
	await clock.pass(60_000);
	for (let i = 0; i < 20; i++) {
		mine(nodes);
		await head();
	}
	expect(changes).toEqual(["node-0 fails", "node-0 back"]);
	expect(b.calls.length).toBeGreaterThan(0);
});

test("a node that limits requests gets none for exactly as long as it requires", async () => {
	const { a, head, nodes, clock, clear } = scene(2);
	await head();
	a.fault = () => limited(7_000);
	mine(nodes);
	await head();
	a.fault = undefined;
	clear();
	const untilMs = clock.nowMs() + 6_900;
	while (clock.nowMs() < untilMs) {
		mine(nodes);
		expect(await head()).toBe(nodes[1]?.head);
		await clock.pass(100);
	}
	expect(a.calls).toEqual([]);
	await clock.pass(1_000);
	for (let i = 0; i < 20; i++) {
		mine(nodes);
		await head();
	}
	expect(a.calls.length).toBeGreaterThan(0);
});

test("if all nodes limit requests, a read waits for the first one that is available again", async () => {
	const { nodes, head, clock } = scene(2);
	await head();
	for (const [i, node] of nodes.entries()) {
		node.fault = () => (clock.nowMs() < 1_003_000 ? limited(2_000 + i * 5_000) : undefined);
	}
	expect(await head()).toBe(100);
});

test("no response is behind an earlier one, because responses of a node that lags or jumps back are not used", async () => {
	const { a, b, ask, head, nodes, changes } = scene(2);
	await head();
	mine(nodes, 10);
	expect(await head()).toBe(110);
	a.head = 105;
	expect(await head()).toBe(110);
	expect(changes).toEqual(["node-0 steps back"]);
	expect(await ask("eth_call", {}, "latest")).toBe(110);
	b.fault = () => failed();
	// The only node that has reached block 110 is gone, so nothing is answered until another one has reached it.
	await expect(ask("eth_call", {}, "latest")).rejects.toThrow("no answer");
	a.head = 110;
	expect(await ask("eth_call", {}, "latest")).toBe(110);
});

test("a node that stops at a block is replaced within two polls", async () => {
	const { a, b, head, nodes } = scene(2);
	await head();
	mine(nodes);
	await head();
	mine([b], 3);
	const polls = [await head(), await head()];
	expect(polls).toContain(b.head);
	expect(a.head).toBeLessThan(b.head);
});

test("a head that all nodes have dropped is given up, because the chain itself reverted it", async () => {
	const { nodes, head } = scene(3);
	expect(await head()).toBe(100);
	for (const node of nodes) node.head = 98;
	expect(await head()).toBe(98);
	mine(nodes, 3);
	expect(await head()).toBe(101);
});

test("a read of a block by its hash goes only to nodes that have the block", async () => {
	const { a, b, c, ask, head, nodes } = scene(3);
	await head();
	mine([a, c]);
	await head();
	a.fault = ({ method }) => (method === "eth_getLogs" ? failed() : undefined);
	expect(await ask("eth_getLogs", { blockHash: "h101" })).toBe(101);
	expect(methods(b)).not.toContain("eth_getLogs");
	expect(methods(c)).toContain("eth_getLogs");
	expect(nodes).toHaveLength(3);
});

test("responses of a node that falls back after it reported the newest block are not used, and concurrent calls read its head once", async () => {
	const { a, head, ask, nodes, clock, pool, clear } = scene(2);
	mine(nodes, 10);
	await head();
	clear();
	await clock.pass(1_000);
	const call = { method: "eth_call", params: [{}, "latest"] };
	expect(await clock.run(Promise.all([1, 2, 3].map(() => pool.request(call))))).toEqual([110, 110, 110]);
	expect(methods(a).toSorted()).toEqual(["eth_blockNumber", "eth_call", "eth_call", "eth_call"]);
	a.head = 105;
	await clock.pass(1_000);
	expect(await ask("eth_call", {}, "latest")).toBe(110);
});

test("a response about a node's head is never returned as the response to another call", async () => {
	const { nodes, head, ask } = scene(3);
	await head();
	for (const node of nodes) node.head = 95;
	// Every node shows that it is behind before it gets the call. So the chain went back, and the call is still to be
	// made.
	expect(await ask("eth_call", {}, "latest")).toBe(95);
	for (const node of nodes) {
		node.fault = ({ method }) => (method === "eth_getBlockByHash" ? ok(null) : undefined);
	}
	await expect(ask("eth_getLogs", { blockHash: "h95" })).rejects.toThrow(
		"no node that answers has what eth_getLogs",
	);
	expect(nodes.flatMap(methods)).not.toContain("eth_getLogs");
});

test("nodes that are behind are not used while one that limits requests may be further", async () => {
	const { a, b, c, head, nodes, clock } = scene(3);
	mine(nodes, 10);
	expect(await head()).toBe(110);
	a.fault = () => (clock.nowMs() < 1_001_000 ? limited(1_500) : undefined);
	b.head = 105;
	c.head = 105;
	expect(await head()).toBe(110);
	a.fault = () => limited(5_000);
	await expect(head()).rejects.toThrow("no node that answers has");
});

test("a node that reports a block which no chain can have reached does not make the others count as behind", async () => {
	const { a, b, head, ask, changes } = scene(2);
	expect(await head()).toBe(100);
	a.head = 10 ** 12;
	mine([b]);
	expect(await head()).toBe(101);
	expect(changes).toContain("node-0 contradicts");
	a.fault = () => limited(30_000);
	mine([b]);
	expect(await head()).toBe(102);
	expect(await ask("eth_call", {}, "latest")).toBe(102);
});

test("a method is missing if the only node that has it does not answer", async () => {
	const { a, b, ask, head } = scene(2);
	await head();
	a.fault = ({ method }) =>
		method === "eth_simulateV1" ? refused("the method eth_simulateV1 does not exist", -32_601) : undefined;
	b.fault = () => failed();
	await expect(ask("eth_simulateV1", {}, "latest")).rejects.toThrow("does not exist");
});

test("a method is not missing if a node that limits requests may have it", async () => {
	const { a, b, ask, head, clock } = scene(2);
	await head();
	a.fault = ({ method }) =>
		method === "eth_simulateV1" ? refused("the method eth_simulateV1 does not exist", -32_601) : undefined;
	b.fault = () => (clock.nowMs() < 1_002_000 ? limited(1_500) : undefined);
	expect(await ask("eth_simulateV1", {}, "latest")).toBe(100);
});

test("an event that a node omits, or a receipt that it changes, is read from another node, and one that no block has is not used", async () => {
	const { a, b, ask, head, nodes, changes } = scene(3);
	const hash = `0x${"ab".repeat(32)}`;
	const event = { address: `0x${"11".repeat(20)}`, topics: [`0x${"22".repeat(32)}`] };
	// The bloom filter of a block with this event alone.
	const block = {
		number: hex(101),
		hash,
		logsBloom: bloomOf([event.address, ...event.topics]),
	};
	const receipt = { status: "0x1", logs: [event] };
	for (const node of nodes) {
		node.fault = ({ method, params }) =>
			method === "eth_getBlockByHash" || (method === "eth_getBlockByNumber" && params[0] === "latest")
				? ok(block)
				: method === "eth_getLogs"
					? ok([event])
					: method === "eth_getTransactionReceipt"
						? ok(receipt)
						: undefined;
		node.head = 101;
	}
	await head();
	const honest = a.fault;
	const logs = () => ask("eth_getLogs", { blockHash: hash, address: [event.address] });
	a.fault = (call) => (call.method === "eth_getLogs" ? ok([]) : honest?.(call));
	expect(await logs()).toEqual([event]);
	expect(changes).toEqual(["node-0 contradicts"]);
	b.fault = a.fault;
	// Two nodes that leave out the same are not trusted either, because few blocks have our address in their filter by
	// chance.
	expect(await logs()).toEqual([event]);
	const forged = { ...event, topics: [`0x${"33".repeat(32)}`] };
	b.fault = (call) => (call.method === "eth_getLogs" ? ok([event, forged]) : honest?.(call));
	expect(await logs()).toEqual([event]);
	for (const node of nodes) {
		const before = node.fault;
		const denied = { status: "0x0", logs: [] };
		node.fault = (call) =>
			call.method === "eth_getTransactionReceipt" && node !== nodes[2] ? ok(denied) : before?.(call);
	}
	await head();
	expect(await ask("eth_getTransactionReceipt", hash)).toEqual(receipt);
	// A block without events of the service costs no second request.
	const asked = () => nodes.flatMap(methods).filter((method) => method === "eth_getLogs").length;
	for (const node of nodes) node.fault = honest;
	const before = asked();
	for (const node of nodes) node.fault = (call) => (call.method === "eth_getLogs" ? ok([]) : honest?.(call));
	await ask("eth_getLogs", { blockHash: hash, address: [`0x${"44".repeat(20)}`] });
	expect(asked() - before).toBe(1);
});

test("if two nodes hang, a third one responds, and calls that began meanwhile do not wait for a share of hedges", async () => {
	const { a, b, head, nodes, clock, pool } = scene(3);
	for (let i = 0; i < 5; i++) {
		mine(nodes);
		await head();
	}
	a.delayMs = 20_000;
	b.delayMs = 20_000;
	const startedMs = clock.nowMs();
	const took = Array.from({ length: 40 }, async () => {
		await pool.request({ method: "eth_call", params: [{}, "latest"] });
		return clock.nowMs() - startedMs;
	});
	expect(Math.max(...(await clock.run(Promise.all(took))))).toBeLessThan(5_000);
});

test("a node that is always late is replaced, even though its late responses arrive", async () => {
	const { a, b, ask, head, nodes, clear, clock } = scene(2);
	await head();
	a.delayMs = 4_000;
	for (let i = 0; i < 20; i++) {
		mine(nodes);
		await head();
		await clock.pass(4_000);
	}
	clear();
	for (let i = 0; i < 10; i++) await ask("eth_call", {}, "latest");
	expect(a.calls.length).toBeLessThan(b.calls.length / 2);
});

test("a slow node is overtaken by another one, which then responds immediately", async () => {
	const { a, head, nodes, ask, clock } = scene(2);
	for (let i = 0; i < 5; i++) {
		mine(nodes);
		await head();
		await ask("eth_call", {}, "latest");
	}
	a.delayMs = 20_000;
	const tookMs = [];
	for (let i = 0; i < 3; i++) {
		const startedMs = clock.nowMs();
		await ask("eth_call", {}, "latest");
		tookMs.push(clock.nowMs() - startedMs);
	}
	expect(tookMs[0]).toBeLessThan(400);
	expect(Math.max(...tookMs.slice(1))).toBeLessThan(100);
});

test("a node that lacks a method does not get it again, and if all lack it, the caller gets the error", async () => {
	const { a, ask, nodes } = scene(2);
	a.fault = ({ method }) =>
		method === "eth_simulateV1" ? refused("the method eth_simulateV1 does not exist", -32_601) : undefined;
	for (let i = 0; i < 3; i++) await ask("eth_simulateV1", {}, "latest");
	expect(methods(a).filter((method) => method === "eth_simulateV1")).toHaveLength(1);
	for (const node of nodes) node.fault = a.fault;
	await expect(ask("eth_simulateV1", {}, "latest")).rejects.toThrow("does not exist");
	// The node gets the call again if no other node answers, because its provider may have changed.
	a.fault = undefined;
	for (const node of nodes.slice(1)) node.fault = () => failed();
	expect(await ask("eth_simulateV1", {}, "latest")).toBe(100);
});

test("a refusal of the call itself is the response, and no other node is queried", async () => {
	const { a, b, ask } = scene(2);
	a.fault = ({ method }) => (method === "eth_call" ? refused("execution reverted", 3) : undefined);
	await expect(ask("eth_call", {}, "latest")).rejects.toThrow("execution reverted");
	expect(methods(b)).not.toContain("eth_call");
});

test("a node of another chain gets no request except for its chain id", async () => {
	const { a, b, ask, head, changes } = scene(2);
	a.fault = ({ method }) => (method === "eth_chainId" ? ok("0x2") : undefined);
	a.head = 1_000;
	expect(await head()).toBe(100);
	await ask("eth_sendRawTransaction", "0x");
	expect(new Set(methods(a))).toEqual(new Set(["eth_chainId"]));
	expect(changes[0]).toBe("node-0 other chain");
	expect(b.calls.length).toBeGreaterThan(0);
});

test("a transaction goes to all nodes concurrently, and acceptance by one of them is enough", async () => {
	const { nodes, a, b, c, ask, clock } = scene(3);
	a.delayMs = 20_000;
	b.fault = ({ method }) => (method.startsWith("eth_send") ? refused("insufficient funds") : undefined);
	const startedMs = clock.nowMs();
	expect(await ask("eth_sendRawTransaction", "0x01")).toBe(c.head);
	expect(clock.nowMs() - startedMs).toBeLessThan(1_000);
	await clock.pass(60_000);
	for (const node of nodes) expect(methods(node)).toContain("eth_sendRawTransaction");
});

test("a transaction that one node refuses and another does not answer for is not refused, until only the first one is in use", async () => {
	const { a, b, ask } = scene(2);
	a.fault = ({ method }) => (method.startsWith("eth_send") ? refused("intrinsic gas too low") : undefined);
	b.fault = ({ method }) => (method.startsWith("eth_send") ? failed() : undefined);
	await expect(ask("eth_sendRawTransaction", "0x01")).rejects.toThrow("no answer");
	await expect(ask("eth_sendRawTransaction", "0x01")).rejects.toThrow("intrinsic gas too low");
	a.fault = ({ method }) => (method.startsWith("eth_send") ? refused("nonce too low") : undefined);
	await expect(ask("eth_sendRawTransaction", "0x01")).rejects.toThrow("nonce too low");
});

test("a pool of one node forwards everything, and retries a broken connection once", async () => {
	const { a, head, ask } = scene(1);
	let isBroken = true;
	a.fault = () => {
		if (!isBroken) return undefined;
		isBroken = false;
		return failed();
	};
	expect(await head()).toBe(100);
	a.head = 90;
	expect(await head()).toBe(90);
	expect(methods(a)).not.toContain("eth_chainId");
	a.fault = () => failed();
	await expect(ask("eth_call", {}, "latest")).rejects.toThrow("no answer");
});

test("heads never go back while one node is honest, regardless of the others' faults, and hedges are bounded", async () => {
	const fault = fc.constantFrom("none", "fails", "limits", "lags", "jumps", "slow");
	const steps = fc.array(fc.record({ node: fc.nat(2), fault, blocks: fc.nat(3) }), { maxLength: 30 });
	await fc.assert(
		fc.asyncProperty(steps, async (all) => {
			const { nodes, head, ask, clock } = scene(4);
			let highest = 0;
			let reads = 0;
			let truth = 100;
			for (const step of all) {
				truth += step.blocks;
				for (const node of nodes) if (!node.fault && node.delayMs < 100) node.head = truth;
				const faulty = nodes[step.node] as FakeNode;
				faulty.delayMs = step.fault === "slow" ? 20_000 : 10;
				faulty.fault =
					step.fault === "fails" ? () => failed() : step.fault === "limits" ? () => limited(500) : undefined;
				faulty.head = step.fault === "lags" || step.fault === "jumps" ? truth - 5 : truth;
				const shown = await head();
				const called = (await ask("eth_call", {}, "latest")) as number;
				expect(shown).toBeGreaterThanOrEqual(highest);
				expect(called).toBeGreaterThanOrEqual(shown);
				highest = shown;
				reads += 2;
				await clock.pass(200);
			}
			const asked = nodes.reduce((sum, { calls }) => sum + calls.length, 0);
			expect(asked).toBeLessThan(40 + reads * 5);
		}),
		{ numRuns: process.env.GEOSWAP_FULL ? 2_000 : 50 },
	);
});
