import type { TestChain } from "@geoswap/devnet";
import {
	accountRentLamports,
	programAccountSizes,
	type QuoteRequestBody,
	type SolanaAddress,
	solanaNativeToken,
	tokenAccountOf,
	tokenAccountRentLamports,
} from "@geoswap/protocol";
import { type EndedSwap, getQuote, type Quote } from "@geoswap/sdk";
import { generateKeyPairSigner, type KeyPairSigner } from "@solana/kit";
import { parseUnits } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAddress } from "viem/accounts";
import { beforeAll, type ExpectStatic, test } from "vitest";
import { doSolanaSwap } from "../caller/do-solana-swap.ts";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import { escrowState } from "../chain/escrow-state.ts";
import { type AnyChain, holding, isSolanaChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { expectBooksAgree } from "../expect/expect-books-agree.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { isFilled, isReleased as isReleasedOnSolana, programState } from "../solana/program-state.ts";
import { hasTokenAccount } from "../solana/solana-balance.ts";
import { solanaChanges } from "../solana/solana-changes.ts";
import { assetAddress } from "../wallet/make-order.ts";

/** Time for a delivery to be final, attested and paid out of escrow, on a busy machine. */
const decidedWithinMs = 60_000;

const evmHash = /^0x[0-9a-f]{64}$/;
const solanaHash = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

const recordRentLamports = accountRentLamports(programAccountSizes.record);

/** An account costs 0.00203928 SOL, about 31 cents at the devnet's price. */
const rentCents = { least: 25n, most: 32n };

let environment: Environment;
let client: Environment["client"];

beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

type Route = { from: string; amount: string; to: string; what: string };

test.concurrent("a stable from an EVM chain arrives on Solana at a wallet that has neither a token account nor a lamport [I1-9, D-status-14]", async ({
	expect,
}) => {
	const { origin, solana } = environment;
	const amount = parseUnits("100", 6);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const recipient = (await generateKeyPairSigner()).address;
	const token = assetAddress(solana, "USDC");
	expect(await hasTokenAccount(solana, token, recipient)).toBe(false);

	const { quote, swap } = await settleExactly(expect, {
		from: { chain: origin, token: "USDC", amount },
		to: { chain: solana, token: "USDC" },
		account,
		recipient,
	});
	expect(swap.funds.amount).toBeLessThanOrEqual(quote.output);
	// The recipient owns the account, and its rent was part of the price.
	const { value } = await solana.rpc.getBalance(await tokenAccountOf({ owner: recipient, token })).send();
	expect(value).toBe(tokenAccountRentLamports);
	expect(await holding(solana, "SOL", recipient)).toBe(0n);
});

test.concurrent("a recipient that has a token account is quoted without the cost of one", async ({
	expect,
}) => {
	const { origin, solana } = environment;
	const amount = parseUnits("100", 6);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const recipient = (await solana.newWallet({ usdc: 1n })).address;
	const to = { chain: solana, token: "USDC" };
	const from = { chain: origin, token: "USDC", amount };
	const quoteTo = (one: string) => getQuote(client, swapIntent({ from, to, account, recipient: one }));
	// On a busy machine the chain's first answer takes longer than a quote waits for it.
	await expect
		.poll(async () => (await quoteTo(recipient)).recipientAccountCost, { timeout: 10_000 })
		.toBeUndefined();
	const { recipientAccountCost } = await quoteTo((await generateKeyPairSigner()).address);
	const cost = BigInt(recipientAccountCost ?? 0);
	expect(cost).toBeGreaterThanOrEqual(rentCents.least * 10_000n);
	expect(cost).toBeLessThanOrEqual(rentCents.most * 10_000n);
	const { quote, swap } = await settleExactly(expect, { from, to, account, recipient });
	expect(quote.recipientAccountCost).toBeUndefined();
	expect(swap.funds.amount).toBeLessThanOrEqual(quote.output);
});

test.concurrent.for<Route>([
	{ from: "USDC", amount: "100", to: "SOL", what: "a stable to Solana's native token" },
	{ from: "USDT", amount: "100", to: "USDT", what: "a token that returns nothing" },
	{ from: "ORB", amount: "80.123456789012345678", to: "USDC", what: "18 decimals to 6" },
	{ from: "ETH", amount: "0.05", to: "SOL", what: "a native token to the other" },
])(
	"$amount $from to $to on Solana settles exactly: $what [D-conventions-5, D-conventions-7, D-status-14]",
	async (route, { expect }) => {
		const { origin, solana } = environment;
		const amount = parseUnits(route.amount, decimalsOf(origin, route.from));
		const account = await environment.newWallet({ chain: origin, token: route.from, amount });
		await settleExactly(expect, {
			from: { chain: origin, token: route.from, amount },
			to: { chain: solana, token: route.to },
			account,
			recipient: (await generateKeyPairSigner()).address,
		});
	},
);

test.concurrent.for<Route>([
	{ from: "USDC", amount: "100", to: "USDC", what: "a stable to the same" },
	{ from: "USDC", amount: "100.000001", to: "ORB", what: "through the router" },
	{ from: "USDT", amount: "250", to: "ETH", what: "a stable to the native token" },
	{ from: "SOL", amount: "0.5", to: "USDC", what: "Solana's native token, all that the wallet has of it" },
])(
	"$amount $from on Solana to $to on an EVM chain settles exactly: $what [I1-8, I4-24, D-conventions-6, D-quote-request-5, D-status-14]",
	async (route, { expect }) => {
		const { destination, solana } = environment;
		const amount = parseUnits(route.amount, decimalsOf(solana, route.from));
		const account = await solana.newWallet(holdingOf(route.from, amount));
		await settleExactly(expect, {
			from: { chain: solana, token: route.from, amount },
			to: { chain: destination, token: route.to },
			account,
			recipient: privateKeyToAddress(generatePrivateKey()),
		});
		expect(await holding(solana, "SOL", account.address)).toBe(0n);
	},
);

test.concurrent.for<Route>([
	{ from: "USDC", amount: "100", to: "SOL", what: "to the native token" },
	{ from: "USDT", amount: "100", to: "USDC", what: "a stable to another" },
	{ from: "SOL", amount: "0.5", to: "USDT", what: "from the native token" },
])(
	"$amount $from to $to on Solana alone settles exactly, paid and released by one transaction: $what [D-quote-request-2]",
	async (route, { expect }) => {
		const { solana } = environment;
		const amount = parseUnits(route.amount, decimalsOf(solana, route.from));
		const account = await solana.newWallet(holdingOf(route.from, amount));
		const { swap } = await settleExactly(expect, {
			from: { chain: solana, token: route.from, amount },
			to: { chain: solana, token: route.to },
			account,
			recipient: (await generateKeyPairSigner()).address,
		});
		const delivery = await solanaChanges(solana, swap.deliveryTxHash ?? "");
		const input = assetAddress(solana, route.from);
		expect(delivery.of(solana.deployment.program.vault, input)).toBe(amount);
	},
);

test.concurrent("without another recipient, a wallet on Solana receives the output itself [D-quote-request-8]", async ({
	expect,
}) => {
	const { solana } = environment;
	const amount = parseUnits("100", 6);
	const account = await solana.newWallet({ usdc: amount });
	await settleExactly(expect, {
		from: { chain: solana, token: "USDC", amount },
		to: { chain: solana, token: "USDT" },
		account,
	});
});

test.concurrent("the rest of the balance stays in the wallet after a swap from Solana", async ({
	expect,
}) => {
	const { destination, solana } = environment;
	const amount = parseUnits("0.5", 9);
	const left = 890_880n;
	const account = await solana.newWallet({ lamports: amount + left });
	await settleExactly(expect, {
		from: { chain: solana, token: "SOL", amount },
		to: { chain: destination, token: "USDC" },
		account,
		recipient: privateKeyToAddress(generatePrivateKey()),
	});
	expect(await holding(solana, "SOL", account.address)).toBe(left);
});

test("after all these swaps the books match the chains to the unit", async ({ expect }) => {
	await expectBooksAgree(expect, environment);
});

type Swap = {
	from: { chain: AnyChain; token: string; amount: bigint };
	to: { chain: AnyChain; token: string };
	account: PrivateKeyAccount | KeyPairSigner;
	recipient?: string;
};

/** Swaps, and expects each unit with the recipient, gone from the wallet, and out of escrow. */
async function settleExactly(
	expect: ExpectStatic,
	{ from, to, account, recipient: named }: Swap,
): Promise<{ quote: Quote; swap: EndedSwap }> {
	const recipient = named ?? account.address;
	const intent = swapIntent({ from, to, account, ...(named !== undefined && { recipient: named }) });
	const holdings = () =>
		Promise.all([holding(from.chain, from.token, account.address), holding(to.chain, to.token, recipient)]);
	const [inputBefore, outputBefore] = await holdings();
	const { quote, swap } = await swapFrom(account, intent);
	const [inputAfter, outputAfter] = await holdings();
	expect(swap).toMatchObject({
		status: "settled",
		originTxHash: expect.stringMatching(isSolanaChain(from.chain) ? solanaHash : evmHash),
		deliveryTxHash: expect.stringMatching(isSolanaChain(to.chain) ? solanaHash : evmHash),
	});
	expect(inputBefore - inputAfter).toBe(from.amount);
	const delivered = outputAfter - outputBefore;
	expect(swap.funds).toEqual({
		chainId: to.chain.chainId,
		holder: "recipient",
		token: assetAddress<string>(to.chain, to.token),
		amount: delivered,
	});
	expect(quote).toMatchObject({ recipient, origin: isSolanaChain(from.chain) ? "solana" : "evm" });
	expect(delivered).toBeGreaterThanOrEqual(quote.minOutput);

	if (isSolanaChain(to.chain)) {
		const { vault } = to.chain.deployment.program;
		const token = assetAddress(to.chain, to.token);
		const changes = await solanaChanges(to.chain, swap.deliveryTxHash ?? "");
		expect(changes.of(recipient as SolanaAddress, token)).toBe(delivered);
		const state = await programState(to.chain, swap.orderId);
		// The vault also pays the rent of the order's record.
		const rent = token === solanaNativeToken && state.record ? recordRentLamports : 0n;
		expect(changes.of(vault, token)).toBe(-delivered - rent);
		expect(isFilled(state)).toBe(true);
	}
	if (isSolanaChain(from.chain)) {
		const { vault } = from.chain.deployment.program;
		const token = assetAddress(from.chain, from.token);
		const changes = await solanaChanges(from.chain, swap.originTxHash ?? "");
		expect(changes.of(account.address as SolanaAddress, token)).toBe(-from.amount);
		expect(changes.of(vault, token)).toBe(0n);
	}
	await expect
		.poll(() => isReleased({ from, orderId: swap.orderId }), { timeout: decidedWithinMs, interval: 500 })
		.toBe(true);
	return { quote, swap };
}

async function swapFrom(
	account: PrivateKeyAccount | KeyPairSigner,
	intent: QuoteRequestBody,
): Promise<{ quote: Quote; swap: EndedSwap }> {
	const { deployment: pins } = environment;
	const { signed, swap } =
		"keyPair" in account
			? await doSolanaSwap({ client, pins, account }, intent)
			: await doSwap({ client, pins, account }, intent);
	return { quote: signed.quote, swap };
}

/** Returns true if the vault has the input. */
async function isReleased({ from, orderId }: Pick<Swap, "from"> & { orderId: string }): Promise<boolean> {
	if (!isSolanaChain(from.chain)) return (await escrowState(from.chain, orderId)) === "Released";
	return isReleasedOnSolana(await programState(from.chain, orderId));
}

function holdingOf(symbol: string, amount: bigint) {
	return symbol === "SOL" ? { lamports: amount } : { [symbol.toLowerCase()]: amount };
}

function decimalsOf(chain: TestChain | Environment["solana"], symbol: string): number {
	const asset = chain.deployment.assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) throw new Error(`no asset ${symbol} on chain ${chain.chainId}`);
	return asset.decimals;
}
