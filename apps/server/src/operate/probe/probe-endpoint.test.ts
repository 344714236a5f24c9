import { type Liar, type LyingNode, startLyingNode, startTestChains, type TestChains } from "@geoswap/devnet";
import {
	type Address,
	createPublicClient,
	createWalletClient,
	hexToBigInt,
	http,
	numberToHex,
	parseEther,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judgeFeeModel, judgeFinality, judgeMethods } from "./judge-methods.ts";
import { measureFeeModel } from "./measure-fee-model.ts";
import { measureLogRange } from "./measure-log-range.ts";
import { probeEndpoint } from "./probe-endpoint.ts";
import { probeMethods } from "./probe-methods.ts";

let chains: TestChains;
let node: LyingNode;
/** The block of the transaction of each sender. */
const blockOf = new Map<string, bigint>();
beforeAll(async () => {
	chains = await startTestChains({ automine: true });
	node = await startLyingNode({ targetUrl: chains.origin.rpcUrl });
	await sendSome();
});
afterAll(async () => {
	await node.stop();
	await chains.stop();
});

const clientOf = (liar?: Liar) => {
	node.liar = liar;
	return createPublicClient({ transport: http(node.url, { retryCount: 0 }), cacheTime: 0 });
};

test("an endpoint's facts are measured, and each includes the method of its measurement", async () => {
	const { chainId, rpcUrl } = chains.origin;
	// The probe waits for a block by websocket, and the chain mines one only on request.
	const mining = setInterval(() => void chains.origin.testClient.mine({ blocks: 1 }).catch(() => {}), 200);
	const facts = await probeEndpoint({
		url: rpcUrl,
		chainId,
		webSocketUrl: rpcUrl.replace("http", "ws"),
	}).finally(() => clearInterval(mining));
	expect(facts).toMatchObject({
		chainId: { value: chainId },
		clientVersion: { value: expect.stringMatching(/^anvil/) },
		simulation: { value: { method: "eth_simulateV1", takesAuthorizations: true } },
		latencyMs: { value: { p50: expect.any(Number), p95: expect.any(Number) } },
		blockSeconds: { value: expect.any(Number) },
		finality: { value: { blocks: expect.any(Number), seconds: expect.any(Number) } },
		newHeads: { value: true },
		feeModel: { value: "eip1559" },
	});
	expect(Object.entries(facts.methods).filter(([, { value }]) => !value)).toEqual([]);
	expect(facts.logRangeBlocks.value).toBeGreaterThan(1);
	for (const { how } of Object.values({ ...facts, ...facts.methods }) as { how?: string }[]) {
		if (how !== undefined) expect(how).not.toBe("");
	}
	expect(judgeMethods(facts).map(({ result }) => result)).toEqual(["ok"]);
});

test("an endpoint of another chain is refused before anything else is measured", async () => {
	await expect(probeEndpoint({ url: chains.origin.rpcUrl, chainId: 8453 })).rejects.toThrow(/not 8453/);
});

test("the report about a node that lacks methods names what the service could not do with it", async () => {
	const lacks = ["eth_simulateV1", "debug_traceCall", "eth_feeHistory"];
	const refused = { error: { code: -32_601, message: "the method does not exist" } };
	const client = clientOf(({ method, params }) => {
		const isFinalized = method === "eth_getBlockByNumber" && params[0] === "finalized";
		return isFinalized || lacks.includes(method) ? refused : undefined;
	});
	node.takesBatches = false;
	const { chainId } = chains.origin;
	const found = await probeMethods({ url: node.url, chainId, client });
	const missing = Object.entries(found.methods).flatMap(([method, { value }]) => (value ? [] : [method]));
	expect(missing.toSorted()).toEqual([...lacks, "batch", "finalized"].toSorted());
	expect(found.simulation.value).toEqual({ method: "eth_call", takesAuthorizations: false });
	const resultsOf = (...judged: Parameters<typeof judgeMethods>) =>
		judgeMethods(...judged).map(({ result }) => result);
	expect(resultsOf(found)).toEqual(["fail", "warn", "warn", "ok"]);
	const none = { ...found, simulation: { value: undefined, how: "" } };
	expect(resultsOf(none).at(-1)).toBe("fail");

	// It is not a problem of the chain if another of its nodes has what this one lacks.
	node.takesBatches = true;
	const whole = await probeMethods({ url: node.url, chainId, client: clientOf() });
	expect(resultsOf(none, [none])).toEqual(resultsOf(none));
	expect(resultsOf(none, [none, whole])).toEqual(["warn", "warn", "warn", "warn"]);
	expect(resultsOf(whole, [none])).toEqual(["ok"]);
});

test("the largest range of logs that a node takes is found by halving", async () => {
	await chains.origin.testClient.mine({ blocks: 100 });
	const client = clientOf(({ method, params }) => {
		if (method !== "eth_getLogs") return undefined;
		const [{ fromBlock, toBlock }] = params as [{ fromBlock: `0x${string}`; toBlock: `0x${string}` }];
		const blocks = hexToBigInt(toBlock) - hexToBigInt(fromBlock) + 1n;
		return blocks > 20n ? { error: { code: -32_000, message: "range too large" } } : undefined;
	});
	const { value, how } = await measureLogRange(client);
	expect(value).toBeGreaterThanOrEqual(10);
	expect(value).toBeLessThanOrEqual(20);
	expect(how).toContain("over twice as many");
	const none = clientOf(({ method }) =>
		method === "eth_getLogs" ? { error: { code: -32_000, message: "disabled" } } : undefined,
	);
	expect((await measureLogRange(none)).value).toBe(0);
});

test("the fee model is the one that matches the payments of three senders, and another one is refused", async () => {
	await sendSome();
	const l1Fee = 55n;
	/** Gives receipts these fields, and takes this much more from each transaction's sender. */
	const charging =
		(fields: Record<string, string>, extra: bigint): Liar =>
		({ method, params }, result) => {
			if (method === "eth_getTransactionReceipt") return { result: { ...(result as object), ...fields } };
			if (method !== "eth_getBalance") return undefined;
			const [address, tag] = params as [Address, `0x${string}`];
			const isCharged = blockOf.get(address.toLowerCase()) === hexToBigInt(tag);
			return isCharged ? { result: numberToHex(hexToBigInt(result as `0x${string}`) - extra) } : undefined;
		};
	const measured = {
		eip1559: await measureFeeModel(clientOf()),
		"op-stack": await measureFeeModel(clientOf(charging({ l1Fee: numberToHex(l1Fee) }, l1Fee))),
		arbitrum: await measureFeeModel(clientOf(charging({ gasUsedForL1: "0x10" }, 0n))),
	};
	for (const [kind, { value, receipts }] of Object.entries(measured)) {
		expect(value).toBe(kind);
		expect(receipts).toHaveLength(3);
	}
	expect(judgeFeeModel(measured["op-stack"], { kind: "op-stack" }).result).toBe("ok");
	expect(judgeFeeModel(measured["op-stack"], { kind: "eip1559" }).result).toBe("fail");
	expect(judgeFeeModel(measured.arbitrum, { kind: "eip1559" }).result).toBe("fail");

	// A chain with a charge that no model has fits none.
	const unknown = await measureFeeModel(clientOf(charging({ l1Fee: numberToHex(l1Fee) }, l1Fee + 1n)));
	expect(unknown.value).toBeUndefined();
	expect(judgeFeeModel(unknown, { kind: "op-stack" }).result).toBe("warn");
});

test("finality that is slower than configured is a warning", () => {
	const seen = { value: { blocks: 10, seconds: 20 }, how: "" };
	expect(judgeFinality(seen, { finalitySeconds: 20 }).result).toBe("ok");
	expect(judgeFinality(seen, { finalitySeconds: 19 }).result).toBe("warn");
	expect(judgeFinality({ value: undefined, how: "" }, { finalitySeconds: 19 }).result).toBe("warn");
});

/** Sends three transactions of accounts that send nothing else, each in its own block. */
async function sendSome(): Promise<void> {
	const { testClient, chain, rpcUrl, publicClient } = chains.origin;
	const accounts = [1, 2, 3].map(() => privateKeyToAccount(generatePrivateKey()));
	for (const { address } of accounts) await testClient.setBalance({ address, value: parseEther("1") });
	// The balances become part of the chain's history only with the next block.
	await testClient.mine({ blocks: 1 });
	for (const account of accounts) {
		const wallet = createWalletClient({ account, chain, transport: http(rpcUrl) });
		const hash = await wallet.sendTransaction({ to: chains.origin.deployment.contracts.vault, value: 5n });
		const { blockNumber } = await publicClient.waitForTransactionReceipt({ hash });
		blockOf.set(account.address.toLowerCase(), blockNumber);
	}
}
