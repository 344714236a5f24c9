import { setTimeout as sleep } from "node:timers/promises";
import { geoVaultAbi, inputAddress, type StatusResponse } from "@geoswap/protocol";
import { buildSolanaTx, waitForSwap } from "@geoswap/sdk";
import { generateKeyPairSigner, type KeyPairSigner } from "@solana/kit";
import type { Hex } from "viem";
import { beforeAll, type ExpectStatic, test } from "vitest";
import {
	type SolanaScene,
	type SolanaSteps,
	signTransaction,
	solanaSteps,
	tenUsdc,
} from "../caller/solana-caller.ts";
import { holding } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { expectBooksAgree } from "../expect/expect-books-agree.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";

const submits = 100;
/** Time for 150 slots to pass and become final, on a busy machine. */
const deadWithinMs = 90_000;

let environment: Environment;
let client: Environment["client"];
let stranger: Environment["client"];
let steps: SolanaSteps;
beforeAll(async () => {
	environment = sharedEnvironment();
	[client, stranger] = await Promise.all([environment.newClient(), environment.newClient()]);
	steps = solanaSteps(environment, client);
});

type Signed = Pick<SolanaScene, "built" | "signed">;

/** Builds a quote again, with another blockhash. */
async function rebuild(
	account: KeyPairSigner,
	{ quote, built }: Pick<SolanaScene, "quote" | "built">,
): Promise<Signed> {
	for (;;) {
		const rebuilt = await buildSolanaTx(client, quote);
		if (rebuilt.geoOp.blockhash !== built.geoOp.blockhash) {
			return { built: rebuilt, signed: await signTransaction(account, rebuilt) };
		}
		await sleep(100);
	}
}

async function untilPast(time: string): Promise<void> {
	const marginMs = 250;
	await sleep(Math.max(0, Date.parse(time) - Date.now() + marginMs));
}

/** Expects that one of all transactions of one quote has landed, once none of the others can land any more. */
async function expectOneDeposit(
	expect: ExpectStatic,
	{
		account,
		swapId,
		others,
		left,
	}: { account: KeyPairSigner; swapId: string; others: Signed[]; left: bigint },
): Promise<void> {
	const { rpc } = environment.solana;
	const heights = others.map(({ built }) => Number(built.geoOp.lastValidBlockHeight));
	const finalHeight = async () => Number(await rpc.getBlockHeight({ commitment: "finalized" }).send());
	await expect
		.poll(finalHeight, { timeout: deadWithinMs, interval: 500 })
		.toBeGreaterThan(Math.max(...heights));
	const { originTxHash, orderId } = (await steps.status({ swapId })).body as StatusResponse;
	const { deployment } = environment.solana;
	const input = await inputAddress(deployment.program.address, orderId as Hex);
	const landed = await rpc.getSignaturesForAddress(input, { commitment: "confirmed" }).send();
	// The other transaction of the order's account pays its input out.
	expect(landed.at(-1)).toMatchObject({ signature: originTxHash, err: null });
	expect(landed.filter(({ err }) => err === null).length).toBeLessThanOrEqual(2);
	expect(await holding(environment.solana, "USDC", account.address)).toBe(left);
}

test.concurrent("a hundred concurrent submits of one quote, with two builds and anything as the fee payer's signature, make one swap and one deposit [I8-5, I8-8, D-submit-8]", async ({
	expect,
}) => {
	const { destination, solana } = environment;
	const account = await solana.newWallet({ usdc: 3n * tenUsdc });
	const first = await steps.scene(account);
	const { swapId } = first.quote;
	const second = await rebuild(account, first);
	const ops = [first, second];
	// Every body has different bytes, except for the first ten of each build.
	const bodies = await Promise.all(
		Array.from({ length: submits }, async (_, i) => {
			const { built } = ops[i % 2] ?? first;
			const signed = await signTransaction(account, built, new Uint8Array(64).fill(i < 20 ? 0 : i));
			return { built, signed };
		}),
	);
	const answers = await Promise.all(bodies.map(({ built, signed }) => steps.submit(built, signed)));
	for (const { status, body } of answers) expect([status, body?.swapId]).toEqual([200, swapId]);

	const swap = await waitForSwap(client, swapId);
	expect(swap.status).toBe("settled");
	await expectOneDeposit(expect, { account, swapId, others: ops, left: 2n * tenUsdc });
	const filled = await destination.publicClient.getContractEvents({
		address: destination.deployment.contracts.vault,
		abi: geoVaultAbi,
		eventName: "Filled",
		args: { orderId: swap.orderId as Hex },
		fromBlock: 0n,
	});
	expect(filled).toHaveLength(1);
});

test.concurrent("submitting again returns the same swap with its current status, with any build, before and after settling and expiry [I4-26, I8-7, D-order-8, D-order-9, D-submit-9, D-submit-10, D-submit-11, D-submit-12]", async ({
	expect,
}) => {
	const account = await environment.solana.newWallet({ usdc: 3n * tenUsdc });
	const first = await steps.scene(account);
	const { quote, built, signed } = first;
	const { swapId } = quote;
	// Once the order is open its quote cannot be built again, so all three are built first.
	const second = await rebuild(account, first);
	const third = await rebuild(account, { quote, built: second.built });
	// The newest, because on a slow machine the first may expire while the others wait for another blockhash.
	expect((await steps.submit(third.built, third.signed)).body).toEqual({ swapId, status: "pending" });
	const ops = [first, second, third];
	for (const op of ops) expect((await steps.submit(op.built, op.signed)).body?.swapId).toBe(swapId);

	expect((await waitForSwap(client, swapId)).status).toBe("settled");
	const settled = { swapId, status: "settled" };
	for (const op of ops) expect((await steps.submit(op.built, op.signed)).body).toEqual(settled);
	await untilPast(third.built.expiresAt);
	await untilPast(quote.expiresAt);
	for (const op of ops) {
		const answer = await steps.submit(op.built, op.signed);
		expect([answer.status, answer.body]).toEqual([200, settled]);
	}

	// Neither another account nor another signature gets the swap's status.
	const elsewhere = await steps.submit(built, signed, stranger);
	expectRefusal(expect, elsewhere, "INVALID_TOKEN", { reason: "other_account" });
	const someone = await generateKeyPairSigner();
	const wrong = await steps.submit(built, await signTransaction(someone, built));
	expectRefusal(expect, wrong, "INVALID_SIGNATURE", { expected: account.address });
	const crossed = await steps.submit(built, second.signed);
	expectRefusal(expect, crossed, "TRANSACTION_CHANGED", { changed: "blockhash" });
	await expectOneDeposit(expect, { account, swapId, others: [first, second], left: 2n * tenUsdc });
});

test.concurrent("an expired quote is 410; an unreadable token is reported before that, and the balance of the wallet after that [I2.1-10, D-errors-17, D-order-10]", async ({
	expect,
}) => {
	const quote = await steps.quote(await generateKeyPairSigner());
	const details = { balance: "0", required: String(tenUsdc) };
	expectRefusal(expect, await steps.build(quote), "INSUFFICIENT_BALANCE", details);
	await untilPast(quote.expiresAt);
	expectRefusal(expect, await steps.build(quote, "x"), "QUOTE_EXPIRED", { expiredAt: quote.expiresAt });
	const unreadable = { geoQuoteToken: altered(quote.geoQuoteToken) };
	expectRefusal(expect, await steps.build(unreadable), "INVALID_TOKEN", { reason: "unreadable" });
});

test.concurrent("an expired transaction cannot be submitted, its token, form, bytes and signature are checked first, and another build replaces it [D-build-15, D-errors-18, D-order-6, D-order-7, D-order-8]", async ({
	expect,
}) => {
	const account = await environment.solana.newWallet({ usdc: 2n * tenUsdc });
	const scene = await steps.scene(account);
	const { quote, built, signed } = scene;
	await untilPast(built.expiresAt);
	expectRefusal(expect, await steps.submit(built, signed), "OP_EXPIRED", { expiredAt: built.expiresAt });
	const unreadable = { geoOpToken: altered(built.geoOpToken) };
	expectRefusal(expect, await steps.submit(unreadable, "x"), "INVALID_TOKEN", { reason: "unreadable" });
	const malformed = await steps.submit(built, "x");
	expectRefusal(expect, malformed, "INVALID_REQUEST", issuesAt(expect, "signedTransaction"));
	const unsigned = await steps.submit(built, built.unsignedTransaction);
	expectRefusal(expect, unsigned, "INVALID_SIGNATURE", { expected: account.address });
	expectRefusal(expect, await steps.status(quote), "SWAP_NOT_FOUND");

	// The quote lives longer than a blockhash.
	const later = await rebuild(account, scene);
	const crossed = await steps.submit(built, later.signed);
	expectRefusal(expect, crossed, "TRANSACTION_CHANGED", { changed: "blockhash" });
	expect((await steps.submit(later.built, later.signed)).body).toEqual({
		swapId: quote.swapId,
		status: "pending",
	});
	// The submit that was refused is now a replay of the existing swap.
	expect((await steps.submit(built, signed)).body?.swapId).toBe(quote.swapId);
	expect((await waitForSwap(client, quote.swapId)).status).toBe("settled");
	const { swapId } = quote;
	await expectOneDeposit(expect, { account, swapId, others: [scene], left: tenUsdc });
});

test.concurrent("a transaction can be submitted after its quote expired, and the swap settles [D-submit-1]", async ({
	expect,
}) => {
	const account = await environment.solana.newWallet({ usdc: tenUsdc });
	const quote = await steps.quote(account);
	await untilPast(new Date(Date.parse(quote.expiresAt) - 12_000).toISOString());
	const built = await buildSolanaTx(client, quote);
	expect(Date.parse(built.expiresAt)).toBeGreaterThan(Date.parse(quote.expiresAt));
	const signed = await signTransaction(account, built);
	await untilPast(quote.expiresAt);
	expectRefusal(expect, await steps.build(quote), "QUOTE_EXPIRED", { expiredAt: quote.expiresAt });
	expect((await steps.submit(built, signed)).body).toEqual({ swapId: quote.swapId, status: "pending" });
	expect((await waitForSwap(client, quote.swapId)).status).toBe("settled");
	expect(await holding(environment.solana, "USDC", account.address)).toBe(0n);
});

test("after all these swaps the books match the chains to the unit", async ({ expect }) => {
	await expectBooksAgree(expect, environment);
});

/** Changes the last character. */
function altered(token: string): string {
	return token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
}
