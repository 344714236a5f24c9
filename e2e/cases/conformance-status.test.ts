import { setTimeout as sleep } from "node:timers/promises";
import { failureCodes, isTerminal, type StatusResponse, statusResponseSchema } from "@geoswap/protocol";
import { type Hex, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { beforeAll, type ExpectStatic, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { type SignedSwap, type SwapCaller, signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { holding } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { holdBack } from "../trouble/hold-back.ts";
import { assetAddress } from "../wallet/make-order.ts";

const ten = parseUnits("10", 6);
const askEveryMs = 150;
/** Tolerated delay on a busy machine. */
const lateMs = 3_000;

let environment: Environment;
let client: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

async function signed({
	token = "USDC",
	recipient,
}: {
	token?: string;
	recipient?: string;
} = {}): Promise<[SwapCaller, SignedSwap]> {
	const { origin, destination, deployment: pins } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: ten });
	const caller = { client, pins, account };
	const from = { chain: origin, token: "USDC", amount: ten };
	const to = { chain: destination, token };
	return [caller, await signSwap(caller, swapIntent({ from, to, account, ...(recipient && { recipient }) }))];
}

async function ask(
	expect: ExpectStatic,
	swapId: string,
	query = "",
): Promise<StatusResponse & { tookMs: number }> {
	const startedMs = performance.now();
	const { status, headers, body } = await callApi(client, `/swap/status/${swapId}${query}`);
	expect(status).toBe(200);
	expect(headers["content-type"]).toMatch(/^application\/json\b/);
	expect(JSON.stringify(body)).not.toContain("null");
	const swap = statusResponseSchema.strict().parse(body) as StatusResponse;
	expect(swap.swapId).toBe(swapId);
	return { ...swap, tookMs: performance.now() - startedMs };
}

/** Returns all answers without waiting, until the end. */
async function watch(expect: ExpectStatic, swapId: string): Promise<StatusResponse[]> {
	const answers: StatusResponse[] = [];
	for (;;) {
		const { tookMs, ...swap } = await ask(expect, swapId, "?wait=0");
		answers.push(swap);
		if (isTerminal(swap.status)) return answers;
		expect(Date.parse(swap.decidedBy ?? "")).toBeGreaterThan(Date.now());
		await sleep(askEveryMs);
	}
}

test.concurrent("a held call returns when the swap ends and not on progress, and calls that do not wait return the current stages [I3-1, I4-28, I4-29, D-status-2, D-status-3, D-status-6, D-status-7, D-status-10, D-status-11, D-status-21]", async ({
	expect,
}) => {
	const [caller, swap] = await signed();
	const { swapId } = await submitSigned(caller, swap);
	const [answers, held] = await Promise.all([watch(expect, swapId), ask(expect, swapId)]);
	// The call waited until the swap ended or the call's time was over.
	if (held.status === "pending") expect(held.tookMs).toBeGreaterThan(14_000);
	else expect(held.status).toBe("settled");
	const stages = new Set(answers.map(({ stage }) => stage));
	expect(stages.size).toBeGreaterThan(1);
	for (const answer of answers) {
		expect(answer.orderId).toBe(swap.build.geoOp.orderId);
		expect(answer).not.toHaveProperty("failure");
		expect(answer).not.toHaveProperty("refundTxHash");
	}
	const updates = answers.map(({ updatedAt }) => Date.parse(updatedAt));
	expect(updates).toEqual(updates.toSorted((a, b) => a - b));
	const end = answers.at(-1);
	expect(end).toMatchObject({ status: "settled", stage: "delivered" });
	expect(end).not.toHaveProperty("decidedBy");

	const { tookMs, ...again } = await ask(expect, swapId);
	expect(tookMs).toBeLessThan(lateMs);
	expect(again).toMatchObject({ status: "settled", funds: end?.funds });
});

test.concurrent("a call about a pending swap is held for 15 s, or for the requested time [I4-30, I8-2, D-status-3, D-status-13]", async ({
	expect,
}) => {
	const [caller, swap] = await signed();
	const { swapId } = swap.quote;
	const { release } = await holdBack(environment.databaseUrl, swapId);
	try {
		await submitSigned(caller, swap);
		const waits = [undefined, 15, 7, 2, 0];
		const answers = await Promise.all(
			waits.map((wait) => ask(expect, swapId, wait === undefined ? "" : `?wait=${wait}`)),
		);
		for (const [i, wait = 15] of waits.entries()) {
			expect(answers[i]).toMatchObject({ status: "pending", stage: "opening" });
			expect(answers[i]?.tookMs).toBeGreaterThan(wait * 1_000 - 100);
			expect(answers[i]?.tookMs).toBeLessThan(wait * 1_000 + lateMs);
		}
	} finally {
		await release();
	}
	expect((await watch(expect, swapId)).at(-1)?.status).toBe("settled");
});

test.concurrent("a refunded swap has its reason and transaction, its input is back in the wallet, and its status does not change again [I3-6, D-status-6, D-status-8, D-status-9, D-status-12, D-status-20, D-status-21]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const recipient = privateKeyToAddress(generatePrivateKey());
	const revertAlways = "0x5f5ffd";
	await destination.testClient.setCode({ address: recipient, bytecode: revertAlways });
	const [caller, swap] = await signed({ token: "ETH", recipient });
	const { swapId } = await submitSigned(caller, swap);
	const answers = await watch(expect, swapId);
	const token = assetAddress(origin, "USDC");
	const pending = answers.filter(({ status }) => status === "pending");
	for (const { originTxHash, funds, ...answer } of pending) {
		expect(answer).not.toHaveProperty("failure");
		expect(answer).not.toHaveProperty("refundTxHash");
		const holder = originTxHash ? "escrow" : "wallet";
		expect(funds).toEqual({ chainId: origin.chainId, holder, token, amount: String(ten) });
	}
	expect(pending.map(({ stage }) => stage)).toContain("refunding");

	const end = answers.at(-1);
	expect(end).toMatchObject({
		status: "refunded",
		failure: { code: "RECIPIENT_REFUSED", message: expect.stringMatching(/.{10,}/) },
		funds: { chainId: origin.chainId, holder: "wallet", token, amount: String(ten) },
	});
	expect(failureCodes).toContain(end?.failure?.code);
	const receipt = await origin.publicClient.getTransactionReceipt({ hash: end?.refundTxHash as Hex });
	expect(receipt.status).toBe("success");
	expect(await holding(origin, "USDC", caller.account.address)).toBe(ten);
	const { number } = await origin.publicClient.getBlock();
	await expect
		.poll(async () => origin.publicClient.getBlockNumber(), { timeout: 30_000 })
		.toBeGreaterThan(number + 3n);
	const { tookMs, ...later } = await ask(expect, swapId);
	expect(tookMs).toBeLessThan(lateMs);
	expect(later).toEqual(end);
});
