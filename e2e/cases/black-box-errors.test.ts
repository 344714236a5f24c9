import { setTimeout as sleep } from "node:timers/promises";
import { generateKeyPairSigner } from "@solana/kit";
import { getAddress, parseEther } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAddress } from "viem/accounts";
import { beforeAll, test } from "vitest";
import { signAuthorization, signGeoOp } from "../black-box/sign-evm.ts";
import { signUnsigned } from "../black-box/sign-solana.ts";
import { pollUntilEnd, swapFromEvm, swapFromSolana } from "../black-box/swap.ts";
import { createSwapApi, type QuoteRequest, type SwapApi } from "../black-box/swap-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { holding } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { delegateWallet } from "../wallet/delegate-wallet.ts";
import { sendTransaction } from "../wallet/send-bundle.ts";

const ten = 10_000_000n;
const otherProvider = getAddress(`0x${"5a".repeat(20)}`);
/** Some time out before the request is sent, some before it is answered. */
const timeoutsMs = [1, 3, 10, 20, 40];

let environment: Environment;
let api: SwapApi;
beforeAll(async () => {
	environment = sharedEnvironment();
	api = createSwapApi({ baseUrl: environment.baseUrl, apiKey: await environment.newKey() });
});

function newWallet({ ethWei, amount = ten }: { ethWei?: bigint; amount?: bigint } = {}) {
	const { origin: chain } = environment;
	return environment.newWallet({ chain, token: "USDC", amount, ...(ethWei && { ethWei }) });
}

/** Returns a request for 10 USDC, to USDC on the other chain. */
function evmRequest(account: PrivateKeyAccount): QuoteRequest {
	const { origin, destination } = environment;
	const from = { chain: origin, token: "USDC", amount: ten };
	return swapIntent({ from, to: { chain: destination, token: "USDC" }, account }) as QuoteRequest;
}

function solanaRequest(account: { address: string }): QuoteRequest {
	const { solana, destination } = environment;
	const from = { chain: solana, token: "USDC", amount: ten };
	const recipient = privateKeyToAddress(generatePrivateKey());
	return swapIntent({ from, to: { chain: destination, token: "USDC" }, account, recipient }) as QuoteRequest;
}

/** Changes the last character. */
function altered(token: string): string {
	return token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
}

test.concurrent("a client that gets NEEDS_DELEGATION builds the same quote with an authorization, and the swap settles [I4-8, I4-35, I7-1, I7-2, D-errors-14]", async ({
	expect,
}) => {
	const { chainId } = environment.origin;
	const account = await newWallet();
	const { geoQuoteToken } = await api.quote(evmRequest(account));
	await expect(api.buildGeoOp({ geoQuoteToken })).rejects.toMatchObject({
		status: 409,
		code: "NEEDS_DELEGATION",
	});
	const delegation = await api.delegation({ chainId, walletAddress: account.address });
	const authorization = await signAuthorization(account, { chainId, delegation });
	const build = await api.buildGeoOp({ geoQuoteToken, authorization });
	const signature = await signGeoOp(account, build);
	const { swapId } = await api.submit({ geoOpToken: build.geoOpToken, signature });
	expect((await pollUntilEnd(api, swapId)).swap.status).toBe("settled");
});

test.concurrent("a client that gets INVALID_AUTHORIZATION signs at the new nonce and builds again, and the swap settles [I4-9, I7-3, I7-4, I7-5, D-errors-15]", async ({
	expect,
}) => {
	const { origin } = environment;
	const { chainId } = origin;
	const account = await newWallet({ ethWei: parseEther("1") });
	const walletAddress = account.address;
	const before = await api.delegation({ chainId, walletAddress });
	const stale = await signAuthorization(account, { chainId, delegation: before });
	const { geoQuoteToken } = await api.quote(evmRequest(account));
	const early = await api.buildGeoOp({ geoQuoteToken, authorization: stale });
	await sendTransaction({ chain: origin, account, to: walletAddress });
	const refused = { status: 409, code: "INVALID_AUTHORIZATION" };
	await expect(api.buildGeoOp({ geoQuoteToken, authorization: stale })).rejects.toMatchObject(refused);
	const tooLate = { geoOpToken: early.geoOpToken, signature: await signGeoOp(account, early) };
	await expect(api.submit(tooLate)).rejects.toMatchObject(refused);
	expect(await holding(origin, "USDC", walletAddress)).toBe(ten);
	expect(await origin.publicClient.getCode({ address: walletAddress })).toBeUndefined();

	const after = await api.delegation({ chainId, walletAddress });
	expect(after.accountNonce).toBe((before.accountNonce ?? 0) + 1);
	const authorization = await signAuthorization(account, { chainId, delegation: after });
	const build = await api.buildGeoOp({ geoQuoteToken, authorization });
	const signature = await signGeoOp(account, build);
	const { swapId } = await api.submit({ geoOpToken: build.geoOpToken, signature });
	expect((await pollUntilEnd(api, swapId)).swap.status).toBe("settled");
});

test.concurrent("a wallet delegated to another provider always gets UNSUPPORTED_DELEGATION, and another wallet swaps [I4-10, I5-6, I7-6, I7-7, I7-8, D-errors-21]", async ({
	expect,
}) => {
	const { origin } = environment;
	const { chainId } = origin;
	const account = await newWallet();
	await delegateWallet(origin, account, otherProvider);
	const code = await origin.publicClient.getCode({ address: account.address });
	const delegation = await api.delegation({ chainId, walletAddress: account.address });
	expect(delegation.originReady).toBe(false);
	const forged = { ...delegation, delegationTarget: origin.deployment.contracts.delegate, accountNonce: 1 };
	const authorization = await signAuthorization(account, { chainId, delegation: forged });
	const { geoQuoteToken } = await api.quote(evmRequest(account));
	for (const attached of [{}, { authorization }, {}]) {
		await expect(api.buildGeoOp({ geoQuoteToken, ...attached })).rejects.toMatchObject({
			status: 422,
			code: "UNSUPPORTED_DELEGATION",
		});
	}
	const other = await newWallet();
	const { swap } = await swapFromEvm(api, { account: other, request: evmRequest(other) });
	expect(swap.status).toBe("settled");
	expect(await origin.publicClient.getCode({ address: account.address })).toBe(code);
	expect(await holding(origin, "USDC", account.address)).toBe(ten);
});

test.concurrent("a build 31 seconds after its quote gets 410, from either kind of origin, and a fresh quote settles [I2.1-8, I2.1-9, I2.1-10, I2.1-11, I4-11, I7-9, I7-10, I8-1]", async ({
	expect,
}) => {
	const { solana } = environment;
	const [account, signer] = [await newWallet(), await solana.newWallet({ usdc: ten })];
	const before = Date.now();
	const untilMs = ({ expiresAt }: { expiresAt: string }) => Date.parse(expiresAt) - Date.now();
	const [evm, ofSolana] = await Promise.all([
		api.quote(evmRequest(account)),
		api.quote(solanaRequest(signer)),
	]);
	for (const quote of [evm, ofSolana]) {
		expect(Date.parse(quote.expiresAt) - before).toBeGreaterThanOrEqual(30_000);
		expect(untilMs(quote)).toBeLessThanOrEqual(30_000);
	}
	// A quote can be built until it expires.
	await sleep(untilMs(ofSolana) - 7_000);
	await api.buildSolanaTx(ofSolana);
	await sleep(Math.max(untilMs(evm), untilMs(ofSolana)) + 1_000);
	await expect(api.buildGeoOp(evm)).rejects.toMatchObject({ status: 410 });
	await expect(api.buildSolanaTx(ofSolana)).rejects.toMatchObject({ status: 410 });
	const again = await Promise.all([
		swapFromEvm(api, { account, request: evmRequest(account) }),
		swapFromSolana(api, { signer, request: solanaRequest(signer) }),
	]);
	expect(again.map(({ swap }) => swap.status)).toEqual(["settled", "settled"]);
});

test.concurrent("a token that was changed or is sent to the wrong endpoint gets 401, and the right token is accepted [I2.1-1, I2.1-2, I2.1-3, I2.1-6, I2.1-7, I4-12, I5-7, I7-11, I7-12]", async ({
	expect,
}) => {
	const { solana, origin } = environment;
	const [account, signer] = [await newWallet(), await solana.newWallet({ usdc: ten })];
	await delegateWallet(origin, account);
	const [evm, ofSolana] = await Promise.all([
		api.quote(evmRequest(account)),
		api.quote(solanaRequest(signer)),
	]);
	const [op, transaction] = await Promise.all([api.buildGeoOp(evm), api.buildSolanaTx(ofSolana)]);
	const signature = await signGeoOp(account, op);
	const signedTransaction = await signUnsigned(signer, transaction);
	const [opToken, solanaOpToken] = [op.geoOpToken, transaction.geoOpToken];
	const invalid = [
		() => api.buildGeoOp({ geoQuoteToken: altered(evm.geoQuoteToken) }),
		() => api.buildGeoOp(ofSolana),
		() => api.buildGeoOp({ geoQuoteToken: opToken }),
		() => api.buildSolanaTx({ geoQuoteToken: altered(ofSolana.geoQuoteToken) }),
		() => api.buildSolanaTx(evm),
		() => api.submit({ geoOpToken: altered(opToken), signature }),
		() => api.submit({ geoOpToken: evm.geoQuoteToken, signature }),
		() => api.submit({ geoOpToken: solanaOpToken, signature }),
		() => api.submitSolana({ geoOpToken: altered(solanaOpToken), signedTransaction }),
		() => api.submitSolana({ geoOpToken: opToken, signedTransaction }),
	];
	for (const call of invalid) await expect(call()).rejects.toMatchObject({ status: 401 });
	const submitted = [
		await api.submit({ geoOpToken: opToken, signature }),
		await api.submitSolana({ geoOpToken: solanaOpToken, signedTransaction }),
	];
	for (const { swapId } of submitted) {
		expect((await pollUntilEnd(api, swapId)).swap.status).toBe("settled");
	}
});

test.concurrent("a client whose submits time out sends them again, and there is one swap, executed once [I4-21, I4-26, I8-6, I8-7, I8-8, I8-9, D-submit-11, D-submit-14]", async ({
	expect,
}) => {
	const { origin, solana } = environment;
	// Each wallet has enough for two payments, so that a second one would show.
	const [account, signer] = [
		await newWallet({ amount: 2n * ten }),
		await solana.newWallet({ usdc: 2n * ten }),
	];
	await delegateWallet(origin, account);
	const submitEvm = async () => {
		const op = await api.buildGeoOp(await api.quote(evmRequest(account)));
		const body = { geoOpToken: op.geoOpToken, signature: await signGeoOp(account, op) };
		return (options?: { timeoutMs: number }) => api.submit(body, options);
	};
	const submitSolana = async () => {
		const built = await api.buildSolanaTx(await api.quote(solanaRequest(signer)));
		const body = { geoOpToken: built.geoOpToken, signedTransaction: await signUnsigned(signer, built) };
		return (options?: { timeoutMs: number }) => api.submitSolana(body, options);
	};
	// A build expires soon, so each is submitted right after.
	for (const build of [submitEvm, submitSolana]) {
		const submit = await build();
		for (const timeoutMs of timeoutsMs) await submit({ timeoutMs }).catch(() => undefined);
		const { swapId } = await submit();
		expect((await pollUntilEnd(api, swapId)).swap.status).toBe("settled");
		expect(await submit()).toEqual({ swapId, status: "settled" });
	}
	expect(await holding(origin, "USDC", account.address)).toBe(ten);
	expect(await holding(solana, "USDC", signer.address)).toBe(ten);
});

test.concurrent("without a valid key every endpoint of a swap returns 401 [I4-1, I5-1]", async ({
	expect,
}) => {
	const { baseUrl } = environment;
	const { address } = await generateKeyPairSigner();
	const unknown = createSwapApi({ baseUrl, apiKey: "none" });
	for (const call of [
		() => unknown.quote(solanaRequest({ address })),
		() => unknown.delegation({ chainId: environment.origin.chainId, walletAddress: address }),
		() => unknown.buildGeoOp({ geoQuoteToken: "x" }),
		() => unknown.buildSolanaTx({ geoQuoteToken: "x" }),
		() => unknown.submit({ geoOpToken: "x", signature: "x" }),
		() => unknown.submitSolana({ geoOpToken: "x", signedTransaction: "x" }),
		() => unknown.status("x"),
	]) {
		await expect(call()).rejects.toMatchObject({ status: 401 });
	}
});
