import { type Liar, type LyingNode, startLyingNode, startTestChains, type TestChains } from "@geoswap/devnet";
import { geoEscrowAbi, type Order, orderId } from "@geoswap/protocol";
import { decodeEventLog, encodeEventTopics, type Hex, numberToHex, parseAbiItem, zeroHash } from "viem";
import { encodeAbiParameters } from "viem/utils";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { orderActions } from "../../../../test/order/order-actions.ts";
import type { ToldDeposit } from "../../deposit-sight.ts";
import { connectChain } from "../connect-chain.ts";
import { readBlock } from "./read-block.ts";
import { readDeposit } from "./read-deposit.ts";

let chains: TestChains;
let node: LyingNode;
let told: ToldDeposit;
let actions: ReturnType<typeof orderActions>;

beforeAll(async () => {
	chains = await startTestChains();
	node = await startLyingNode({ targetUrl: chains.origin.rpcUrl });
	actions = orderActions(chains);
	told = await deposit(await actions.makeOrder());
});
afterAll(async () => {
	await node?.stop();
	await chains?.stop();
});
beforeEach(() => {
	node.liar = undefined;
	node.calls.length = 0;
});

async function deposit(order: Order): Promise<ToldDeposit> {
	const { blockHash, blockNumber, transactionHash } = await actions.open(order);
	await chains.origin.testClient.mine({ blocks: 2 });
	return { orderId: orderId(order), order, blockNumber: Number(blockNumber), blockHash, transactionHash };
}

const second = ({ timeoutMs = 2_000 } = {}) =>
	connectChain({ ...chains.origin, rpcUrl: node.url, timeoutMs });

test("a provider with the same deposit agrees and reports its own head, in four calls", async () => {
	const chain = second();
	const [latest, finalized] = await Promise.all([readBlock(chain, "latest"), readBlock(chain, "finalized")]);
	node.calls.length = 0;
	expect(await readDeposit(chain, told)).toEqual({
		verdict: "agrees",
		headNumber: latest.number,
		finalizedNumber: finalized.number,
	});
	expect(node.calls.map(({ method }) => method).toSorted()).toEqual([
		"eth_getBlockByNumber",
		"eth_getBlockByNumber",
		"eth_getBlockByNumber",
		"eth_getLogs",
	]);
});

type RpcLog = { topics: [Hex, ...Hex[]]; data: Hex; transactionHash: Hex };

/** The deposit's event, with other terms. */
function withTerms(log: RpcLog, change: Record<string, unknown>): RpcLog {
	const { args } = decodeEventLog({ abi: geoEscrowAbi, eventName: "Opened", ...log });
	const opened = geoEscrowAbi.find((item) => item.type === "event" && item.name === "Opened");
	const terms = opened?.inputs.find((input) => input.name === "terms");
	if (!terms) throw new Error("the event has terms");
	return { ...log, data: encodeAbiParameters([terms], [{ ...args.terms, ...change }] as never) };
}

const logsThat =
	(change: (log: RpcLog) => RpcLog | undefined): Liar =>
	({ method }, result) =>
		method === "eth_getLogs"
			? { result: (result as RpcLog[]).flatMap((log) => change(log) ?? []) }
			: undefined;

const blockThat =
	(change: (block: Record<string, unknown>, which: unknown) => unknown): Liar =>
	({ method, params }, result) =>
		method === "eth_getBlockByNumber"
			? { result: change(result as Record<string, unknown>, params[0]) }
			: undefined;

const other: Hex = `0x${"ee".repeat(32)}`;
const otherTopic = encodeEventTopics({ abi: [parseAbiItem("event Other()")] })[0];

test.each<[string, Liar, object]>([
	[
		"another block there",
		blockThat((block, which) => (String(which).startsWith("0x") ? { ...block, hash: other } : block)),
		{ verdict: "differs", how: expect.stringContaining(other) },
	],
	["no deposit in the block", logsThat(() => undefined), { how: "the block has no such deposit" }],
	[
		"another event in its place",
		logsThat((log) => ({ ...log, topics: [otherTopic] })),
		{ how: "the block has no such deposit" },
	],
	[
		"a deposit of another order",
		logsThat((log) => ({
			...log,
			topics: [log.topics[0], other, ...log.topics.slice(2)] as RpcLog["topics"],
		})),
		{ how: "the block has no such deposit" },
	],
	[
		"another transaction",
		logsThat((log) => ({ ...log, transactionHash: zeroHash })),
		{ how: `the deposit is in transaction ${zeroHash}` },
	],
	[
		"another amount",
		logsThat((log) => withTerms(log, { inputAmount: 9_999_999n })),
		{ how: "the order has another inputAmount" },
	],
	[
		"another recipient",
		logsThat((log) => withTerms(log, { recipient: other })),
		{ how: "the order has another recipient" },
	],
	[
		"another minimum and destination",
		logsThat((log) => withTerms(log, { minOutput: 1n, destinationChainId: 5n })),
		{ how: "the order has another destinationChainId, minOutput" },
	],
])("a provider that has %s does not agree", async (_, liar, said) => {
	node.liar = liar;
	expect(await readDeposit(second(), told)).toMatchObject({ verdict: "differs", ...said });
	node.liar = undefined;
	expect(await readDeposit(second(), told)).toMatchObject({ verdict: "agrees" });
});

test("an event with another wallet is a different deposit", async () => {
	const wallet = `0x${"0".repeat(24)}${"ee".repeat(20)}` as Hex;
	node.liar = logsThat((log) => ({
		...log,
		topics: log.topics.map((topic, i) => (i === 2 ? wallet : topic)) as RpcLog["topics"],
	}));
	expect(await readDeposit(second(), told)).toEqual({
		verdict: "differs",
		how: "the order has another wallet",
	});
});

test("a provider whose head is before the deposit, or that lacks its block, is behind", async () => {
	const number = numberToHex(told.blockNumber - 1);
	node.liar = blockThat((block, which) => (which === "latest" ? { ...block, number } : block));
	expect(await readDeposit(second(), told)).toEqual({ verdict: "behind" });
	node.liar = blockThat((block, which) => (String(which).startsWith("0x") ? null : block));
	expect(await readDeposit(second(), told)).toEqual({ verdict: "behind" });
});

test("a provider that responds with an error, or too late, gives no verdict", async () => {
	node.liar = () => ({ error: { code: -32000, message: "no" } });
	await expect(readDeposit(second(), told)).rejects.toThrow();
	node.liar = ({ method }) => (method === "eth_getLogs" ? "nothing" : undefined);
	await expect(readDeposit(second({ timeoutMs: 100 }), told)).rejects.toThrow("took too long");
});

test("a deposit that a reorg moved to another block does not match the reported one", async () => {
	const snapshot = await chains.origin.testClient.snapshot();
	const order = await actions.makeOrder();
	const before = await deposit(order);
	expect(await readDeposit(second(), before)).toMatchObject({ verdict: "agrees" });
	await chains.origin.testClient.revert({ id: snapshot });
	await chains.origin.testClient.mine({ blocks: 1 });
	const after = await deposit(order);
	expect(await readDeposit(second(), before)).toMatchObject({ verdict: "differs" });
	expect(await readDeposit(second(), after)).toMatchObject({ verdict: "agrees" });
});
