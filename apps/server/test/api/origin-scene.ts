import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { devTokenAbi, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	type BuildResponse,
	newSwapUuid,
	type Order,
	orderToJson,
	packDeadlines,
	type SubmitResponse,
	SwapError,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { pino } from "pino";
import {
	type Address,
	createWalletClient,
	encodeFunctionData,
	type Hex,
	http,
	type LocalAccount,
	type PrivateKeyAccount,
	parseEther,
	type SignedAuthorization,
	type TransactionReceipt,
	TransactionReceiptNotFoundError,
	zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Route, RouteRequest } from "../../src/api/http/route.ts";
import { sealToken } from "../../src/api/seal/seal-token.ts";
import { connectChain, type EvmChain } from "../../src/chain/evm/connect-chain.ts";
import { parseSealKeys, type SealPurpose } from "../../src/config/seal-keys.ts";
import type { SealedQuote } from "../../src/desk/sealed-quote.ts";
import { createTestDatabase } from "../service/test-database.ts";

/** Later than any test waits, except for the one that waits for it. */
export const sealKeyRotatesAfterMs = 60 * 86_400_000;

export type OriginScene = Awaited<ReturnType<typeof startOriginScene>>;

/** Starts two chains, a database and a clock that can be put forward, as the basis of quotes, builds and submits. */
export async function startOriginScene() {
	const [testChains, database] = await Promise.all([
		startTestChains({ automine: true }),
		createTestDatabase({ as: "api" }),
	]);
	const { origin, destination } = testChains;
	const relayer = privateKeyToAccount(testChains.keys.relayers[0] ?? "0x");
	const accountId: string = randomUUID();
	const clock = { aheadMs: 0 };
	const nowMs = () => Date.now() + clock.aheadMs;
	const keyText = (kid: string) => `${kid}:${randomBytes(32).toString("base64url")}`;
	const rotatesAt = `${new Date(Date.now() + sealKeyRotatesAfterMs).toISOString().slice(0, 19)}Z`;
	const sealKeys = parseSealKeys(`${keyText("next")}@${rotatesAt},${keyText("test")}`, { nowMs });
	const chains = new Map<number, EvmChain>(
		[origin, destination].map((chain) => [chain.chainId, connectChain({ ...chain, batchSize: 10 })]),
	);
	/** The same chains, at an address where no process listens. */
	const deadChains = new Map<number, EvmChain>(
		[origin, destination].map((chain) => [
			chain.chainId,
			connectChain({ ...chain, rpcUrl: "http://127.0.0.1:9" }),
		]),
	);

	return {
		testChains,
		origin,
		database,
		relayer,
		sealKeys,
		accountId,
		clock,
		nowMs,
		chains,
		deadChains,
		assetOf: (symbol: string) => assetOf(origin, symbol),
		/** Sends a transaction and waits until it is mined. */
		send: (account: PrivateKeyAccount, transaction: SceneTransaction) => send(origin, account, transaction),
		/** Sends a transaction and leaves it pending, if the chain does not mine. */
		broadcast: (account: PrivateKeyAccount, transaction: SceneTransaction) =>
			broadcast(origin, account, transaction),
		newWallet: (options: WalletOptions = {}) => newWallet({ origin, relayer, ...options }),
		authorize: (wallet: PrivateKeyAccount, change: Partial<AuthorizationRequest> = {}) =>
			authorize(origin, wallet, change),
		newQuote: (wallet: Address, options: QuoteOptions = {}) =>
			newQuote({ testChains, wallet, nowMs: nowMs(), ...options }),
		seal: (
			payload: unknown,
			{ purpose = "quote:evm", to = accountId }: { purpose?: SealPurpose; to?: string } = {},
		) => sealToken(sealKeys, { purpose, accountId: to, payload }),
		call: <Answer = BuildResponse | SubmitResponse>(route: Route, body: unknown, as = accountId) =>
			callRoute(route, { body, accountId: as }) as Promise<Answer>,
		query: (route: Route, query: Record<string, unknown>) => callRoute(route, { query, accountId }),
		stop: async () => {
			await Promise.all([testChains.stop(), database.drop()]);
		},
	};
}

/** Returns the code and details of a refusal. */
export async function refusalOf(answer: Promise<unknown>): Promise<{ code: string; details: unknown }> {
	const error = await answer.then(
		(value) => new Error(`not refused: ${JSON.stringify(value)}`),
		(thrown: unknown) => thrown,
	);
	if (!(error instanceof SwapError)) throw error;
	return { code: error.code, details: error.details };
}

export function callRoute(
	route: Route,
	{
		accountId,
		limits = {},
		...request
	}: {
		accountId: string;
		limits?: { maxUsdPerDay?: number | undefined };
		body?: unknown;
		query?: Record<string, unknown>;
	},
): Promise<unknown> {
	return route.handle({
		body: undefined,
		query: {},
		params: {},
		requestId: "test",
		log: pino({ level: "silent" }),
		onGone: () => {},
		...request,
		account: { accountId, limits } as RouteRequest["account"],
	});
}

function assetOf(chain: TestChain, symbol: string): Address {
	const asset = chain.deployment.assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) throw new Error(`no asset ${symbol}`);
	return asset.address;
}

type SceneTransaction = {
	to: Address;
	data?: Hex;
	value?: bigint;
	authorizationList?: SignedAuthorization[];
};

function broadcast(
	origin: TestChain,
	account: PrivateKeyAccount,
	transaction: SceneTransaction,
): Promise<Hex> {
	const client = createWalletClient({ account, chain: origin.chain, transport: http(origin.rpcUrl) });
	const { authorizationList, ...rest } = transaction;
	return client.sendTransaction({
		...rest,
		...(authorizationList && { authorizationList }),
		gas: 2_000_000n,
	});
}

async function send(
	origin: TestChain,
	account: PrivateKeyAccount,
	transaction: SceneTransaction,
): Promise<TransactionReceipt> {
	const hash = await broadcast(origin, account, transaction);
	// viem's own wait polls only when there is a new block, and there may be no further block for a long time.
	for (const deadline = Date.now() + 10_000; ; await sleep(5)) {
		try {
			return await origin.publicClient.getTransactionReceipt({ hash });
		} catch (error) {
			if (!(error instanceof TransactionReceiptNotFoundError) || Date.now() > deadline) throw error;
		}
	}
}

type WalletOptions = {
	symbol?: string;
	amount?: bigint;
	isDelegated?: boolean;
	/** The contract that it is delegated to. */
	delegate?: Address;
};

async function newWallet({
	origin,
	relayer,
	symbol = "USDC",
	amount = 10_000_000n,
	isDelegated = false,
	delegate = origin.deployment.contracts.delegate,
}: WalletOptions & { origin: TestChain; relayer: PrivateKeyAccount }): Promise<PrivateKeyAccount> {
	const wallet = privateKeyToAccount(generatePrivateKey());
	const token = assetOf(origin, symbol);
	if (token === zeroAddress) await origin.testClient.setBalance({ address: wallet.address, value: amount });
	else {
		const data = encodeFunctionData({
			abi: devTokenAbi,
			functionName: "mint",
			args: [wallet.address, amount],
		});
		await send(origin, relayer, { to: token, data });
	}
	if (isDelegated) {
		const authorizationList = [await authorize(origin, wallet, { address: delegate })];
		await send(origin, relayer, { to: wallet.address, authorizationList });
	}
	return wallet;
}

type AuthorizationRequest = { chainId: number; address: Address; nonce: number };

async function authorize(
	{ chainId, publicClient, deployment }: TestChain,
	wallet: LocalAccount,
	change: Partial<AuthorizationRequest> = {},
): Promise<SignedAuthorization> {
	if (!wallet.signAuthorization) throw new Error("a local account signs authorizations");
	const signed = await wallet.signAuthorization({
		chainId,
		address: deployment.contracts.delegate,
		nonce: await publicClient.getTransactionCount({ address: wallet.address }),
		...change,
	});
	return signed as SignedAuthorization;
}

export type QuoteOptions = { inputToken?: Address; inputAmount?: bigint; openSeconds?: number };

/** Returns a quote as the desk seals it, for a new wallet's whole balance. */
function newQuote({
	testChains: { origin, destination },
	wallet,
	nowMs,
	inputToken = assetOf(origin, "USDC"),
	inputAmount = 10_000_000n,
	openSeconds = 75,
}: QuoteOptions & { testChains: TestChains; wallet: Address; nowMs: number }): SealedQuote & {
	terms: Order;
} {
	const uuid = newSwapUuid({ nowMs, random: randomBytes(10) });
	const now = BigInt(Math.floor(nowMs / 1000));
	const openDeadline = now + BigInt(openSeconds);
	const terms: Order = {
		originChainId: BigInt(origin.chainId),
		destinationChainId: BigInt(destination.chainId),
		escrow: toWord(origin.deployment.contracts.escrow),
		originVault: toWord(origin.deployment.contracts.vault),
		destinationVault: toWord(destination.deployment.contracts.vault),
		attesterSet: origin.deployment.attesterSet.hash,
		wallet: toWord(wallet),
		inputToken: toWord(inputToken),
		inputAmount,
		outputToken: toWord(assetOf(destination, "USDC")),
		minOutput: 9_900_000n,
		recipient: toWord(wallet),
		topUp: 0n,
		swapKey: toSwapKey(uuid),
		deadlines: packDeadlines({
			openDeadline,
			fillDeadline: openDeadline + 45n,
			refundAfter: openDeadline + 75n,
		}),
	};
	return {
		uuid,
		terms,
		order: orderToJson(terms),
		output: 9_950_000n,
		delivery: { kind: "inventory", amount: 9_950_000n },
		feeMillibps: 12_500,
		networkCost: 0n,
		valueUsdCents: 1_000n,
		issuedAtMs: nowMs,
		expiresAtMs: nowMs + 30_000,
		opExpiresAtMs: nowMs + 45_000,
	};
}

/** Gives ether to a wallet that will send its own transaction. */
export async function fundEther({ origin }: OriginScene, address: Address): Promise<void> {
	await origin.testClient.setBalance({ address, value: parseEther("1") });
}
