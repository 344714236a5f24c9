import { devFeedAbi, movePrice, type TestChain } from "@geoswap/devnet";
import { type FailureCode, geoEscrowAbi, geoVaultAbi, orderSchema, unpackDeadlines } from "@geoswap/protocol";
import { type Client, type EndedSwap, getStatus, waitForSwap } from "@geoswap/sdk";
import { type Address, encodeFunctionData, formatUnits, type Hex, parseEther, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { beforeAll, describe, type ExpectStatic, test } from "vitest";
import { callApi } from "../../caller/call-api.ts";
import {
	type SignedSwap,
	type SwapCaller,
	signSwap,
	submitSigned,
	swapIntent,
} from "../../caller/do-swap.ts";
import { escrowCredit } from "../../chain/escrow-credit.ts";
import { escrowState } from "../../chain/escrow-state.ts";
import { revertOf } from "../../chain/revert-of.ts";
import { tokenBalance } from "../../chain/token-balance.ts";
import type { OwnEnvironment } from "../../environment/environment.ts";
import { expectBooksAgree } from "../../expect/expect-books-agree.ts";
import { expectBooksExact } from "../../expect/expect-books-exact.ts";
import { expectRefusal } from "../../expect/expect-refusal.ts";
import { declareWithdrawal } from "../../trouble/declare-withdrawal.ts";
import { freezeInToken } from "../../trouble/freeze-in-token.ts";
import { assetAddress } from "../../wallet/make-order.ts";
import { sendTransaction } from "../../wallet/send-bundle.ts";

/** Time for a delivery to be final, attested and paid out of escrow, on a busy machine. */
const decidedWithinMs = 60_000;

/** More swaps than a ladder pays for together. */
const crowd = process.env.GEOSWAP_FULL ? 50 : 24;

const usdc = (text: string) => parseUnits(text, 6);

let environment: OwnEnvironment;
let client: Client;

type SwapTerms = {
	from: TestChain;
	to: TestChain;
	input: string;
	amount: bigint;
	output: string;
	slippageBps?: number;
	recipient?: Address;
	/** The client of the account that submits it; the one of all tests if absent. */
	client?: Client;
};
type SwapToSubmit = SwapTerms & SwapCaller & { signed: SignedSwap };

/** Creates a wallet with `amount` of a token, and signs a swap of all of it. */
async function sign(terms: SwapTerms): Promise<SwapToSubmit> {
	const { from, to, input, amount, output, slippageBps, recipient } = terms;
	const account = await environment.newWallet({ chain: from, token: input, amount });
	const caller = { client: terms.client ?? client, pins: environment.deployment, account };
	const intent = swapIntent({
		from: { chain: from, token: input, amount },
		to: { chain: to, token: output },
		account,
		...(slippageBps && { slippageBps }),
		...(recipient && { recipient }),
	});
	return { ...terms, ...caller, signed: await signSwap(caller, intent) };
}

async function expectRefunded(
	expect: ExpectStatic,
	{
		signed,
		account,
		from,
		to,
		input,
		amount,
		swap,
		code,
	}: SwapToSubmit & { swap: EndedSwap | undefined; code: FailureCode },
): Promise<void> {
	const token = assetAddress(from, input);
	const { orderId } = signed.build.geoOp;
	expect(swap).toMatchObject({
		swapId: signed.quote.swapId,
		status: "refunded",
		failure: { code },
		originTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
		refundTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
		funds: { chainId: from.chainId, holder: "wallet", token, amount },
	});
	expect(swap).not.toHaveProperty("deliveryTxHash");
	expect(await tokenBalance(from, token, account.address)).toBe(amount);
	expect(await escrowState(from, orderId)).toBe("Refunded");
	const voided = await to.publicClient.getContractEvents({
		address: to.deployment.contracts.vault,
		abi: geoVaultAbi,
		eventName: "Voided",
		args: { orderId: orderId as Hex },
		fromBlock: 0n,
	});
	expect(voided).toHaveLength(1);
}

/** Expects the submit to have been refused, and everything to be as if it had never been sent. */
async function expectRefused(
	expect: ExpectStatic,
	{
		signed,
		account,
		from,
		input,
		amount,
		answer,
		reason,
	}: SwapToSubmit & { answer: unknown; reason: string },
): Promise<void> {
	expect(answer).toMatchObject({ code: "LIQUIDITY_CHANGED", status: 409, details: { reason } });
	const { quote, build } = signed;
	const status = await getStatus(client, quote.swapId).catch((error: unknown) => error);
	expect(status).toMatchObject({ code: "SWAP_NOT_FOUND" });
	expect(await escrowState(from, build.geoOp.orderId)).toBe("None");
	expect(await tokenBalance(from, assetAddress(from, input), account.address)).toBe(amount);
	expect(await from.publicClient.getTransactionCount({ address: account.address })).toBe(0);
}

/** Creates an address that takes no ether. */
async function newRefuser({ testClient }: TestChain): Promise<Address> {
	const address = privateKeyToAddress(generatePrivateKey());
	const revertAlways = "0x5f5ffd";
	await testClient.setCode({ address, bytecode: revertAlways });
	return address;
}

/** Claims a credit for its beneficiary, as a stranger. */
async function claim(chain: TestChain, token: Address, beneficiary: Address): Promise<Hex> {
	const account = await environment.newWallet({ chain, token: "ETH", amount: parseEther("1") });
	const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: "claim", args: [token, beneficiary] });
	const to = chain.deployment.contracts.escrow;
	const { status, transactionHash } = await sendTransaction({ chain, account, to, data });
	if (status !== "success") throw new Error("the credit could not be claimed");
	return transactionHash;
}

/** Withdraws inventory as the treasury, which may do so at any time. */
async function withdrawAllBut(chain: TestChain, left: bigint): Promise<void> {
	const { vault } = chain.deployment.contracts;
	const token: Address = assetAddress(chain, "USDC");
	const treasury = privateKeyToAccount(environment.keys.treasury);
	const held = await tokenBalance(chain, token, vault);
	const args = [token, treasury.address, held - left] as const;
	await declareWithdrawal(environment.serverEnvironment, {
		chainId: chain.chainId,
		symbol: "USDC",
		amount: formatUnits(held - left, 6),
		to: treasury.address,
	});
	const data = encodeFunctionData({ abi: geoVaultAbi, functionName: "withdraw", args });
	const { status } = await sendTransaction({ chain, account: treasury, to: vault, data });
	if (status !== "success") throw new Error("the treasury could not withdraw");
}

/** Prices, inventory, tokens and recipients change between a submit and its delivery. */
export function changedOutcomes(environmentOf: () => OwnEnvironment): void {
	beforeAll(() => {
		environment = environmentOf();
		client = environment.client;
	});

	/** Prices, inventory and the token itself are shared, so each of these tests changes a different one. */
	describe("changes during a swap", () => {
		test.concurrent("if price or inventory changes before delivery, a swap settles within its minimum or the wallet gets its whole input back [D-quote-response-5, D-status-20]", async ({
			expect,
		}) => {
			const { destination: from, origin: to } = environment;
			const large = { from, to, input: "USDC", amount: usdc("240000"), output: "USDC" };
			const small = { from, to, input: "USDC", amount: usdc("100"), output: "ORB" };
			const [narrow, wide, short] = await Promise.all([
				sign({ ...small, slippageBps: 10 }),
				sign({ ...small, slippageBps: 500 }),
				// It is more than one account may have in flight beside other swaps.
				sign({ ...large, client: await environment.newClient() }),
			]);

			// No deposit is mined, so nothing is delivered, until price and inventory on the other chain have changed.
			await from.testClient.setIntervalMining({ interval: 0 });
			try {
				await Promise.all([narrow, wide, short].map((swap) => submitSigned(swap, swap.signed)));
				await movePrice(to, to.deployment, { symbol: "ORB", percent: "+2" });
				await withdrawAllBut(to, usdc("1000"));
			} finally {
				await from.testClient.setIntervalMining({ interval: 1 });
			}

			const [narrowEnded, wideEnded, shortEnded] = await Promise.all(
				[narrow, wide, short].map((swap) => waitForSwap(swap.client, swap.signed.quote.swapId)),
			);
			await expectRefunded(expect, { ...narrow, swap: narrowEnded, code: "PRICE_MOVED" });
			await expectRefunded(expect, { ...short, swap: shortEnded, code: "NO_LIQUIDITY" });
			expect(wideEnded).toMatchObject({ status: "settled" });
			const delivered = await tokenBalance(to, assetAddress(to, "ORB"), wide.account.address);
			expect(wideEnded?.funds).toMatchObject({ holder: "recipient", amount: delivered });
			expect(delivered).toBeGreaterThanOrEqual(wide.signed.quote.minOutput);
			expect(delivered).toBeLessThan(wide.signed.quote.output);

			const later = await sign(large).catch((error: unknown) => error);
			expect(later).toMatchObject({ code: "NO_ROUTE", status: 422, details: { reason: "capacity" } });
		});

		test.concurrent("if many swaps are submitted concurrently on one ladder, those that its depth covers settle, and the others are refused without effect", async ({
			expect,
		}) => {
			const { origin: from, destination: to } = environment;
			const terms = { from, to, input: "USDC", amount: usdc("10000"), output: "ORB", slippageBps: 30 };
			const swaps = await Promise.all(Array.from({ length: crowd }, () => sign(terms)));
			const outcomes = await Promise.all(
				swaps.map(async (swap) => ({
					...swap,
					answer: await submitSigned(swap, swap.signed).catch((error: unknown) => error),
				})),
			);
			const refused = outcomes.filter(({ answer }) => answer instanceof Error);
			const accepted = outcomes.filter(({ answer }) => !(answer instanceof Error));
			expect(accepted.length).toBeGreaterThan(0);
			expect(refused.length).toBeGreaterThan(0);
			for (const swap of refused) await expectRefused(expect, { ...swap, reason: "price" });
			await Promise.all(
				accepted.map(async ({ signed: { quote }, account }) => {
					const swap = await waitForSwap(client, quote.swapId);
					expect(swap).toMatchObject({ status: "settled" });
					const delivered = await tokenBalance(to, assetAddress(to, "ORB"), account.address);
					expect(delivered).toBeGreaterThanOrEqual(quote.minOutput);
					expect(swap.funds).toMatchObject({ holder: "recipient", amount: delivered });
					expect(await tokenBalance(from, assetAddress(from, "USDC"), account.address)).toBe(0n);
				}),
			);
		});

		test.concurrent("if the token freezes the vault, the swap settles, and the vault keeps its credit, which is paid once that is possible", async ({
			expect,
		}) => {
			const { origin: from, destination: to } = environment;
			const { escrow, vault } = from.deployment.contracts;
			const token = assetAddress(from, "USDT");
			const amount = usdc("100");
			const inventoryBefore = await tokenBalance(from, token, vault);
			const unfreeze = await freezeInToken(from, { token, holder: vault });

			const swap = await sign({ from, to, input: "USDT", amount, output: "USDC" });
			const { swapId } = await submitSigned(swap, swap.signed);
			expect(await waitForSwap(client, swapId)).toMatchObject({ status: "settled" });
			const { orderId, order: terms } = swap.signed.build.geoOp;
			await expect
				.poll(() => escrowState(from, orderId), { timeout: decidedWithinMs, interval: 500 })
				.toBe("Released");
			expect(await escrowCredit(from, token, vault)).toBe(amount);
			expect(await tokenBalance(from, token, vault)).toBe(inventoryBefore);
			await expectBooksAgree(expect, environment);

			const order = orderSchema.parse(terms);
			const { errorName } = await revertOf(
				geoEscrowAbi,
				from.publicClient.simulateContract({
					address: escrow,
					abi: geoEscrowAbi,
					functionName: "refund",
					args: [order],
					blockOverrides: { time: unpackDeadlines(order.deadlines).refundAfter + 1n },
				}),
			);
			expect(errorName).toBe("NotOpen");

			const claiming = from.publicClient.simulateContract({
				address: escrow,
				abi: geoEscrowAbi,
				functionName: "claim",
				args: [token, vault],
			});
			expect((await revertOf(geoEscrowAbi, claiming)).errorName).toBe("ClaimFailed");
			await unfreeze();
			await claim(from, token, vault);
			expect(await escrowCredit(from, token, vault)).toBe(0n);
			expect(await tokenBalance(from, token, vault)).toBe(inventoryBefore + amount);
		});

		test.concurrent("if the token freezes the wallet, a refund that is only a credit is not reported as refunded until it is claimed [D-status-20]", async ({
			expect,
		}) => {
			const { origin: from, destination: to } = environment;
			const recipient = await newRefuser(to);
			const amount = parseUnits("80", 18);
			const token = assetAddress(from, "ORB");
			const swap = await sign({ from, to, input: "ORB", amount, output: "ETH", recipient });
			const unfreeze = await freezeInToken(from, { token, holder: swap.account.address });
			const { swapId } = await submitSigned(swap, swap.signed);
			await expect
				.poll(() => escrowCredit(from, token, swap.account.address), {
					timeout: decidedWithinMs,
					interval: 500,
				})
				.toBe(amount);
			const credited = await getStatus(client, swapId, { waitSeconds: 4 });
			expect(credited).toMatchObject({
				status: "pending",
				stage: "refunding",
				funds: { chainId: from.chainId, holder: "escrow", token, amount },
			});

			await unfreeze();
			const refundTxHash = await claim(from, token, swap.account.address);
			const ended = await waitForSwap(client, swapId);
			await expectRefunded(expect, { ...swap, swap: ended, code: "RECIPIENT_REFUSED" });
			expect(ended).toMatchObject({ refundTxHash });
		});
	});

	test("a swap on one chain that cannot be delivered is refunded without any attester", async ({
		expect,
	}) => {
		const { origin: chain, stack } = environment;
		const { attesters } = stack.processes;
		const recipient = await newRefuser(chain);
		const signing = { from: chain, to: chain, input: "USDC", amount: usdc("100"), output: "ETH", recipient };
		await Promise.all(attesters.map((attester) => attester.stop()));
		try {
			const signed = await sign(signing);
			const { swapId } = await submitSigned(signed, signed.signed);
			const swap = await waitForSwap(client, swapId);
			await expectRefunded(expect, { ...signed, swap, code: "RECIPIENT_REFUSED" });
		} finally {
			await Promise.all(attesters.map((attester) => attester.start()));
		}
	});

	test("an asset whose feed and pools disagree is not quoted until they agree again, and other assets are [D-quote-response-22]", async ({
		expect,
	}) => {
		const { origin, destination } = environment;
		const feed = origin.deployment.assets.find(({ symbol }) => symbol === "ORB")?.feed?.address;
		if (!feed) throw new Error("the devnet has ORB");
		const [, answer] = await origin.publicClient.readContract({
			address: feed,
			abi: devFeedAbi,
			functionName: "latestRoundData",
		});
		const account = privateKeyToAccount(environment.keys.relayers.at(-1) ?? "0x");
		const say = (price: bigint) => {
			const data = encodeFunctionData({ abi: devFeedAbi, functionName: "setAnswer", args: [price] });
			return sendTransaction({ chain: origin, account, to: feed, data });
		};
		const quote = (token: string) =>
			callApi(client, "/swap/quote", {
				body: swapIntent({
					from: { chain: origin, token, amount: token === "USDC" ? usdc("100") : parseEther("100") },
					to: { chain: destination, token: "USDC" },
					account,
				}),
			});
		const becomes = async (status: number) => {
			await expect.poll(async () => (await quote("ORB")).status, { timeout: 20_000 }).toBe(status);
			return quote("ORB");
		};

		for (const wrong of [(answer * 110n) / 100n, 0n]) {
			await say(wrong);
			expectRefusal(expect, await becomes(422), "NO_ROUTE", {
				reason: "paused",
				side: expect.stringMatching(/^(origin|destination)$/),
			});
			expect(await quote("USDC")).toMatchObject({ status: 200 });
			await say(answer);
			await becomes(200);
		}
	});

	test("after all these swaps nothing is reserved or in escrow, and the books match the chains to the unit", async () => {
		await expectBooksExact(environment, { withinMs: decidedWithinMs });
	});
}
