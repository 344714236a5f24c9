import { fundWallet, startTestChains, type TestChains } from "@geoswap/devnet";
import { pino } from "pino";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { chainFeeDiscounts } from "./fee-discounts.ts";

const log = pino({ level: "silent" });
let chains: TestChains;
beforeAll(async () => {
	chains = await startTestChains();
});
afterAll(() => chains.stop());

function discounts({ rpcUrl = chains.origin.rpcUrl, onWarn = () => {} } = {}) {
	const { chainId, deployment } = chains.origin;
	const config = {
		feeDiscount: {
			chainId,
			cacheSeconds: 300,
			timeoutMs: 2_000,
			tiers: [
				{ name: "bronze", minimum: "1000", discountPercent: 10 },
				{ name: "silver", minimum: "10000", discountPercent: 25 },
			],
		},
	};
	const made = chainFeeDiscounts({
		config,
		chains: new Map([[chainId, connectChain({ chainId, rpcUrl, deployment })]]),
		nowMs: Date.now,
		log: Object.assign(Object.create(log), { warn: onWarn }),
	});
	if (!made) throw new Error("they are configured");
	return async (wallet: string, originChainId = chainId) => {
		const tier = await made.tierOf(wallet, { originChainId, accountId: "account" });
		return tier?.name;
	};
}

async function holder(amount: string) {
	const wallet = privateKeyToAddress(generatePrivateKey());
	const { deployment } = chains.origin;
	const token = deployment.feeDiscountToken?.address;
	if (!token) throw new Error("the devnet has such a token");
	await fundWallet(chains.origin, { deployment, wallet, token, amount: parseEther(amount) });
	return wallet;
}

test("a wallet's tier depends on its balance on the token's chain, regardless of the chain from which it swaps", async () => {
	const tierOf = discounts();
	const [poor, rich] = await Promise.all([holder("999.9"), holder("10000")]);
	await expect.poll(() => tierOf(rich, chains.destination.chainId)).toBe("silver");
	expect(await tierOf(rich)).toBe("silver");
	void tierOf(poor);
	// The third wallet is read after the poor one, so once the third has a tier, the poor one was read too.
	const third = await holder("1000");
	await expect.poll(() => tierOf(third)).toBe("bronze");
	expect(await tierOf(poor)).toBeUndefined();
});

test("a chain that cannot be reached is logged as a warning, and gives no discount", async () => {
	let warnings = 0;
	const tierOf = discounts({ rpcUrl: "http://127.0.0.1:1", onWarn: () => void warnings++ });
	const wallet = await holder("10000");
	expect(await tierOf(wallet)).toBeUndefined();
	await expect.poll(() => warnings).toBe(1);
	expect(await tierOf(wallet)).toBeUndefined();
});

test("without a configuration there are no discounts", () => {
	expect(chainFeeDiscounts({ config: {}, chains: new Map(), nowMs: Date.now, log })).toBeUndefined();
});
