import { type Liar, type LyingNode, startLyingNode } from "@geoswap/devnet";
import { orderAddress, orderId, type SolanaAddress, toSolanaWord } from "@geoswap/protocol";
import { zeroHash } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { solanaOrderActions } from "../../../../test/follow/solana-order-actions.ts";
import {
	createSolanaScene,
	depositOrder,
	newSolanaWallet,
	type SolanaScene,
} from "../../../../test/lane/solana-lane-scene.ts";
import type { ToldDeposit } from "../../deposit-sight.ts";
import { connectSolana, type SolanaChain } from "../connect-solana.ts";
import { readSolanaDeposit } from "./read-solana-deposit.ts";

let scene: SolanaScene;
let node: LyingNode;
let second: SolanaChain;
let told: ToldDeposit;
/** The owner of the token account that has the order's input. */
let orderAccount: SolanaAddress;

beforeAll(async () => {
	scene = await createSolanaScene();
	const { rpcUrl, deployment } = scene.solana;
	node = await startLyingNode({ targetUrl: rpcUrl });
	second = connectSolana({ rpcUrl: node.url, deployment, timeoutMs: 2_000 });
	const wallet = await newSolanaWallet(scene, [{ symbol: "USDC", amount: 10_000_000n }]);
	const order = depositOrder(scene, { wallet: toSolanaWord(wallet.address) });
	const actions = solanaOrderActions(scene);
	const opened = await actions.open(order, wallet);
	const blockNumber = await actions.landed(opened);
	const place = { blockNumber, blockHash: zeroHash, transactionHash: opened.signature };
	told = { orderId: orderId(order), order, ...place };
	orderAccount = await orderAddress(deployment.program.address, told.orderId);
});
afterAll(async () => {
	await node?.stop();
	await scene?.stop();
});
beforeEach(() => {
	node.liar = undefined;
});

test("a provider with the same transaction in the same slot agrees and reports its own head", async () => {
	const sight = await readSolanaDeposit(second, told);
	expect(sight).toEqual({
		verdict: "agrees",
		headNumber: expect.any(Number),
		finalizedNumber: expect.any(Number),
	});
	if (sight.verdict !== "agrees") throw new Error("it agrees");
	expect(sight.headNumber).toBeGreaterThanOrEqual(told.blockNumber);
	expect(sight.finalizedNumber).toBeLessThanOrEqual(sight.headNumber);
});

type Transaction = { slot: number; meta: { err: unknown; postTokenBalances: TokenBalance[] } };
type TokenBalance = { owner: string; uiTokenAmount: { amount: string } };

const transactionThat =
	(change: (transaction: Transaction) => unknown): Liar =>
	({ method }, result) =>
		method === "getTransaction" ? { result: change(result as Transaction) } : undefined;

/** Returns the transaction as if the order had received one unit less. */
function oneLess(transaction: Transaction): Transaction {
	const { meta } = transaction;
	const postTokenBalances = meta.postTokenBalances.map((balance) => {
		if (balance.owner !== orderAccount) return balance;
		const amount = String(BigInt(balance.uiTokenAmount.amount) - 1n);
		return { ...balance, uiTokenAmount: { ...balance.uiTokenAmount, amount } };
	});
	return { ...transaction, meta: { ...meta, postTokenBalances } };
}

/** Answers as a node that never had the transaction, and that is final up to its slot already. */
function gone({ method }: Parameters<Liar>[0], result: unknown): ReturnType<Liar> {
	if (method === "getEpochInfo") {
		return { result: { ...(result as object), absoluteSlot: told.blockNumber } };
	}
	if (method === "getSignatureStatuses") return { result: { ...(result as object), value: [null] } };
	return method === "getTransaction" ? { result: null } : undefined;
}

test.each<[string, Liar]>([
	[
		"is not final up to the slot yet",
		(call, result) => {
			const isFinal = !JSON.stringify(call.params).includes("confirmed");
			if (call.method !== "getEpochInfo" || !isFinal) return gone(call, result);
			return { result: { ...(result as object), absoluteSlot: told.blockNumber - 1 } };
		},
	],
	[
		"knows its status",
		(call, result) => (call.method === "getSignatureStatuses" ? undefined : gone(call, result)),
	],
	[
		"has pruned the blocks of that time",
		(call, result) =>
			call.method === "getFirstAvailableBlock" ? { result: told.blockNumber + 1 } : gone(call, result),
	],
])("a provider that does not have the transaction, but %s, is behind", async (_, liar) => {
	node.liar = liar;
	expect(await readSolanaDeposit(second, told)).toEqual({ verdict: "behind" });
});

test.each<[string, Liar, string]>([
	["is final past the slot and has no such transaction", gone, "it returns no such transaction"],
	["has it in another slot", transactionThat((landed) => ({ ...landed, slot: 3 })), "is in slot 3"],
	[
		"has it as one that failed",
		transactionThat((landed) => ({ ...landed, meta: { ...landed.meta, err: "AccountInUse" } })),
		"the transaction failed",
	],
	["reports that the order received less", transactionThat(oneLess), "received 9999999 of 10000000"],
])("a provider that %s does not agree", async (_, liar, how) => {
	node.liar = liar;
	expect(await readSolanaDeposit(second, told)).toEqual({
		verdict: "differs",
		how: expect.stringContaining(how),
	});
	node.liar = undefined;
	expect(await readSolanaDeposit(second, told)).toMatchObject({ verdict: "agrees" });
});

test("a provider that has not reached the slot is behind", async () => {
	const absoluteSlot = told.blockNumber - 1;
	node.liar = ({ method }, result) =>
		method === "getEpochInfo" ? { result: { ...(result as object), absoluteSlot } } : undefined;
	expect(await readSolanaDeposit(second, told)).toEqual({ verdict: "behind" });
});

test("a provider that responds with an error, or too late, gives no verdict", async () => {
	node.liar = () => ({ error: { code: -32_000, message: "no" } });
	await expect(readSolanaDeposit(second, told)).rejects.toThrow();
	node.liar = () => "nothing";
	const { deployment } = second;
	const hasty = connectSolana({ rpcUrl: node.url, deployment, timeoutMs: 100 });
	await expect(readSolanaDeposit(hasty, told)).rejects.toThrow();
});
