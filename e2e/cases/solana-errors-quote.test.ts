import { emptyAccountRentLamports, type SolanaAddress, tokenAccountOf } from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { beforeAll, type ExpectStatic, test } from "vitest";
import { type ApiAnswer, callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { type AnyChain, isSolanaChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

const nativeId = "11111111111111111111111111111111";
const wrappedSol = "So11111111111111111111111111111111111111112";
/** Programs and sysvars, which have no key. */
const builtIn = [
	"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
	"TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
	"ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
	"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
	"ComputeBudget111111111111111111111111111111",
	"SysvarC1ock11111111111111111111111111111111",
	"Vote111111111111111111111111111111111111111",
];
/** The minimum of a swap, in USDC. */
const minUsd = 1_000_000n;

let environment: Environment;
let client: Environment["client"];
let solanaWallet: SolanaAddress;
/** An address of more than 32 bytes, even if the wallet's own happens to be short. */
let tooLong: string;
const evmWallet = privateKeyToAddress(generatePrivateKey());

beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
	solanaWallet = (await generateKeyPairSigner()).address;
	tooLong = `${solanaWallet}1111`;
});

type Change = Record<string, unknown>;

/** Requests a quote of 10 USDC, with a valid wallet and recipient, except for the change. */
function quote([from, to]: readonly [AnyChain, AnyChain], change: Change = {}): Promise<ApiAnswer> {
	const addressOn = (chain: AnyChain) => (isSolanaChain(chain) ? solanaWallet : evmWallet);
	const intent = swapIntent({
		from: { chain: from, token: "USDC", amount: 10_000_000n },
		to: { chain: to, token: from === to ? "USDT" : "USDC" },
		account: { address: addressOn(from) },
		recipient: addressOn(to),
	});
	return callApi(client, "/swap/quote", { body: { ...intent, ...change } });
}

/** Returns the three kinds of routes that have a side on Solana. */
function routes() {
	const { origin, destination, solana } = environment;
	return { toSolana: [origin, solana], fromSolana: [solana, destination], within: [solana, solana] } as const;
}

async function expectIssue(
	expect: ExpectStatic,
	route: readonly [AnyChain, AnyChain],
	field: string,
	values: unknown[],
): Promise<void> {
	const answers = await Promise.all(values.map((value) => quote(route, { [field]: value })));
	for (const [i, answer] of answers.entries()) {
		expect([answer.status, values[i]]).toEqual([400, values[i]]);
		expectRefusal(expect, answer, "INVALID_REQUEST", issuesAt(expect, field));
	}
}

test.concurrent("a quote with a side on Solana has its kind of origin and its recipient, and lasts 30 seconds [D-conventions-1, D-quote-response-1, D-quote-response-2]", async ({
	expect,
}) => {
	const { toSolana, fromSolana, within } = routes();
	for (const [route, origin, recipient] of [
		[toSolana, "evm", solanaWallet],
		[fromSolana, "solana", evmWallet],
		[within, "solana", solanaWallet],
	] as const) {
		const before = Date.now();
		const { status, body } = await quote(route);
		expect([status, body?.origin, body?.recipient]).toEqual([200, origin, recipient]);
		const expiresMs = Date.parse(String(body?.expiresAt));
		expect(expiresMs).toBeGreaterThanOrEqual(before + 30_000);
		expect(expiresMs).toBeLessThanOrEqual(Date.now() + 30_000);
		const asText = await quote(route, {
			originChain: String(route[0].chainId),
			destinationChain: String(route[1].chainId),
			amount: 10_000_000,
		});
		expect(asText.status).toBe(200);
	}
});

test.concurrent("a recipient is required only if the wallet's address is not one of the destination chain [D-quote-request-7, D-quote-request-8]", async ({
	expect,
}) => {
	const { toSolana, fromSolana, within } = routes();
	for (const recipient of [undefined, null]) {
		for (const route of [toSolana, fromSolana]) {
			const answer = await quote(route, { recipient });
			expectRefusal(expect, answer, "INVALID_REQUEST", issuesAt(expect, "recipient"));
		}
		expect((await quote(within, { recipient })).body).toMatchObject({ recipient: solanaWallet });
	}
});

test.concurrent("each address must be valid on its chain [D-quote-request-6]", async ({ expect }) => {
	const { toSolana, fromSolana, within } = routes();
	const { origin, solana } = environment;
	const misspelt = [
		...[evmWallet, evmWallet.toLowerCase(), "x", "", solanaWallet.slice(0, 30), tooLong],
		...[` ${solanaWallet}`, `0${solanaWallet.slice(1)}`, `l${solanaWallet.slice(1)}`, "wallet.sol", 1, {}],
		...["1".repeat(31), "1".repeat(33), "z".repeat(44)],
	];
	await expectIssue(expect, toSolana, "recipient", misspelt);
	await expectIssue(expect, toSolana, "outputToken", [...misspelt, assetAddress(origin, "USDC")]);
	await expectIssue(expect, fromSolana, "walletAddress", misspelt);
	await expectIssue(expect, fromSolana, "inputToken", misspelt);
	await expectIssue(expect, within, "recipient", [evmWallet]);
	await expectIssue(expect, fromSolana, "recipient", [solanaWallet, nativeId, zeroAddress]);
	await expectIssue(expect, fromSolana, "outputToken", [assetAddress(solana, "USDC"), nativeId]);
	await expectIssue(expect, toSolana, "walletAddress", [solanaWallet]);
	await expectIssue(expect, toSolana, "inputToken", [nativeId]);
	const several = await quote(toSolana, { outputToken: "x", recipient: evmWallet });
	expectRefusal(expect, several, "INVALID_REQUEST", issuesAt(expect, "outputToken", "recipient"));
});

test.concurrent("an address on Solana that has no key, or belongs to the service, is refused as recipient and as wallet [D-quote-request-9]", async ({
	expect,
}) => {
	const { toSolana, fromSolana, within } = routes();
	const { solana } = environment;
	const { program, feePayers } = solana.deployment;
	const usdc = assetAddress(solana, "USDC");
	const accounts = await Promise.all(
		[solanaWallet, program.vault].map((owner) => tokenAccountOf({ owner, token: usdc })),
	);
	const nobodys = [
		...[
			program.address,
			program.vault,
			program.operator,
			...feePayers,
			usdc,
			assetAddress(solana, "USDT"),
			nativeId,
			wrappedSol,
		],
		...accounts,
		...builtIn,
	];
	await expectIssue(expect, toSolana, "recipient", nobodys);
	await expectIssue(expect, within, "recipient", nobodys);
	await expectIssue(expect, fromSolana, "walletAddress", nobodys);
	const { contracts } = environment.destination.deployment;
	await expectIssue(expect, fromSolana, "recipient", [contracts.vault, contracts.escrow]);
});

test.concurrent("a Solana token that is not offered is NO_ROUTE, and so is a token for itself [D-quote-request-4, D-quote-response-20, D-quote-response-21]", async ({
	expect,
}) => {
	const { toSolana, fromSolana, within } = routes();
	const { solana } = environment;
	const usdc = assetAddress(solana, "USDC");
	const notEmpty = expect.arrayContaining([expect.any(String)]);
	for (const [route, change, reason] of [
		[toSolana, { outputToken: wrappedSol }, "token"],
		[toSolana, { outputToken: solanaWallet }, "token"],
		[fromSolana, { inputToken: wrappedSol }, "token"],
		[fromSolana, { inputToken: solanaWallet }, "token"],
		[within, { outputToken: usdc }, "pair"],
		[within, { outputToken: usdc, amount: "1" }, "pair"],
		[within, { inputToken: nativeId, outputToken: nativeId }, "pair"],
	] as const) {
		const isOrigin = "originChain" in change || "inputToken" in change;
		const side = isOrigin ? "origin" : "destination";
		const details = reason === "pair" ? { reason } : { reason, side, accepted: notEmpty };
		expectRefusal(expect, await quote(route, change), "NO_ROUTE", details);
	}
});

type Pair = { from: string; to: string; on: keyof ReturnType<typeof routes> };
const onSolana = ["USDC", "USDT", "SOL"];
const onEvm = ["USDC", "ORB", "ETH"];

test.concurrent.for<Pair>([
	...onEvm.flatMap((from) => onSolana.map((to) => ({ from, to, on: "toSolana" as const }))),
	...onSolana.flatMap((from) => onEvm.map((to) => ({ from, to, on: "fromSolana" as const }))),
	{ from: "USDC", to: "SOL", on: "within" },
	{ from: "SOL", to: "USDT", on: "within" },
	{ from: "USDT", to: "USDC", on: "within" },
])(
	"$on, $from to $to: a refusal for the amount includes an amount that can be quoted [D-quote-response-23, D-quote-response-24]",
	async ({ from, to, on }, { expect }) => {
		const route: readonly [AnyChain, AnyChain] = routes()[on];
		const [inputToken, outputToken] = [
			assetAddress<string>(route[0], from),
			assetAddress<string>(route[1], to),
		];
		const pair = { inputToken, outputToken };
		const positive = expect.stringMatching(/^[1-9]\d*$/);
		const small = await quote(route, { ...pair, amount: "1" });
		expectRefusal(expect, small, "NEEDS_LARGER_SIZE", { minimumAmount: positive });
		const largest = new Set<string>();
		// An account on Solana holds less than 2^64 units of any token.
		for (const amount of [on === "toSolana" ? 10n ** 30n : 2n ** 64n, 2n ** 256n - 1n]) {
			const large = await quote(route, { ...pair, amount: String(amount) });
			expectRefusal(expect, large, "NO_ROUTE", { reason: "capacity", maximumAmount: positive });
			largest.add(detail(large, "maximumAmount"));
		}
		for (const amount of [detail(small, "minimumAmount"), ...largest]) {
			const { body } = await quote(route, { ...pair, amount });
			expect(body, JSON.stringify(body)).toMatchObject({ output: positive, minOutput: positive });
		}
	},
);

test.concurrent("the minimum amount of a refusal is within 1 % of the real minimum, and is the same for an amount just below it", async ({
	expect,
}) => {
	const { within } = routes();
	const minimumAmount = detail(await quote(within, { amount: "1" }), "minimumAmount");
	expect(BigInt(minimumAmount)).toBeGreaterThanOrEqual(minUsd);
	expect(BigInt(minimumAmount)).toBeLessThanOrEqual((minUsd * 101n) / 100n);
	const less = await quote(within, { amount: String(minUsd - 1n) });
	expectRefusal(expect, less, "NEEDS_LARGER_SIZE", { minimumAmount });
});

test.concurrent("the minimum output in SOL is enough for an empty account, at any slippage [D-conventions-5]", async ({
	expect,
}) => {
	const { toSolana, within } = routes();
	for (const route of [toSolana, within]) {
		for (const slippageBps of [1, 300, 5_000]) {
			const pair = { outputToken: nativeId, slippageBps };
			const minimumAmount = detail(await quote(route, { ...pair, amount: "1" }), "minimumAmount");
			const { body } = await quote(route, { ...pair, amount: minimumAmount });
			expect(BigInt(String(body?.minOutput))).toBeGreaterThanOrEqual(emptyAccountRentLamports);
		}
	}
});

test.concurrent("a wallet on Solana needs no delegation, and an invalid address is 400 [D-delegation-7, D-delegation-8]", async ({
	expect,
}) => {
	const { chainId } = environment.solana;
	const ask = (query: Record<string, string>) =>
		callApi(client, `/swap/delegation?${new URLSearchParams(query)}`);
	const answer = await ask({ chainId: String(chainId), walletAddress: solanaWallet });
	expect(answer.status).toBe(200);
	expect(answer.body).toEqual({
		chainId,
		walletAddress: solanaWallet,
		delegated: false,
		originReady: true,
		note: expect.stringContaining("nothing to sign"),
	});
	for (const walletAddress of ["", "x", evmWallet, tooLong, solanaWallet.slice(0, 30)]) {
		const wrong = await ask({ chainId: String(chainId), walletAddress });
		expectRefusal(expect, wrong, "INVALID_REQUEST", issuesAt(expect, "walletAddress"));
	}
	const onEvm = await ask({ chainId: String(environment.origin.chainId), walletAddress: solanaWallet });
	expectRefusal(expect, onEvm, "INVALID_REQUEST", issuesAt(expect, "walletAddress"));
	const misnamed = await ask({ chain: String(chainId), wallet: solanaWallet });
	expect([misnamed.status, misnamed.body?.code]).toEqual([400, "INVALID_REQUEST"]);
});

function detail({ body }: ApiAnswer, name: string): string {
	return String((body?.details as Record<string, unknown> | undefined)?.[name]);
}
