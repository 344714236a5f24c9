import { type BuildResponse, orderSchema, orderTypedData } from "@geoswap/protocol";
import { buildOp, getQuote, getStatus, type Quote, waitForSwap } from "@geoswap/sdk";
import {
	encodeFunctionData,
	erc20Abi,
	type Hex,
	parseEther,
	parseSignature,
	parseUnits,
	serializeCompactSignature,
	signatureToCompactSignature,
} from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { beforeAll, test } from "vitest";
import { type ApiAnswer, callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { delegateWallet } from "../wallet/delegate-wallet.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { sendTransaction } from "../wallet/send-bundle.ts";

const ten = parseUnits("10", 6);
/** Time for which a status call waits on an existing swap. */
const heldMs = 15_000;
const groupOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

let environment: Environment;
let client: Environment["client"];
let stranger: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	[client, stranger] = await Promise.all([environment.newClient(), environment.newClient()]);
});

type Scene = { account: PrivateKeyAccount; quote: Quote; built: BuildResponse; signature: Hex };

/** Creates a delegated wallet. */
async function newWallet({
	token = "USDC",
	amount = ten,
	ethWei,
}: {
	token?: string;
	amount?: bigint;
	ethWei?: bigint;
} = {}): Promise<PrivateKeyAccount> {
	const chain = environment.origin;
	const account = await environment.newWallet({ chain, token, amount, ...(ethWei && { ethWei }) });
	await delegateWallet(chain, account);
	return account;
}

function quoteOf(
	account: PrivateKeyAccount,
	{ token = "USDC", amount = ten, ...rest }: { token?: string; amount?: bigint; slippageBps?: number } = {},
): Promise<Quote> {
	const { origin, destination } = environment;
	const from = { chain: origin, token, amount };
	return getQuote(client, swapIntent({ from, to: { chain: destination, token: "USDC" }, account, ...rest }));
}

async function sceneOf(account: PrivateKeyAccount, options?: Parameters<typeof quoteOf>[1]): Promise<Scene> {
	const quote = await quoteOf(account, options);
	const built = await buildOp(client, { geoQuoteToken: quote.geoQuoteToken });
	return { account, quote, built, signature: await sign(account, built) };
}

function sign(account: PrivateKeyAccount, { geoOpHash }: BuildResponse): Promise<Hex> {
	return account.signMessage({ message: { raw: geoOpHash as Hex } });
}

function submit({ geoOpToken }: BuildResponse, signature: unknown): Promise<ApiAnswer> {
	return callApi(client, "/swap/submit", { body: { geoOpToken, signature } });
}

function build({ geoQuoteToken }: Quote, authorization?: unknown): Promise<ApiAnswer> {
	return callApi(client, "/swap/build-geo-op", { body: { geoQuoteToken, authorization } });
}

/** Returns the equivalent signature with s in the upper half. */
function highS(signature: Hex): string {
	const { r, s, yParity } = parseSignature(signature);
	const twin = (groupOrder - BigInt(s)).toString(16).padStart(64, "0");
	return `${r}${twin}${yParity === 0 ? "1c" : "1b"}`;
}

test.concurrent("a signature that is not the wallet's over the hash is 400 with a hint at the mistake, and makes no swap [I3-3, I4-18, D-errors-6, D-submit-5, D-submit-6, D-submit-7, D-submit-13]", async ({
	expect,
}) => {
	const { account, quote, built, signature } = await sceneOf(await newWallet());
	const someone = privateKeyToAccount(generatePrivateKey());
	const hash = built.geoOpHash as Hex;
	const expected = account.address;
	const recovered = expect.stringMatching(/^0x[0-9a-fA-F]{40}$/);
	const wrong: [signature: string, details: unknown][] = [
		[await account.signMessage({ message: hash }), { expected, recovered, looksLike: "hex_text" }],
		[await account.signMessage({ message: hash.slice(2) }), { expected, recovered, looksLike: "hex_text" }],
		[await sign(someone, built), { expected, recovered: someone.address }],
		[highS(signature), { expected }],
		[`${signature.slice(0, -2)}${signature.endsWith("1b") ? "1c" : "1b"}`, { expected, recovered }],
		[`0x${"00".repeat(64)}1b`, { expected }],
	];
	const answers = await Promise.all(wrong.map(([bad]) => submit(built, bad)));
	for (const [i, answer] of answers.entries()) {
		expectRefusal(expect, answer, "INVALID_SIGNATURE", wrong[i]?.[1]);
	}
	const malformed = ["", "0x", "x", signature.slice(0, -1), `${signature}00`, signature.slice(0, 100)];
	for (const bad of [
		...malformed,
		`${signature.slice(0, -2)}02`,
		`${signature.slice(0, -2)}1d`,
		` ${signature}`,
	]) {
		expectRefusal(expect, await submit(built, bad), "INVALID_REQUEST", issuesAt(expect, "signature"));
	}
	expectRefusal(expect, await callApi(client, `/swap/status/${quote.swapId}`), "SWAP_NOT_FOUND");
	expect((await submit(built, signature)).body).toMatchObject({ swapId: quote.swapId });
});

test.concurrent.for([
	{
		form: "v 0 or 1",
		spell: (signature: Hex) => signature.slice(0, -2) + (signature.endsWith("1b") ? "00" : "01"),
	},
	{
		form: "64 bytes, EIP-2098",
		spell: (signature: Hex) =>
			serializeCompactSignature(signatureToCompactSignature(parseSignature(signature) as never)),
	},
	{ form: "without 0x", spell: (signature: Hex) => signature.slice(2) },
	{ form: "upper case", spell: (signature: Hex) => `0x${signature.slice(2).toUpperCase()}` },
])(
	"a signature in the form $form opens the order, and the swap settles [D-submit-2, D-submit-3, D-submit-4]",
	async ({ spell }, { expect }) => {
		const { quote, built, signature } = await sceneOf(await newWallet());
		const answer = await submit(built, spell(signature));
		expect(answer.status).toBe(200);
		expect(answer.body).toEqual({ swapId: quote.swapId, status: "pending" });
		expect((await waitForSwap(client, quote.swapId)).status).toBe("settled");
		// The usual form of the same signature gives the same swap.
		expect((await submit(built, signature)).body).toEqual({ swapId: quote.swapId, status: "settled" });
	},
);

test.concurrent("an insufficient balance is reported at build and at submit, and the same bytes succeed once the wallet is funded [D-errors-3, D-errors-24, D-order-13, D-submit-13]", async ({
	expect,
}) => {
	const { origin } = environment;
	const account = await newWallet({ ethWei: parseEther("1") });
	const tooMuch = await quoteOf(account, { amount: ten + 1n });
	expectRefusal(expect, await build(tooMuch), "INSUFFICIENT_BALANCE", {
		balance: String(ten),
		required: String(ten + 1n),
	});

	const { quote, built, signature } = await sceneOf(account);
	const usdc = assetAddress(origin, "USDC");
	const bank = privateKeyToAccount(generatePrivateKey());
	await origin.testClient.setBalance({ address: bank.address, value: parseEther("1") });
	await transfer(account, bank, 1n);
	expectRefusal(expect, await submit(built, signature), "INSUFFICIENT_BALANCE", {
		balance: String(ten - 1n),
		required: String(ten),
	});
	expectRefusal(expect, await callApi(client, `/swap/status/${quote.swapId}`), "SWAP_NOT_FOUND");
	await transfer(bank, account, 1n);
	expect((await submit(built, signature)).body).toEqual({ swapId: quote.swapId, status: "pending" });
	expect((await waitForSwap(client, quote.swapId)).status).toBe("settled");

	async function transfer(from: PrivateKeyAccount, to: PrivateKeyAccount, amount: bigint): Promise<void> {
		const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to.address, amount] });
		await sendTransaction({ chain: origin, account: from, to: usdc, data });
	}
});

test.concurrent("the input of a submitted swap is not available to another swap", async ({ expect }) => {
	const account = await newWallet({ amount: 3n * ten });
	const [first, second] = await Promise.all([
		sceneOf(account, { amount: 2n * ten }),
		sceneOf(account, { amount: 2n * ten }),
	]);
	expect((await submit(first.built, first.signature)).status).toBe(200);
	const details = { balance: String(ten), required: String(2n * ten) };
	expectRefusal(expect, await submit(second.built, second.signature), "INSUFFICIENT_BALANCE", details);
	expectRefusal(expect, await build(second.quote), "INSUFFICIENT_BALANCE", details);
});

test.concurrent("an op that would revert is 422 and makes no swap, and settles once it is built again [D-errors-25, D-submit-13]", async ({
	expect,
}) => {
	const { origin } = environment;
	const account = await newWallet({ token: "USDT", ethWei: parseEther("1") });
	const { quote, built, signature } = await sceneOf(account, { token: "USDT" });
	// The wallet's current delegate refuses what was signed by personal_sign.
	await delegateWallet(origin, account, origin.deployment.contracts.typedDelegate);
	const reason = expect.stringMatching(/.{5,}/);
	expectRefusal(expect, await submit(built, signature), "SIMULATION_FAILED", { reason });
	expectRefusal(expect, await callApi(client, `/swap/status/${quote.swapId}`), "SWAP_NOT_FOUND");
	const rebuilt = await buildOp(client, { geoQuoteToken: quote.geoQuoteToken });
	const typed = await account.signTypedData(orderTypedData(orderSchema.parse(rebuilt.geoOp.order)));
	expect((await submit(rebuilt, typed)).status).toBe(200);
	expect((await waitForSwap(client, quote.swapId)).status).toBe("settled");
});

test.concurrent("a quote whose order is already open cannot be built again", async ({ expect }) => {
	const account = await newWallet({ amount: 2n * ten });
	const { quote, built, signature } = await sceneOf(account);
	expect((await submit(built, signature)).status).toBe(200);
	await expect
		.poll(async () => (await getStatus(client, quote.swapId, { waitSeconds: 0 })).stage, { timeout: 20_000 })
		.not.toBe("opening");
	expectRefusal(expect, await build(quote), "SIMULATION_FAILED", { reason: "AlreadyOpened" });
});

test.concurrent("a price that other swaps moved below the minimum is 409, and a fresh quote settles [D-errors-16, D-submit-13]", async ({
	expect,
}) => {
	const large = parseUnits("20000", 18);
	const small = parseUnits("100", 18);
	const [whale, account] = await Promise.all([
		newWallet({ token: "ORB", amount: large }),
		newWallet({ token: "ORB", amount: small }),
	]);
	const [first, tight] = await Promise.all([
		sceneOf(whale, { token: "ORB", amount: large }),
		sceneOf(account, { token: "ORB", amount: small, slippageBps: 1 }),
	]);
	expect((await submit(first.built, first.signature)).status).toBe(200);
	expectRefusal(expect, await submit(tight.built, tight.signature), "LIQUIDITY_CHANGED", { reason: "price" });
	expectRefusal(expect, await callApi(client, `/swap/status/${tight.quote.swapId}`), "SWAP_NOT_FOUND");
	const fresh = await sceneOf(account, { token: "ORB", amount: small });
	expect((await submit(fresh.built, fresh.signature)).status).toBe(200);
	const swaps = [first, fresh].map(({ quote }) => waitForSwap(client, quote.swapId));
	expect((await Promise.all(swaps)).map(({ status }) => status)).toEqual(["settled", "settled"]);
});

test.concurrent("status finds only the account's submitted swaps, and responds immediately if there is none [I3-9, D-errors-11, D-quote-response-15, D-status-3, D-status-4]", async ({
	expect,
}) => {
	const { quote, built, signature } = await sceneOf(await newWallet());
	const { swapId } = quote;
	const ask = async (id: string, caller = client) => {
		const startedMs = performance.now();
		const answer = await callApi(caller, `/swap/status/${id}`);
		expect(performance.now() - startedMs).toBeLessThan(heldMs / 2);
		return answer;
	};
	expectRefusal(expect, await ask(swapId), "SWAP_NOT_FOUND");
	expect((await submit(built, signature)).status).toBe(200);
	expectRefusal(expect, await ask(swapId, stranger), "SWAP_NOT_FOUND");
	const wrongIds = [
		"x",
		"swp_",
		swapId.toUpperCase(),
		`${swapId}0`,
		swapId.slice(0, -1),
		swapId.slice(4),
		"null",
	];
	for (const wrong of wrongIds) expectRefusal(expect, await ask(wrong), "SWAP_NOT_FOUND");
	for (const wait of ["16", "-1", "1.5", "", "x"]) {
		expectRefusal(expect, await ask(`${swapId}?wait=${wait}`), "INVALID_REQUEST", issuesAt(expect, "wait"));
	}
	expect((await ask(`${swapId}?wait=0`)).body).toMatchObject({ swapId });
});
