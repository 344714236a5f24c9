import { fundWallet } from "@geoswap/devnet";
import type { QuoteRequestBody } from "@geoswap/protocol";
import {
	buildOp,
	getQuote,
	type Quote,
	signDelegation,
	submitOp,
	verifyAndSign,
	waitForSwap,
} from "@geoswap/sdk";
import { parseEther, parseUnits } from "viem";
import { beforeAll, test } from "vitest";
import { swapIntent } from "../caller/do-swap.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

const amount = parseUnits("1000", 6);

let environment: Environment;
let client: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

/** Creates a wallet with USDC on the chain that it swaps from, and `geo` of the service's token on the first chain. */
async function newHolder(
	chain: Environment["origin"],
	geo: string,
): Promise<Awaited<ReturnType<Environment["newWallet"]>>> {
	const account = await environment.newWallet({ chain, token: "USDC", amount });
	const { deployment } = environment.origin;
	const token = deployment.feeDiscountToken?.address;
	if (!token) throw new Error("the devnet has such a token");
	await fundWallet(environment.origin, {
		deployment,
		wallet: account.address,
		token,
		amount: parseEther(geo),
	});
	return account;
}

/** Polls until the discount shows, which is soon after the first quote. */
async function quoteWithDiscount(
	expect: typeof import("vitest").expect,
	intent: QuoteRequestBody,
): Promise<Quote> {
	let quote = await getQuote(client, intent);
	await expect
		.poll(
			async () => {
				quote = await getQuote(client, intent);
				return quote.feeDiscount;
			},
			{ timeout: 20_000, interval: 200 },
		)
		.toBeDefined();
	return quote;
}

test.concurrent("a wallet that holds enough of the discount token pays a lower fee, in the quote and in the delivered output [I2.2-4, I2.2-6, I2.2-7, D-quote-response-7, D-quote-response-8]", async ({
	expect,
}) => {
	const { origin, destination, deployment: pins } = environment;
	const account = await newHolder(origin, "100000");
	const stranger = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const sides = {
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
	};
	const intent = swapIntent({ ...sides, account });
	await getQuote(client, intent);
	const quote = await quoteWithDiscount(expect, intent);
	expect(quote).toMatchObject({
		feeBps: 6.25,
		feeDiscount: { tier: "gold", discountPercent: 50, baseFeeBps: 12.5 },
	});

	// At the same time, and for the same stables, only the fee differs.
	const base = await getQuote(client, swapIntent({ ...sides, account: stranger }));
	expect(base.feeBps).toBe(12.5);
	expect(base).not.toHaveProperty("feeDiscount");
	const saved = Number(quote.output - base.output);
	const half = (Number(amount) * 6.25) / 10_000;
	expect(Math.abs(saved - half)).toBeLessThan(half / 20);

	const authorization = await signDelegation(client, { chainId: origin.chainId, account, pins });
	const build = await buildOp(client, { geoQuoteToken: quote.geoQuoteToken, authorization });
	const signature = await verifyAndSign({ intent, quote, build, pins, account });
	const { swapId } = await submitOp(client, { geoOpToken: build.geoOpToken, signature });
	expect(await waitForSwap(client, swapId)).toMatchObject({ status: "settled" });
	const delivered = await tokenBalance(destination, assetAddress(destination, "USDC"), account.address);
	// If submit had priced it again with the base fee, this would be at most the output quoted to any other caller.
	expect(delivered).toBeGreaterThan(base.output);
	expect(delivered).toBeLessThanOrEqual(quote.output);
	const database = await connectDatabase(environment.databaseUrl);
	try {
		const orderId = Buffer.from(build.geoOp.orderId.slice(2), "hex");
		const sql = "select fee_millibps from swaps where order_id = $1";
		expect(await database.query(sql, [orderId])).toEqual([{ fee_millibps: 6_250 }]);
	} finally {
		await database.end();
	}
});

test.concurrent("a balance on the discount token's chain counts for a swap from another EVM chain", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const account = await newHolder(destination, "1000");
	const intent = swapIntent({
		from: { chain: destination, token: "USDC", amount },
		to: { chain: origin, token: "USDC" },
		account,
	});
	expect(await quoteWithDiscount(expect, intent)).toMatchObject({
		feeBps: 11.25,
		feeDiscount: { tier: "bronze", discountPercent: 10, baseFeeBps: 12.5 },
	});
});

test.concurrent("a wallet that receives enough of the discount token later gets the discount from then on [I2.2-6, D-quote-response-8]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const account = await newHolder(origin, "999.999999");
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
		account,
	});
	for (let i = 0; i < 5; i++) expect(await getQuote(client, intent)).not.toHaveProperty("feeDiscount");
	const { deployment } = origin;
	const token = deployment.feeDiscountToken?.address ?? "0x";
	await fundWallet(origin, { deployment, wallet: account.address, token, amount: parseEther("9000.000001") });
	expect((await quoteWithDiscount(expect, intent)).feeDiscount?.tier).toBe("silver");
});
