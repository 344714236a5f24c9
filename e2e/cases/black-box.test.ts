import { generateKeyPairSigner } from "@solana/kit";
import { parseEther, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { beforeAll, type ExpectStatic, test } from "vitest";
import { signGeoOp } from "../black-box/sign-evm.ts";
import { pollUntilEnd, swapFromEvm, swapFromSolana } from "../black-box/swap.ts";
import { createSwapApi, type QuoteRequest, type Swap, type SwapApi } from "../black-box/swap-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { type AnyChain, holding, isSolanaChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { signUrgentTransfer } from "../trouble/sign-urgent-transfer.ts";
import { delegateWallet } from "../wallet/delegate-wallet.ts";
import { assetAddress } from "../wallet/make-order.ts";

const ten = parseUnits("10", 6);

let environment: Environment;
let api: SwapApi;
beforeAll(async () => {
	environment = sharedEnvironment();
	api = createSwapApi({ baseUrl: environment.baseUrl, apiKey: await environment.newKey() });
});

type Side = { chain: AnyChain; token: string };

function requestOf(swap: {
	from: Side & { amount: bigint };
	to: Side;
	walletAddress: string;
	recipient?: string;
}): QuoteRequest {
	const { from, to, walletAddress, recipient } = swap;
	const account = { address: walletAddress };
	return swapIntent({ from, to, account, ...(recipient && { recipient }) }) as QuoteRequest;
}

/** Returns one of the three chains by the name that a test uses. */
function chainAt(name: "EVM" | "other EVM" | "Solana"): AnyChain {
	const { origin, destination, solana } = environment;
	return { EVM: origin, "other EVM": destination, Solana: solana }[name];
}

/** Expects a pending swap to have settled, with a hash of either chain on the way. */
function expectSettled(
	expect: ExpectStatic,
	{ seen, swap }: { seen: Swap[]; swap: Swap },
	[from, to]: AnyChain[],
) {
	const hashOn = (chain: AnyChain | undefined) =>
		expect.stringMatching(
			chain && isSolanaChain(chain) ? /^[1-9A-HJ-NP-Za-km-z]{64,88}$/ : /^0x[0-9a-f]{64}$/,
		);
	expect(swap).toMatchObject({
		status: "settled",
		originTxHash: hashOn(from),
		deliveryTxHash: hashOn(to),
	});
	for (const earlier of seen.slice(0, -1)) expect(earlier.status).toBe("pending");
}

test.concurrent("the first swap of a new wallet without gas delegates it, and its second swap needs no authorization [I1-2, I1-3, I1-4, I1-5, I1-7, I1-9, I1-10, I1-11, I1-12, I2.1-1, I2.1-4, I2.1-5, I2.4-1, I2.4-2, I2.4-3, I2.5-1, I2.5-2, I3-1, I3-8, I4-7, I4-19, I4-20, I4-27, I4-28, I4-31, I4-34, I4-35, I4-36, I4-37, I4-38, I5-2, I5-4, I5-5, I6-1, I8-10, D-build-1]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: 2n * ten });
	const walletAddress = account.address;
	const request = requestOf({
		from: { chain: origin, token: "USDC", amount: ten },
		to: { chain: destination, token: "USDC" },
		walletAddress,
	});
	expect(await holding(origin, "ETH", walletAddress)).toBe(0n);
	const delegation = await api.delegation({ chainId: origin.chainId, walletAddress });
	expect(delegation).toMatchObject({
		originReady: false,
		delegationTarget: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
		accountNonce: 0,
	});
	const unsigned = await api.quote(request);
	await expect(api.buildGeoOp({ geoQuoteToken: unsigned.geoQuoteToken })).rejects.toMatchObject({
		status: 409,
		code: "NEEDS_DELEGATION",
	});

	const first = await swapFromEvm(api, { account, request });
	expect(first.authorization).toBeDefined();
	expect(first.submitted).toEqual({ swapId: expect.any(String), status: "pending" });
	expectSettled(expect, first, [origin, destination]);
	expect(await holding(origin, "USDC", walletAddress)).toBe(ten);
	const delivered = await holding(destination, "USDC", walletAddress);
	expect(delivered).toBeGreaterThan((ten * 9n) / 10n);
	expect(await api.delegation({ chainId: origin.chainId, walletAddress })).toMatchObject({
		originReady: true,
	});

	const second = await swapFromEvm(api, { account, request });
	expect(second.authorization).toBeUndefined();
	expect(second.submitted.swapId).not.toBe(first.submitted.swapId);
	expectSettled(expect, second, [origin, destination]);
	expect(await holding(origin, "USDC", walletAddress)).toBe(0n);
	expect(await holding(destination, "USDC", walletAddress)).toBeGreaterThan(delivered);
	expect(await holding(origin, "ETH", walletAddress)).toBe(0n);

	const elsewhere = await api.delegation({ chainId: destination.chainId, walletAddress });
	expect(elsewhere).toMatchObject({ originReady: false });
});

test.concurrent.for([
	{ from: "EVM", input: "USDC", amount: "10", to: "other EVM", output: "ORB", what: "a token to another" },
	{ from: "EVM", input: "ETH", amount: "0.01", to: "other EVM", output: "USDC", what: "the native token" },
	{ from: "EVM", input: "USDC", amount: "10", to: "other EVM", output: "ETH", what: "to the native token" },
	{ from: "EVM", input: "USDC", amount: "10", to: "EVM", output: "ORB", what: "on one chain" },
	{ from: "EVM", input: "USDC", amount: "10", to: "Solana", output: "USDC", what: "to Solana" },
	{ from: "EVM", input: "USDC", amount: "10", to: "Solana", output: "SOL", what: "to Solana's native token" },
] as const)(
	"a client swaps $amount $input from an EVM chain to $output, $what, for another recipient [I1-3, I1-9, I2.1-3, I3-4, I3-7, D-conventions-6, D-conventions-7, D-quote-request-2]",
	async (route, { expect }) => {
		const [from, to] = [chainAt(route.from), chainAt(route.to)];
		const amount = parseUnits(route.amount, route.input === "USDC" ? 6 : 18);
		const account = await environment.newWallet({ chain: environment.origin, token: route.input, amount });
		const recipient = await newAddress(to);
		const request = requestOf({
			from: { chain: from, token: route.input, amount },
			to: { chain: to, token: route.output },
			walletAddress: account.address,
			recipient,
		});
		const done = await swapFromEvm(api, { account, request });
		expectSettled(expect, done, [from, to]);
		expect(await holding(from, route.input, account.address)).toBe(0n);
		const delivered = await holding(to, route.output, recipient);
		expect(delivered).toBeGreaterThan((BigInt(done.quote.output) * 95n) / 100n);
	},
);

test.concurrent.for([
	{ input: "USDC", amount: "10", to: "EVM", output: "USDC", what: "to an EVM chain" },
	{ input: "SOL", amount: "0.1", to: "EVM", output: "ETH", what: "from native to native" },
	{ input: "USDC", amount: "10", to: "Solana", output: "SOL", what: "on Solana alone" },
	{ input: "SOL", amount: "0.1", to: "Solana", output: "USDT", what: "on Solana alone, the native token" },
] as const)(
	"a client swaps $amount $input from Solana to $output, $what, without a lamport for fees [I1-3, I1-6, I1-8, I1-10, I2.1-2, I2.1-3, I3-2, I3-4, I3-8, I4-15, I4-24, I4-25, I5-3, D-conventions-6, D-conventions-7]",
	async (route, { expect }) => {
		const { solana } = environment;
		const to = chainAt(route.to);
		const amount = parseUnits(route.amount, route.input === "USDC" ? 6 : 9);
		const signer = await solana.newWallet(route.input === "USDC" ? { usdc: amount } : { lamports: amount });
		const recipient = await newAddress(to);
		const request = requestOf({
			from: { chain: solana, token: route.input, amount },
			to: { chain: to, token: route.output },
			walletAddress: signer.address,
			recipient,
		});
		const done = await swapFromSolana(api, { signer, request });
		expect(done.submitted).toEqual({ swapId: expect.any(String), status: "pending" });
		expectSettled(expect, done, [solana, to]);
		expect(await holding(solana, route.input, signer.address)).toBe(0n);
		const delivered = await holding(to, route.output, recipient);
		expect(delivered).toBeGreaterThan((BigInt(done.quote.output) * 95n) / 100n);
	},
);

test.concurrent("a swap that cannot be delivered ends as refunded, and the wallet has its input back [I1-10, I3-6, I3-8, I6-1, D-status-20]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: ten });
	const recipient = privateKeyToAddress(generatePrivateKey());
	const revertAlways = "0x5f5ffd";
	await destination.testClient.setCode({ address: recipient, bytecode: revertAlways });
	const { seen, swap } = await swapFromEvm(api, {
		account,
		request: requestOf({
			from: { chain: origin, token: "USDC", amount: ten },
			to: { chain: destination, token: "ETH" },
			walletAddress: account.address,
			recipient,
		}),
	});
	expect(swap.status).toBe("refunded");
	expect(swap.originTxHash).toMatch(/^0x[0-9a-f]{64}$/);
	for (const earlier of seen.slice(0, -1)) expect(earlier.status).toBe("pending");
	expect(await holding(origin, "USDC", account.address)).toBe(ten);
});

test.concurrent("a swap whose wallet is emptied before it opens ends as failed, and takes nothing [I1-10, I3-5, I3-8, I6-1, D-status-1, D-status-17]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const amount = ten;
	const account = await environment.newWallet({
		chain: origin,
		token: "USDC",
		amount,
		ethWei: parseEther("1"),
	});
	await delegateWallet(origin, account);
	const request = requestOf({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
		walletAddress: account.address,
	});
	const { geoQuoteToken } = await api.quote(request);
	const build = await api.buildGeoOp({ geoQuoteToken });
	const signature = await signGeoOp(account, build);
	const elsewhere = privateKeyToAddress(generatePrivateKey());
	const token = assetAddress(origin, "USDC");
	const transfer = await signUrgentTransfer(origin, account, { token, to: elsewhere, amount });
	const { swapId } = await api.submit({ geoOpToken: build.geoOpToken, signature });
	await origin.publicClient.sendRawTransaction({ serializedTransaction: transfer });
	const { seen, swap } = await pollUntilEnd(api, swapId);
	expect(swap).toMatchObject({ swapId, status: "failed" });
	expect(swap).not.toHaveProperty("originTxHash");
	expect(swap).not.toHaveProperty("deliveryTxHash");
	for (const earlier of seen.slice(0, -1)) expect(earlier.status).toBe("pending");
	expect(await holding(origin, "USDC", elsewhere)).toBe(amount);
});

test.concurrent("a quote warns of a high price impact, and the swap settles regardless [I2.2-9, I2.2-11, I2.2-12, I2.2-13, I7-13]", async ({
	expect,
}) => {
	const { origin, destination, solana } = environment;
	// The amount is so small that creating the recipient's account on Solana costs a good part of it.
	const small = parseUnits("1.5", 6);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: small });
	const walletAddress = account.address;
	const from = { chain: origin, token: "USDC", amount: small };
	const request = requestOf({
		from,
		to: { chain: solana, token: "USDC" },
		walletAddress,
		recipient: (await generateKeyPairSigner()).address,
	});
	const { quote, ...done } = await swapFromEvm(api, { account, request });
	expect(quote.warnings).toMatchObject([{ code: "HIGH_PRICE_IMPACT" }]);
	expect(quote.priceImpactBps).toBeLessThan(-300);
	expect(Number(quote.outputUsd)).toBeLessThan(Number(quote.inputUsd));
	expectSettled(expect, done, [origin, solana]);

	const large = { ...from, amount: parseUnits("100", 6) };
	const usual = await api.quote(
		requestOf({ from: large, to: { chain: destination, token: "USDC" }, walletAddress }),
	);
	expect(usual.warnings).toBeUndefined();
	expect(usual.priceImpactBps).toBeGreaterThan(-300);
});

async function newAddress(chain: AnyChain): Promise<string> {
	return isSolanaChain(chain)
		? (await generateKeyPairSigner()).address
		: privateKeyToAddress(generatePrivateKey());
}
