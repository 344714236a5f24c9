import type { TestChain } from "@geoswap/devnet";
import { type EndedSwap, GeoswapError, getQuote } from "@geoswap/sdk";
import { type Address, erc20Abi, parseUnits, zeroAddress } from "viem";
import {
	generatePrivateKey,
	type PrivateKeyAccount,
	privateKeyToAccount,
	privateKeyToAddress,
} from "viem/accounts";
import { beforeAll, type ExpectStatic, test } from "vitest";
import { doSwap, type SignedSwap, swapIntent } from "../caller/do-swap.ts";
import { escrowState } from "../chain/escrow-state.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import type { Environment } from "../environment/environment.ts";
import { expectBooksAgree } from "../expect/expect-books-agree.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

/** Time for a delivery to be final, attested and paid out of escrow, on a busy machine. */
const decidedWithinMs = 60_000;

let environment: Environment;
let client: Environment["client"];

beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

type Way = "there" | "back" | "on one chain";
type Route = { from: string; amount: string; to: string; what: string; way?: Way };

test.concurrent.for<Route>([
	{ from: "USDC", amount: "100", to: "USDC", what: "a stable to the same, from inventory" },
	{ from: "USDC", amount: "100", to: "ORB", what: "6 decimals to 18, through the router" },
	{ from: "USDC", amount: "300.000001", to: "WETH", what: "a stable to the wrapped native token" },
	{ from: "USDC", amount: "250", to: "ETH", what: "a stable to the native token" },
	{ from: "ORB", amount: "80.123456789012345678", to: "USDC", what: "18 decimals to 6" },
	{ from: "ORB", amount: "80", to: "ETH", what: "a volatile token to the native one" },
	{ from: "WETH", amount: "0.1", to: "ORB", what: "a volatile token to another" },
	{ from: "ETH", amount: "0.05", to: "USDC", what: "the native token, all that the wallet has of it" },
	{ from: "ETH", amount: "0.05", to: "ETH", what: "the native token to itself" },
	{ from: "USDT", amount: "100", to: "USDC", what: "a token that returns nothing, as input" },
	{ from: "USDC", amount: "100", to: "USDT", what: "a token that returns nothing, as output" },
	{ from: "USDC", amount: "100", to: "USDC", what: "back", way: "back" },
	{ from: "ORB", amount: "80", to: "WETH", what: "back, through the router", way: "back" },
	{ from: "USDC", amount: "100", to: "ORB", what: "on one chain, through the router", way: "on one chain" },
	{ from: "USDT", amount: "100", to: "USDC", what: "on one chain, from inventory", way: "on one chain" },
	{ from: "ETH", amount: "0.05", to: "USDT", what: "on one chain, the native token", way: "on one chain" },
])(
	"$amount $from to $to settles exactly: $what [I1-9, I3-4, D-conventions-4, D-conventions-6, D-conventions-7, D-quote-request-2, D-quote-request-5, D-status-12, D-status-14]",
	async (route, { expect }) => {
		const { origin } = chainsOf(route.way);
		const amount = parseUnits(route.amount, decimalsOf(origin, route.from));
		const account = await environment.newWallet({ chain: origin, token: route.from, amount });
		const { signed, swap } = await settleExactly(expect, { ...route, account, amount });
		if (route.to === "USDC") {
			// From inventory, the output is the quoted one or that of the price at submit, whichever is less.
			expect(swap.funds.amount).toBeLessThanOrEqual(signed.quote.output);
		}
	},
);

test.concurrent("another recipient gets all of the output, and the wallet none of it [D-quote-request-8, D-quote-response-16]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const amount = parseUnits("100", 6);
	const recipient = privateKeyToAddress(generatePrivateKey());
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const { signed } = await settleExactly(expect, { from: "USDC", to: "ORB", account, amount, recipient });
	expect(signed.quote.recipient).toBe(recipient);
	const output = assetAddress(destination, "ORB");
	expect(await tokenBalance(destination, output, account.address)).toBe(0n);
});

test.concurrent("the rest of the balance stays in the wallet", async ({ expect }) => {
	const amount = parseUnits("100", 6);
	const chain = environment.origin;
	const account = await environment.newWallet({ chain, token: "USDT", amount: amount + 1n });
	await settleExactly(expect, { from: "USDT", to: "USDT", account, amount });
	expect(await tokenBalance(chain, assetAddress(chain, "USDT"), account.address)).toBe(1n);
});

test.concurrent.for([
	{ size: "smallest", to: "ORB", asked: 1n, code: "NEEDS_LARGER_SIZE", limit: "minimumAmount" },
	{ size: "largest", to: "USDC", asked: 10n ** 15n, code: "NO_ROUTE", limit: "maximumAmount" },
])(
	"the $size amount that a refusal names settles exactly [D-quote-response-23, D-quote-response-24]",
	async ({ to, asked, code, limit }, { expect }) => {
		const { origin, destination } = environment;
		const unfunded = privateKeyToAccount(generatePrivateKey());
		const request = (account: PrivateKeyAccount, amount: bigint) =>
			swapIntent({
				from: { chain: origin, token: "USDC", amount },
				to: { chain: destination, token: to },
				account,
			});
		const refusal = await getQuote(client, request(unfunded, asked)).catch((error: unknown) => error);
		expect(refusal).toBeInstanceOf(GeoswapError);
		expect(refusal).toMatchObject({ code, details: { [limit]: expect.stringMatching(/^[1-9]\d*$/) } });
		const amount = BigInt(String(Object(refusal).details[limit]));
		const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
		await settleExactly(expect, { from: "USDC", to, account, amount });
	},
);

test.concurrent.for<{ where: string; way: Way }>([
	{ where: "on another chain", way: "there" },
	{ where: "on the same chain", way: "on one chain" },
])(
	"if a recipient $where refuses ether, the wallet gets its whole input back [I3-6, D-status-8, D-status-20]",
	async ({ way }, { expect }) => {
		const { origin, destination } = chainsOf(way);
		const amount = parseUnits("100", 6);
		const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
		const recipient = privateKeyToAddress(generatePrivateKey());
		const revertAlways = "0x5f5ffd";
		await destination.testClient.setCode({ address: recipient, bytecode: revertAlways });
		const intent = swapIntent({
			from: { chain: origin, token: "USDC", amount },
			to: { chain: destination, token: "ETH" },
			account,
			recipient,
		});
		const { swap } = await doSwap({ client, pins: environment.deployment, account }, intent);
		const input = assetAddress(origin, "USDC");
		expect(swap).toMatchObject({
			status: "refunded",
			failure: { code: "RECIPIENT_REFUSED" },
			refundTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
			funds: { chainId: origin.chainId, holder: "wallet", token: input, amount },
		});
		expect(swap).not.toHaveProperty("deliveryTxHash");
		expect(await tokenBalance(origin, input, account.address)).toBe(amount);
		expect(await tokenBalance(destination, zeroAddress, recipient)).toBe(0n);
		expect(await escrowState(origin, swap.orderId)).toBe("Refunded");
		expect(await allowanceLeft(origin, input, account.address)).toBe(0n);
	},
);

test("after all these swaps the books match the chains to the unit", async ({ expect }) => {
	await expectBooksAgree(expect, environment);
});

/** Swaps, and expects each unit with the recipient, gone from the wallet, and out of escrow. */
async function settleExactly(
	expect: ExpectStatic,
	{
		from,
		to,
		account,
		amount,
		way,
		recipient,
	}: {
		from: string;
		to: string;
		account: PrivateKeyAccount;
		amount: bigint;
		way?: Way;
		recipient?: Address;
	},
): Promise<{ signed: SignedSwap; swap: EndedSwap }> {
	const { origin, destination } = chainsOf(way);
	const [input, output] = [assetAddress(origin, from), assetAddress(destination, to)];
	const holdings = () =>
		Promise.all([
			tokenBalance(origin, input, account.address),
			tokenBalance(destination, output, recipient ?? account.address),
		]);
	const intent = swapIntent({
		from: { chain: origin, token: from, amount },
		to: { chain: destination, token: to },
		account,
		...(recipient && { recipient }),
	});

	const [inputBefore, outputBefore] = await holdings();
	const { signed, swap } = await doSwap({ client, pins: environment.deployment, account }, intent);
	const [inputAfter, outputAfter] = await holdings();
	expect(swap).toMatchObject({
		status: "settled",
		originTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
		deliveryTxHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
	});
	expect(inputBefore - inputAfter).toBe(amount);
	const delivered = outputAfter - outputBefore;
	expect(swap.funds).toEqual({
		chainId: destination.chainId,
		holder: "recipient",
		token: output,
		amount: delivered,
	});
	expect(delivered).toBeGreaterThanOrEqual(signed.quote.minOutput);
	expect(await allowanceLeft(origin, input, account.address)).toBe(0n);
	await expect
		.poll(() => escrowState(origin, swap.orderId), { timeout: decidedWithinMs, interval: 500 })
		.toBe("Released");
	return { signed, swap };
}

function chainsOf(way: Way = "there"): { origin: TestChain; destination: TestChain } {
	const { origin, destination } = environment;
	if (way === "there") return { origin, destination };
	return { origin: way === "back" ? destination : origin, destination: origin };
}

/** Returns the wallet's remaining allowance to the escrow. */
async function allowanceLeft(
	{ publicClient, deployment }: TestChain,
	token: Address,
	owner: Address,
): Promise<bigint> {
	if (token === zeroAddress) return 0n;
	return publicClient.readContract({
		address: token,
		abi: erc20Abi,
		functionName: "allowance",
		args: [owner, deployment.contracts.escrow],
	});
}

function decimalsOf(chain: TestChain, symbol: string): number {
	const asset = chain.deployment.assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) throw new Error(`no asset ${symbol} on chain ${chain.chainId}`);
	return asset.decimals;
}
