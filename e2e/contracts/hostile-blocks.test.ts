import {
	type LyingNode,
	startLyingNode,
	startTestChains,
	type TestChain,
	type TestChains,
} from "@geoswap/devnet";
import {
	geoEscrowAbi,
	geoVaultAbi,
	type Order,
	orderTerms,
	type SwapReceipt,
	unpackDeadlines,
} from "@geoswap/protocol";
import { verifyReceipt } from "@geoswap/sdk/receipt";
import { findOrders } from "@geoswap/sdk/rescue";
import {
	type Address,
	concatHex,
	createPublicClient,
	createWalletClient,
	encodeFunctionData,
	type Hash,
	type Hex,
	http,
	parseEther,
	zeroAddress,
} from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attest } from "../wallet/attest.ts";
import { assetAddress, makeOrder } from "../wallet/make-order.ts";
import { signReceipt } from "../wallet/sign-receipt.ts";

// One block has more foreign logs than any node returns in one response, and floods of the service's own escrow's
// events. The deposit of a swap and a stranger's dust are in it too. Later, a third party refunds a second order in a
// transaction full of logs.

const key = privateKeyToAccount(generatePrivateKey());
const wallet = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());
const noise: Address = "0x00000000000000000000000000000000000a0153";

let chains: TestChains;
let origin: TestChain;
let node: LyingNode;
let settled: SwapReceipt;
let refunded: SwapReceipt;
beforeAll(async () => {
	chains = await startTestChains({ automine: true });
	origin = chains.origin;
	node = await startLyingNode({ targetUrl: origin.rpcUrl });
	await makeHostileHistory();
}, 120_000);
afterAll(async () => {
	await node?.stop();
	await chains?.stop();
});

test("the block's receipts and the refund's receipt are larger than the client accepts, so the attack is real", async () => {
	const sizeOf = async (method: string, param: string) => {
		const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [param] });
		const headers = { "content-type": "application/json" };
		return (await (await fetch(origin.rpcUrl, { method: "POST", headers, body })).text()).length;
	};
	const { blockNumber } = await origin.publicClient.getTransaction({ hash: settled.originTxHash as Hash });
	expect(await sizeOf("eth_getBlockReceipts", `0x${blockNumber?.toString(16)}`)).toBeGreaterThan(10_485_760);
	expect(await sizeOf("eth_getTransactionReceipt", refunded.refundTxHash ?? "")).toBeGreaterThan(10_485_760);
});

const caps = {
	"returns everything": {},
	"returns at most one log": { logs: 1 },
	"returns at most 100 logs": { logs: 100 },
	"returns at most 10,000 logs": { logs: 10_000 },
	"returns at most 64 kB": { bytes: 64_000 },
	"returns at most 2 MB": { bytes: 2_000_000 },
};

test.each(Object.entries(caps))(
	"from a provider that %s, both receipts verify and both orders are found",
	async (_, cap) => {
		capNode(cap);
		const { destination } = chains;
		const pins = { chains: [origin.deployment, destination.deployment], receiptSigners: [key.address] };
		const rpcUrls = { [origin.chainId]: node.url, [destination.chainId]: destination.rpcUrl };
		for (const receipt of [settled, refunded]) {
			await expect(verifyReceipt(receipt, { pins, rpcUrls })).resolves.toMatchObject({ notShown: [] });
		}
		const found = await findOrders(clientOfNode(), {
			chain: origin.deployment,
			wallet: wallet.address,
			sinceMs: 0,
		});
		expect(found.map((one) => one.orderId)).toEqual([refunded.orderId, settled.orderId]);
	},
);

function clientOfNode() {
	return createPublicClient({ transport: http(node.url, { retryCount: 0 }) });
}

/** Makes the node refuse answers with more logs or bytes, as providers do. */
function capNode({ logs = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY }): void {
	node.liar = ({ method }, result) => {
		const isTooMuch =
			(method === "eth_getLogs" && (result as unknown[]).length > logs) ||
			(JSON.stringify(result) ?? "").length > bytes;
		return isTooMuch ? { error: { code: -32_000, message: "response size exceeded" } } : undefined;
	};
}

async function makeHostileHistory(): Promise<void> {
	const { destination, keys } = chains;
	const { escrow } = origin.deployment.contracts;
	const relayer = privateKeyToAccount(keys.relayers[0] ?? "0x");
	for (const { address } of [wallet, stranger]) {
		await origin.testClient.setBalance({ address, value: parseEther("1000") });
	}
	// JUMPDEST; 32 times an empty log; again while more than 500,000 gas is left; then the calldata goes to the escrow.
	const loop = concatHex([`0x5b${"5f5fa0".repeat(32)}`, "0x6207a1205a115f57"]);
	const forward = concatHex(["0x365f5f375f5f365f5f73", escrow, "0x5af100"]);
	await origin.testClient.setCode({ address: noise, bytecode: concatHex([loop, forward]) });

	await origin.testClient.setBlockGasLimit({ gasLimit: 60_000_000n });
	await origin.testClient.setAutomine(false);
	const skipping = await skips(200);
	const first = await make();
	const opened = await send(wallet, { data: openOf(first), value: first.inputAmount });
	await send(stranger, { to: noise, data: "0x", gas: 15_000_000n, nonce: 0 });
	await send(stranger, { data: skipping, gas: 10_000_000n, nonce: 1 });
	const dust = Array.from({ length: 100 }, (_, i) => ({
		...first,
		inputAmount: 1n,
		minOutput: BigInt(i + 1),
	}));
	await Promise.all(
		dust.map((order, i) => send(stranger, { data: openOf(order), value: 1n, gas: 200_000n, nonce: i + 2 })),
	);
	await origin.testClient.mine({ blocks: 1 });
	await origin.testClient.setAutomine(true);

	const item = { order: first, amount: 9_950_000n, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
	const filled = await createWalletClient({
		account: relayer,
		chain: destination.chain,
		transport: http(destination.rpcUrl),
	}).writeContract({
		address: destination.deployment.contracts.vault,
		abi: geoVaultAbi,
		functionName: "fillMany",
		args: [[item]],
		gas: 1_000_000n,
	});
	settled = await signReceipt(key, first, {
		status: "settled",
		originTxHash: opened,
		deliveryTxHash: filled,
		deliveredAmount: "9950000",
	});

	const second = await make();
	const openedSecond = await send(wallet, { data: openOf(second), value: second.inputAmount });
	// The node mines after it has returned the hash. In a block after `refundAfter` the order would not be opened.
	await origin.publicClient.waitForTransactionReceipt({ hash: openedSecond });
	await origin.testClient.setNextBlockTimestamp({
		timestamp: unpackDeadlines(second.deadlines).refundAfter + 1n,
	});
	const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [second] });
	const refundTxHash = await send(stranger, { to: noise, data, gas: 15_000_000n });
	refunded = await signReceipt(key, second, { status: "refunded", originTxHash: openedSecond, refundTxHash });
	for (const { testClient } of [origin, destination]) await testClient.mine({ blocks: 100 });
}

function make(): Promise<Order> {
	return makeOrder({
		chains,
		wallet: wallet.address,
		inputToken: zeroAddress,
		outputToken: assetAddress(chains.destination, "USDC"),
	});
}

function openOf(order: Order): Hex {
	return encodeFunctionData({ abi: geoEscrowAbi, functionName: "open", args: [orderTerms(order)] });
}

/** Returns a call that refunds orders which were never opened. The escrow emits one event for each. */
async function skips(count: number): Promise<Hex> {
	const order = await make();
	const orders = Array.from({ length: count }, (_, i) => ({ ...order, minOutput: BigInt(i + 1) }));
	const attestation = await attest({ chain: origin, keys: chains.keys, kind: "Refund", orders });
	return encodeFunctionData({ abi: geoEscrowAbi, functionName: "refundMany", args: [orders, attestation] });
}

/** Sends a transaction to the escrow, or elsewhere, without reading its receipt, which may be too large. */
function send(
	account: PrivateKeyAccount,
	{
		to = origin.deployment.contracts.escrow,
		data,
		value = 0n,
		gas = 500_000n,
		nonce,
	}: { to?: Address; data: Hex; value?: bigint; gas?: bigint; nonce?: number },
): Promise<Hash> {
	const client = createWalletClient({ account, chain: origin.chain, transport: http(origin.rpcUrl) });
	return client.sendTransaction({ to, data, value, gas, ...(nonce !== undefined && { nonce }) });
}
