import { randomBytes } from "node:crypto";
import { type RollupNode, startRollupNode, type TestChain } from "@geoswap/devnet";
import type { BuildResponse, ChainKind, QuoteResponse } from "@geoswap/protocol";
import { pino } from "pino";
import { type Hex, parseGwei } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type SubmitScene, startSubmitScene } from "../../../test/api/submit-scene.ts";
import { testConfig } from "../../../test/desk/test-prices.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { readBlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import { evmChains } from "../../config/chain-config.ts";
import { createDesk } from "../../desk/create-desk.ts";
import { createPriceCache } from "../../desk/price/price-cache.ts";
import { createApp } from "../http/create-app.ts";
import { createDelegatedWallets } from "../origin/delegated-wallets.ts";
import { postBuildGeoOp } from "./post-build-geo-op.ts";
import { postQuote } from "./post-quote.ts";
import { postSubmit } from "./post-submit.ts";

// The routes, the desk and the chains' fees are real. The rollups are simulated in front of anvil.

const allowed = { isAllowed: true, limit: 1, remaining: 1, resetSeconds: 1 };
const account = { accountCreatedAt: new Date(0), keyId: "key" };
const rates = { quote: 1, build: 1, submit: 1, delegation: 1, status: 1, list: 1 };

/** The chain's base fee and Ethereum's, in gwei. */
type Fees = { l2: number; l1: number };

let scene: SubmitScene;
beforeAll(async () => {
	scene = await startSubmitScene();
});
beforeEach(() => scene.reset());
afterAll(() => scene.stop());

let stopService = async () => {};
afterEach(() => stopService());

/**
 * Starts the API of a service whose chains are of one kind. Returns how to call it, and how to set the chains' fees.
 */
async function startService(kind: ChainKind) {
	const { testChains, database, sealKeys, nowMs, accountId } = scene;
	const nodes: { chain: TestChain; node: RollupNode }[] = [];
	for (const chain of [testChains.origin, testChains.destination]) {
		nodes.push({ chain, node: await startRollupNode({ kind, chain }) });
	}
	const sides = nodes.map(({ chain: { chainId, deployment }, node }) =>
		connectChain({ chainId, rpcUrl: node.url, deployment: { ...deployment, kind } }),
	);
	const chains = new Map(sides.map((side) => [side.chainId, side]));
	const parsed = testConfig(testChains);
	const config = {
		...parsed,
		chains: evmChains(parsed).map((one) => ({ ...one, deployment: { ...one.deployment, kind } })),
	};
	const priceCache = createPriceCache({ ...config.price, chains: sides.map(({ deployment }) => deployment) });
	const desk = createDesk({ config, priceCache, nowMs, random: randomBytes });
	const [db, delegated] = [database.pool, createDelegatedWallets()];
	const app = createApp({
		routes: [
			postQuote({
				desk,
				wantPrices: async () => {},
				feeDiscounts: undefined,
				recipients: { recipientOf: async () => undefined },
				delegated,
				sealKeys,
			}),
			postBuildGeoOp({ chains, delegated, db, sealKeys, nowMs }),
			postSubmit({
				chains,
				solana: undefined,
				pool: db,
				sealKeys,
				desk,
				wantPrices: async () => {},
				engine: { poke: async () => {} },
				pauses: { reasonOf: () => undefined },
				config,
				nowMs,
			}),
		],
		apiKeys: { authenticate: async () => ({ ...account, accountId, limits: { rates, heldStatusCalls: 1 } }) },
		rateLimits: {
			takeForKey: async () => allowed,
			takeForAddress: () => allowed,
			refusalOf: () => undefined,
		},
		log: pino({ level: "silent" }),
	});
	const url = await app.listen({ port: 0, host: "127.0.0.1" });
	stopService = async () => {
		await app.close();
		await Promise.all(nodes.map(({ node }) => node.stop()));
	};

	async function post<Answer>(path: string, body: unknown): Promise<Answer> {
		const headers = { "content-type": "application/json", authorization: "Bearer key" };
		const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
		return { httpStatus: response.status, ...((await response.json()) as object) } as Answer;
	}

	return {
		post,
		/** Mines a block with these fees on both chains, and reads its prices. */
		setFees: async ({ l2, l1 }: Fees) => {
			for (const { chain, node } of nodes) {
				await chain.testClient.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(String(l2)) });
				await node.setL1BaseFee(parseGwei(String(l1)));
				await chain.testClient.mine({ blocks: 1 });
			}
			for (const side of sides) {
				const block = await side.client.getBlock();
				priceCache.update(await readBlockPrices(side, { block, topUsd: 500_000 }), { nowMs: nowMs() });
			}
		},
	};
}

const onChain: Fees = { l2: 0.1, l1: 1 };
/** Most of a swap's network cost is for data. */
const onRollup: Fees = { l2: 0.01, l1: 200 };
const eighth = 1.125;

test.each<{ kind: ChainKind; fee: string; start: Fees; risen: Fees }>([
	{ kind: "eip1559", fee: "the base fee", start: onChain, risen: { ...onChain, l2: onChain.l2 * eighth } },
	{
		kind: "op-stack",
		fee: "Ethereum's fee",
		start: onRollup,
		risen: { ...onRollup, l1: onRollup.l1 * eighth },
	},
	{
		kind: "arbitrum",
		fee: "Ethereum's fee",
		start: onRollup,
		risen: { ...onRollup, l1: onRollup.l1 * eighth },
	},
])(
	"$kind: a submit after $fee rose by an eighth is LIQUIDITY_CHANGED, and one within the margin is not",
	async ({ kind, start, risen }) => {
		const { post, setFees } = await startService(kind);
		const wallet = await scene.newWallet({ isDelegated: true });
		const quoteAndBuild = async () => {
			const quote = await post<QuoteResponse>("/swap/quote", {
				originChain: scene.testChains.origin.chainId,
				destinationChain: scene.testChains.destination.chainId,
				inputToken: scene.testChains.origin.deployment.settlementToken,
				outputToken: scene.testChains.destination.deployment.settlementToken,
				amount: "10000000",
				walletAddress: wallet.address,
				slippageBps: 1,
			});
			const { geoQuoteToken } = quote;
			const { geoOpToken, geoOpHash } = await post<BuildResponse>("/swap/build-geo-op", { geoQuoteToken });
			const signature = await wallet.signMessage({ message: { raw: geoOpHash as Hex } });
			return { quote, op: { geoOpToken, signature } };
		};
		await setFees(start);
		const { quote, op } = await quoteAndBuild();
		await setFees(risen);
		expect(await post("/swap/submit", op)).toMatchObject({
			httpStatus: 409,
			code: "LIQUIDITY_CHANGED",
			details: { reason: "price" },
		});
		expect(await scene.swapCount()).toBe(0);
		const dearer = await quoteAndBuild();
		expect(BigInt(dearer.quote.output)).toBeLessThan(BigInt(quote.output));

		// The margin is 2 %. The same bytes that were refused are taken once the fees are back within it.
		await setFees({ l2: start.l2 * 1.015, l1: start.l1 * 1.015 });
		expect(await post("/swap/submit", op)).toMatchObject({ httpStatus: 200, swapId: quote.swapId });
	},
);
