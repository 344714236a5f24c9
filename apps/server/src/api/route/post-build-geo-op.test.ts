import {
	type BuildResponse,
	buildResponseSchema,
	fromWord,
	geoEscrowAbi,
	type Order,
	orderDigest,
	orderId,
	orderProof,
	orderSchema,
	orderTerms,
	orderToJson,
	type SignatureKind,
	type SubmitResponse,
	toWord,
} from "@geoswap/protocol";
import {
	encodeFunctionData,
	erc20Abi,
	getAddress,
	type Hex,
	hashTypedData,
	type PrivateKeyAccount,
	parseEventLogs,
	type SignedAuthorization,
	type TypedDataDefinition,
	zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fundEther, type OriginScene, refusalOf, startOriginScene } from "../../../test/api/origin-scene.ts";
import type { Route } from "../http/route.ts";
import { createDelegatedWallets } from "../origin/delegated-wallets.ts";
import { openToken } from "../seal/open-token.ts";
import type { SealedOp } from "../seal/seal-token.ts";
import { postBuildGeoOp } from "./post-build-geo-op.ts";

let scene: OriginScene;
let route: Route;
const delegated = createDelegatedWallets();
beforeAll(async () => {
	scene = await startOriginScene();
	const { chains, sealKeys, nowMs } = scene;
	route = postBuildGeoOp({ chains, delegated, db: scene.database.pool, sealKeys, nowMs });
});
afterAll(() => scene.stop());

async function build(quote: unknown, authorization?: unknown): Promise<BuildResponse> {
	const geoQuoteToken = scene.seal(quote);
	return buildResponseSchema.parse(await scene.call(route, { geoQuoteToken, authorization }));
}

test("a quote for contracts that have been replaced is not built", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { terms, ...quote } = scene.newQuote(wallet.address);
	const earlier = toWord(getAddress(`0x${"12".repeat(20)}`));
	for (const contract of ["escrow", "originVault", "destinationVault"] as const) {
		const order = orderToJson({ ...terms, [contract]: earlier });
		expect(await refusalOf(build({ ...quote, order }))).toEqual({
			code: "SIMULATION_FAILED",
			details: { reason: "the service's contracts were replaced since the quote" },
		});
	}
});

test.each(["ETH", "USDC", "USDT", "WETH", "ORB"])(
	"an op in %s, rebuilt from the readable answer, opens the quoted order within its gas limit",
	async (symbol) => {
		const amount = 10n ** 15n;
		const isMintable = symbol !== "WETH";
		const wallet = await scene.newWallet(isMintable ? { symbol, amount } : {});
		const inputToken = scene.assetOf(symbol);
		if (!isMintable) await wrap(wallet, amount);
		const quote = scene.newQuote(wallet.address, { inputToken, inputAmount: amount });
		const authorization = await scene.authorize(wallet);
		const built = await build(quote, authorization);
		expect(built.expiresAt).toBe(new Date(quote.opExpiresAtMs).toISOString());
		await expectOpens({ built, wallet, order: quote.terms, authorization });
	},
);

test("the answer's typed data, as JSON, has the hash as its digest, and its signature opens the order", async () => {
	for (const delegate of ["delegate", "typedDelegate"] as const) {
		const target = scene.origin.deployment.contracts[delegate];
		const wallet = await scene.newWallet();
		const authorization = await scene.authorize(wallet, { address: target });
		const quote = scene.newQuote(wallet.address);
		const built = await build(quote, authorization);
		expect(built.geoOp.delegate).toBe(target);
		await expectOpens({ built, wallet, order: quote.terms, authorization, kind: "typed" });
	}
});

test("the typed data names the wallet, both assets, the amounts and the contracts of the order", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { terms, ...quote } = scene.newQuote(wallet.address);
	const { chainId, deployment } = scene.origin;
	const { escrow, vault } = deployment.contracts;
	const { typedData, order } = (await build(quote)).geoOp;
	expect(typedData).toMatchObject({
		domain: { name: "Geoswap", version: "1", chainId, verifyingContract: escrow },
		primaryType: "Order",
		message: {
			wallet: wallet.address,
			inputToken: scene.assetOf("USDC"),
			inputAmount: "10000000",
			originChainId: String(chainId),
			outputToken: terms.outputToken,
			minOutput: "9900000",
			recipient: terms.recipient,
			topUp: "0",
			escrow,
			originVault: vault,
		},
	});
	expect(Object.keys(typedData.message).toSorted()).toEqual(
		typedData.types.Order?.map(({ name }) => name).toSorted(),
	);
	expect(orderSchema.parse(order as never)).toEqual(terms);
});

test("an existing allowance to the escrow is no obstacle, even for a token that refuses to change a nonzero one", async () => {
	const inputToken = scene.assetOf("USDT");
	const wallet = await scene.newWallet({ symbol: "USDT", isDelegated: true });
	await fundEther(scene, wallet.address);
	const { escrow } = scene.origin.deployment.contracts;
	const data = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [escrow, 5n] });
	await scene.send(wallet, { to: inputToken, data });
	const quote = scene.newQuote(wallet.address, { inputToken });
	await expectOpens({ built: await build(quote), wallet, order: quote.terms });
});

test("two builds of one quote open the same order", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const quote = scene.newQuote(wallet.address);
	const [first, second] = [await build(quote), await build(quote)];
	expect(first.geoOpHash).toBe(second.geoOpHash);
	expect(first.geoOp.orderId).toBe(orderId(quote.terms));
});

test("only a quote token of this account and of an EVM origin is accepted, and this is checked first", async () => {
	const wallet = await scene.newWallet();
	const expired = { ...scene.newQuote(wallet.address), expiresAtMs: 0 };
	const at = (endpoint: string) => ({ reason: "wrong_endpoint", endpoint });
	for (const [token, details] of [
		[scene.seal(expired, { purpose: "quote:solana" }), at("POST /swap/build-solana-tx")],
		[scene.seal(expired, { purpose: "op:evm" }), at("POST /swap/submit")],
		[scene.seal(expired, { to: "another" }), { reason: "other_account" }],
		["x", { reason: "unreadable" }],
	] as const) {
		const body = { geoQuoteToken: token, authorization: "malformed" };
		expect(await refusalOf(scene.call(route, body))).toEqual({ code: "INVALID_TOKEN", details });
	}
	const malformed = { ...(await scene.authorize(wallet)), r: "0xzz" };
	expect(await refusalOf(build(expired, malformed))).toMatchObject({
		code: "INVALID_REQUEST",
		details: { issues: [{ path: "authorization.r" }] },
	});
	expect(await refusalOf(build(expired))).toMatchObject({ code: "QUOTE_EXPIRED" });
});

test("a quote can be built until it or its op expires, by the server's clock", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const quote = scene.newQuote(wallet.address);
	scene.clock.aheadMs = 29_000;
	try {
		await build(quote);
		scene.clock.aheadMs = 30_500;
		expect(await refusalOf(build(quote))).toEqual({
			code: "QUOTE_EXPIRED",
			details: { expiredAt: new Date(quote.expiresAtMs).toISOString() },
		});
		scene.clock.aheadMs = 0;
		const opExpiresAtMs = scene.nowMs() - 1;
		expect(await refusalOf(build({ ...quote, opExpiresAtMs }))).toEqual({
			code: "QUOTE_EXPIRED",
			details: { expiredAt: new Date(opExpiresAtMs).toISOString() },
		});
	} finally {
		scene.clock.aheadMs = 0;
	}
});

test("a wallet delegated to another provider, or with its own code, is refused with or without an authorization", async () => {
	const other = getAddress(`0x${"5".repeat(40)}`);
	const delegated = await scene.newWallet();
	const authorizationList = [await scene.authorize(delegated, { address: other })];
	await scene.send(scene.relayer, { to: delegated.address, authorizationList });
	const contract = await scene.newWallet();
	await scene.origin.testClient.setCode({ address: contract.address, bytecode: "0x6001" });
	for (const [wallet, details] of [
		[delegated, { delegatedTo: other }],
		[contract, {}],
	] as const) {
		const quote = scene.newQuote(wallet.address);
		const expected = { code: "UNSUPPORTED_DELEGATION", details };
		expect(await refusalOf(build(quote))).toEqual(expected);
		expect(await refusalOf(build(quote, await scene.authorize(wallet)))).toEqual(expected);
	}
});

test("a wallet without a delegation is refused with what it must sign", async () => {
	const wallet = await scene.newWallet();
	expect(await refusalOf(build(scene.newQuote(wallet.address), null))).toEqual({
		code: "NEEDS_DELEGATION",
		details: { delegationTarget: scene.origin.deployment.contracts.delegate, accountNonce: 0 },
	});
});

test("a wallet on an earlier delegate is refused with a request for a new delegation, and builds with it", async () => {
	const earlier = getAddress(`0x${"ea".repeat(20)}`);
	const { chains, sealKeys, nowMs } = scene;
	const later = new Map(
		[...chains].map(([chainId, chain]) => {
			const contracts = { ...chain.deployment.contracts, earlierDelegates: [earlier] };
			return [chainId, { ...chain, deployment: { ...chain.deployment, contracts } }];
		}),
	);
	const db = scene.database.pool;
	const laterRoute = postBuildGeoOp({ chains: later, delegated, db, sealKeys, nowMs });
	const wallet = await scene.newWallet({ isDelegated: true, delegate: earlier });
	const quote = scene.newQuote(wallet.address);
	const ask = (authorization?: unknown) =>
		scene.call<BuildResponse>(laterRoute, { geoQuoteToken: scene.seal(quote), authorization });
	const { delegate } = scene.origin.deployment.contracts;
	expect(await refusalOf(ask())).toEqual({
		code: "NEEDS_DELEGATION",
		details: { delegationTarget: delegate, accountNonce: 1 },
	});
	const authorization = await scene.authorize(wallet);
	const built = await ask(authorization);
	expect(built.geoOp.delegate).toBe(delegate);
	await expectOpens({ built, wallet, order: quote.terms, authorization });
});

test("an authorization that would not take effect is refused with the reason", async () => {
	const wallet = await scene.newWallet();
	const quote = scene.newQuote(wallet.address);
	const { chainId, deployment } = scene.origin;
	const stranger = privateKeyToAccount(generatePrivateKey());
	const good = await scene.authorize(wallet);
	const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
	const highS = {
		...good,
		s: `0x${(order - BigInt(good.s)).toString(16).padStart(64, "0")}`,
		yParity: 1 - (good.yParity ?? 0),
	};
	for (const [authorization, details] of [
		[await scene.authorize(wallet, { chainId: 0 }), { reason: "chain", expected: chainId }],
		[await scene.authorize(wallet, { chainId: 1 }), { reason: "chain", expected: chainId }],
		[
			await scene.authorize(wallet, { address: zeroAddress }),
			{ reason: "address", expected: deployment.contracts.delegate },
		],
		[await scene.authorize(stranger), { reason: "signer", expected: wallet.address }],
		[highS, { reason: "signer", expected: wallet.address }],
		[
			{ ...good, r: "0x0" },
			{ reason: "signer", expected: wallet.address },
		],
		[await scene.authorize(wallet, { nonce: 1 }), { reason: "nonce", expected: 0 }],
	] as const) {
		expect(await refusalOf(build(quote, authorization))).toEqual({ code: "INVALID_AUTHORIZATION", details });
	}
	const spelled = {
		...good,
		chainId: `0x${chainId.toString(16)}`,
		nonce: "0",
		r: good.r.slice(2),
		v: 27n.toString(),
	};
	await build(quote, spelled);
});

test("an authorization is refused while the wallet has a pending transaction", async () => {
	const wallet = await scene.newWallet();
	await fundEther(scene, wallet.address);
	const authorization = await scene.authorize(wallet);
	await scene.origin.testClient.setAutomine(false);
	try {
		await scene.broadcast(wallet, { to: wallet.address });
		await expect(build(scene.newQuote(wallet.address), authorization)).rejects.toMatchObject({
			code: "INVALID_AUTHORIZATION",
			details: { reason: "pending_transactions", expected: 1 },
			// Once it is mined, it is known whether it was the wallet's own first swap.
			next: "retry",
			retryable: true,
		});
	} finally {
		await scene.origin.testClient.mine({ blocks: 1 });
		await scene.origin.testClient.setAutomine(true);
	}
});

test("an authorization for the delegate that a wallet already has is ignored, regardless of its other fields", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const stale = await scene.authorize(wallet, { chainId: 0, nonce: 7 });
	const built = await build(scene.newQuote(wallet.address), stale);
	expect((await sealedOp(built)).authorization).toBeUndefined();
});

test("an authorization for the other one of the two delegates switches the wallet to it", async () => {
	const { delegate, typedDelegate } = scene.origin.deployment.contracts;
	const wallet = await scene.newWallet({ isDelegated: true });
	const quote = scene.newQuote(wallet.address);
	expect((await build(quote)).geoOp.delegate).toBe(delegate);
	const stale = await scene.authorize(wallet, { address: typedDelegate, nonce: 0 });
	expect(await refusalOf(build(quote, stale))).toEqual({
		code: "INVALID_AUTHORIZATION",
		details: { reason: "nonce", expected: 1 },
	});
	const authorization = await scene.authorize(wallet, { address: typedDelegate });
	const built = await build(quote, authorization);
	expect(built.geoOp.delegate).toBe(typedDelegate);
	await expectOpens({ built, wallet, order: quote.terms, authorization, kind: "typed" });
});

test("a wallet that holds too little is refused with its balance and the required amount", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const quote = scene.newQuote(wallet.address, { inputAmount: 10_000_001n });
	expect(await refusalOf(build(quote))).toEqual({
		code: "INSUFFICIENT_BALANCE",
		details: { balance: "10000000", required: "10000001" },
	});
});

test("an order that the escrow would not open is refused with the escrow's reason", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const quote = scene.newQuote(wallet.address, { openSeconds: -3_600 });
	expect(await refusalOf(build(quote))).toEqual({
		code: "SIMULATION_FAILED",
		details: { reason: "InvalidDeadlines" },
	});
});

test("a chain that does not respond is reported as unavailable [D-errors-28]", async () => {
	const { deadChains: chains, sealKeys, nowMs } = scene;
	const dead = postBuildGeoOp({
		chains,
		delegated: createDelegatedWallets(),
		db: scene.database.pool,
		sealKeys,
		nowMs,
	});
	const geoQuoteToken = scene.seal(scene.newQuote(scene.relayer.address));
	expect(await refusalOf(scene.call<SubmitResponse>(dead, { geoQuoteToken }))).toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
	});
});

async function wrap(wallet: PrivateKeyAccount, amount: bigint): Promise<void> {
	const weth = scene.assetOf("WETH");
	await scene.send(scene.relayer, { to: weth, value: amount });
	const data = encodeFunctionData({
		abi: erc20Abi,
		functionName: "transfer",
		args: [wallet.address, amount],
	});
	await scene.send(scene.relayer, { to: weth, data });
}

/** Rebuilds the op from the readable answer, as a careful caller does, signs it and opens the order with its gas limit. */
async function expectOpens({
	built,
	wallet,
	order,
	authorization,
	kind = "personal",
}: {
	built: BuildResponse;
	wallet: PrivateKeyAccount;
	order: Order;
	authorization?: SignedAuthorization;
	kind?: SignatureKind;
}): Promise<void> {
	const { geoOp, geoOpHash } = built;
	const rebuilt = orderSchema.parse(geoOp.order as never);
	expect(rebuilt).toEqual(order);
	expect(orderDigest(rebuilt)).toBe(geoOpHash);
	const typedData = geoOp.typedData as unknown as TypedDataDefinition;
	expect(hashTypedData(typedData)).toBe(geoOpHash);
	const signature =
		kind === "typed"
			? await wallet.signTypedData(typedData)
			: await wallet.signMessage({ message: { raw: geoOpHash as Hex } });
	const opening = {
		wallet: wallet.address,
		gas: (await sealedOp(built)).gas,
		terms: orderTerms(order),
		proof: orderProof({ kind, signature }),
	};
	const { logs } = await scene.send(scene.relayer, {
		to: fromWord(order.escrow),
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "openMany", args: [[opening]] }),
		...(authorization && { authorizationList: [authorization] }),
	});
	const [opened] = parseEventLogs({ abi: geoEscrowAbi, eventName: "Opened", logs });
	expect(opened?.args.orderId).toBe(orderId(order));
}

function sealedOp({ geoOpToken }: BuildResponse): Promise<SealedOp> {
	return openToken<SealedOp>(scene.sealKeys, geoOpToken, { purpose: "op:evm", accountId: scene.accountId });
}
