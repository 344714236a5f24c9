import { devTokenAbi, type LyingNode, startLyingNode } from "@geoswap/devnet";
import { createWalletClient, encodeFunctionData, http } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createSignerScene, type SignerScene } from "../../../test/signer/signer-scene.ts";

/** The maximum length of a node's response. The block in which the test puts many transactions is much longer. */
const maxAnswerLength = 2_000;
const transactions = 100;

const nodes: LyingNode[] = [];
let scene: SignerScene;
beforeAll(async () => {
	nodes.push(await startLyingNode(), await startLyingNode());
	scene = await createSignerScene({
		rpcUrlOf: ({ chainId, rpcUrl }) => {
			const node = nodes.find(({ targetUrl }) => ["", rpcUrl].includes(targetUrl));
			if (!node) throw new Error(`chain ${chainId} has no node`);
			node.targetUrl = rpcUrl;
			return node.url;
		},
	});
}, 240_000);
afterEach(() => {
	for (const node of nodes) node.liar = undefined;
});
afterAll(async () => {
	await scene?.stop();
	await Promise.all(nodes.map((node) => node.stop()));
});

/** Puts many transactions of a stranger, each with a log, into one block of each EVM chain, and makes the block final. */
async function fillBlocks(): Promise<void> {
	const { origin, destination } = scene.chains;
	const account = scene.actions.wallet;
	for (const chain of [origin, destination]) {
		const { testClient, publicClient, deployment, rpcUrl } = chain;
		await testClient.setBalance({ address: account.address, value: 10n ** 20n });
		const client = createWalletClient({ account, chain: chain.chain, transport: http(rpcUrl) });
		const from = await publicClient.getTransactionCount({ address: account.address });
		const data = encodeFunctionData({
			abi: devTokenAbi,
			functionName: "approve",
			args: [account.address, 1n],
		});
		await testClient.setAutomine(false);
		for (let i = 0; i < transactions; i++)
			await client.sendTransaction({ to: deployment.settlementToken, data, gas: 100_000n, nonce: from + i });
		await testClient.mine({ blocks: 1 });
		const { transactions: mined } = await publicClient.getBlock();
		expect(JSON.stringify(mined).length).toBeGreaterThan(maxAnswerLength);
		await testClient.setAutomine(true);
		// Two epochs of two blocks follow it, so it is the newest final block.
		await testClient.mine({ blocks: 4 });
		const final = await publicClient.getBlock({ blockTag: "finalized" });
		expect(final.transactions).toHaveLength(transactions);
	}
}

test("a block full of a stranger's logs stops no proof, even if a node refuses long answers", async () => {
	const [opened, filled] = [await scene.opened(), await scene.opened()];
	expect(await scene.fill(filled)).toBe("signed");
	await scene.actions.voidOrder(filled);
	await fillBlocks();
	for (const node of nodes) {
		node.calls.length = 0;
		node.liar = (_, result) =>
			JSON.stringify(result ?? null).length > maxAnswerLength
				? { error: { code: -32_005, message: "query returned more than 2000 bytes" } }
				: undefined;
	}
	expect(await scene.fill(opened)).toBe("signed");
	expect(await scene.attest("Refund", filled)).toBe("signed");
	// Each call is about one order or one price. No call reads a block or a range of logs.
	expect(new Set(nodes.flatMap(({ calls }) => calls.map(({ method }) => method)))).toEqual(
		new Set(["eth_call"]),
	);
});

test.each([
	["refuses the answer for its size", { error: { code: -32_005, message: "response too large" } }],
	["limits requests", { status: 429 }],
	["answers with nothing", { result: "0x" }],
	["cuts the answer off", { result: "0x01" }],
])("a node that %s proves nothing, and the same payload is signed once it answers", async (_, lie) => {
	const [opened, filled] = [await scene.opened(), await scene.opened()];
	expect(await scene.fill(filled)).toBe("signed");
	await scene.closeOrder(filled);
	for (const node of nodes) node.liar = () => lie;
	expect(await scene.fill(opened)).toBe("unproven");
	expect(await scene.attest("Refund", filled)).toBe("unproven");
	const problems = scene.signer().lines.flatMap(({ msg, problem }) => (msg === "refused" ? [problem] : []));
	for (const problem of problems.slice(-2)) expect(problem).toMatch("a chain does not answer the signer");
	for (const node of nodes) node.liar = undefined;
	expect(await scene.fill(opened)).toBe("signed");
	expect(await scene.attest("Refund", filled)).toBe("signed");
});
