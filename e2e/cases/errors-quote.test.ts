import { GeoswapError, getQuote } from "@geoswap/sdk";
import { type Address, getAddress, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { beforeAll, type ExpectStatic, test } from "vitest";
import { type ApiAnswer, callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

const fields = [
	...["originChain", "destinationChain", "inputToken", "outputToken", "amount", "outputAmount"],
	...["walletAddress", "recipient", "slippageBps", "topUp", "topUpUsd", "mandate"],
];
const required = [...fields.slice(0, 4), "walletAddress", "amount"];

let environment: Environment;
let client: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

/** Returns a body that can be quoted, except for the change. */
function body(change: Record<string, unknown> = {}): Record<string, unknown> {
	const { origin, destination } = environment;
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount: 10_000_000n },
		to: { chain: destination, token: "USDC" },
		account: privateKeyToAccount(generatePrivateKey()),
	});
	return { ...intent, ...change };
}

function quote(change: Record<string, unknown> = {}): Promise<ApiAnswer> {
	return callApi(client, "/swap/quote", { body: body(change) });
}

async function expectIssue(expect: ExpectStatic, field: string, values: unknown[]): Promise<void> {
	const answers = await Promise.all(values.map((value) => quote({ [field]: value })));
	for (const answer of answers) expectRefusal(expect, answer, "INVALID_REQUEST", issuesAt(expect, field));
}

/** Returns the address with one letter of its checksum wrong. */
function misspelt(address: Address): string {
	const at = address.slice(2).search(/[a-f]/i) + 2;
	const letter = address.charAt(at);
	const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
	return address.slice(0, at) + other + address.slice(at + 1);
}

test.concurrent("each required field that is missing or null is refused by name [D-errors-5, D-quote-request-1, D-quote-request-3, D-quote-request-5, D-quote-request-6]", async ({
	expect,
}) => {
	for (const field of required) {
		const missing = await quote({ [field]: undefined });
		expectRefusal(expect, missing, "INVALID_REQUEST", {
			issues: [{ path: field, message: "required" }],
			accepted: fields,
		});
	}
	for (const field of required) await expectIssue(expect, field, [null]);
	const none = await callApi(client, "/swap/quote", { body: {} });
	expectRefusal(expect, none, "INVALID_REQUEST", {
		issues: required.map((path) => ({ path, message: "required" })),
		accepted: fields,
	});
});

test.concurrent("an unknown field is refused with the known fields and the likely one [D-conventions-13, D-conventions-14]", async ({
	expect,
}) => {
	for (const [name, meant] of [
		["slipageBps", "slippageBps"],
		["wallet_address", "walletAddress"],
		["Recipient", "recipient"],
		["zzzzzzzz", undefined],
	] as const) {
		expectRefusal(expect, await quote({ [name]: null }), "INVALID_REQUEST", {
			issues: [{ path: name, message: "unknown field" }],
			accepted: fields,
			...(meant && { didYouMean: { [name]: meant } }),
		});
	}
	const renamed = await quote({ amount: undefined, amout: "1" });
	expect(renamed.body?.details).toMatchObject({
		issues: expect.arrayContaining([{ path: "amount", message: "required" }]),
		didYouMean: { amout: "amount" },
	});
});

test.concurrent("an amount is a positive integer of at most 2^256 - 1, and a JSON number only up to 2^53 - 1 [I1-13, D-conventions-8, D-conventions-9, D-conventions-10]", async ({
	expect,
}) => {
	await expectIssue(expect, "amount", [
		...["", "0", "-1", "01", "1.0", "1e6", "0x10", " 1", "1 ", "1\n", "+1", "1_000", "١"],
		...[0, -1, 1.5, 2 ** 53, 1e300, true, [], {}, String(2n ** 256n), "9".repeat(79)],
	]);
	const large = await quote({ amount: 2 ** 53 });
	expect(large.body?.details).toMatchObject({
		issues: [{ message: expect.stringContaining("send a string") }],
	});
	for (const amount of ["10000000", 10_000_000]) expect((await quote({ amount })).status).toBe(200);
	for (const amount of [String(2n ** 256n - 1n), 2 ** 53 - 1]) {
		expect((await quote({ amount })).body?.details).toMatchObject({ reason: "capacity" });
	}
});

test.concurrent("a chain is given as an integer or as its decimal string [D-conventions-1]", async ({
	expect,
}) => {
	for (const field of ["originChain", "destinationChain"]) {
		await expectIssue(expect, field, [
			"",
			"x",
			"0x7a69",
			"031337",
			"-1",
			0,
			-1,
			1.5,
			"1.5",
			" 31337",
			{},
			true,
		]);
	}
	const { origin, destination } = environment;
	for (const originChain of [origin.chainId, String(origin.chainId)]) {
		expect((await quote({ originChain, destinationChain: String(destination.chainId) })).status).toBe(200);
	}
});

test.concurrent("an address is accepted in any case, and refused with a wrong checksum [D-conventions-11, D-conventions-12]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const someone = getAddress("0xabcdefabcdefabcdefabcdefabcdefabcdefabcd");
	for (const [field, address] of [
		["inputToken", assetAddress(origin, "USDC")],
		["outputToken", assetAddress(destination, "USDC")],
		["walletAddress", someone],
		["recipient", someone],
	] as const) {
		await expectIssue(expect, field, [
			...[misspelt(address), address.slice(2), `${address}0`, address.slice(0, -1), ` ${address}`, "x"],
			...["11111111111111111111111111111111", "vitalik.eth", 1, {}],
		]);
		for (const same of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
			expect((await quote({ [field]: same })).status).toBe(200);
		}
	}
});

test.concurrent("an address without a known key is refused, which covers zero, precompiles, tokens and the service's contracts [D-quote-request-9]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const { contracts, uniswap } = destination.deployment;
	const { escrow, vault, delegate, typedDelegate } = origin.deployment.contracts;
	const nobodys = [
		...[zeroAddress, `0x${"0".repeat(39)}1`, `0x${"0".repeat(38)}0a`, `0x${"0".repeat(36)}0100`],
		...[contracts.escrow, contracts.vault, contracts.delegate, escrow, vault, delegate, typedDelegate],
		...["USDC", "USDT", "WETH", "ORB"].map((symbol) => assetAddress(destination, symbol)),
		...[uniswap.router, assetAddress(destination, "USDC").toLowerCase()],
	];
	await expectIssue(expect, "recipient", nobodys);
	await expectIssue(expect, "walletAddress", [zeroAddress, vault, assetAddress(origin, "ORB")]);
	const recipient = privateKeyToAddress(generatePrivateKey());
	expect((await quote({ recipient })).body).toMatchObject({ recipient });
});

test.concurrent("slippage is a whole number of basis points from 1 to 5000, and null in an optional field counts as absent [D-conventions-16, D-quote-request-8, D-quote-request-10, D-quote-response-16]", async ({
	expect,
}) => {
	await expectIssue(expect, "slippageBps", [0, 5_001, -1, 1.5, "50", [], true]);
	for (const slippageBps of [1, 5_000]) {
		expect((await quote({ slippageBps })).body).toMatchObject({ slippageBps });
	}
	const walletAddress = privateKeyToAddress(generatePrivateKey());
	const absent = await quote({ slippageBps: null, recipient: null, walletAddress });
	expect(absent.body).toMatchObject({ slippageBps: 50, recipient: walletAddress });
});

test.concurrent("several wrong fields are all named in one error, before any error about the route [D-errors-1, D-errors-2, D-errors-5]", async ({
	expect,
}) => {
	const answer = await quote({ originChain: 1, amount: "0", slippageBps: 0 });
	expectRefusal(expect, answer, "INVALID_REQUEST", issuesAt(expect, "amount", "slippageBps"));
	const addresses = await quote({ inputToken: "x", recipient: zeroAddress });
	expectRefusal(expect, addresses, "INVALID_REQUEST", issuesAt(expect, "inputToken", "recipient"));
});

test.concurrent("a swap that is not offered is NO_ROUTE with the reason [D-errors-22, D-quote-request-4, D-quote-response-19, D-quote-response-20, D-quote-response-21]", async ({
	expect,
}) => {
	const { origin } = environment;
	const unknown = privateKeyToAddress(generatePrivateKey());
	const usdc = assetAddress(origin, "USDC");
	const notEmpty = expect.arrayContaining([expect.any(String)]);
	for (const [change, reason] of [
		[{ originChain: 1 }, "chain"],
		[{ destinationChain: "10" }, "chain"],
		[{ destinationChain: Number.MAX_SAFE_INTEGER }, "chain"],
		[{ inputToken: unknown }, "token"],
		[{ outputToken: unknown }, "token"],
		[{ destinationChain: origin.chainId, outputToken: usdc }, "pair"],
		[{ destinationChain: origin.chainId, outputToken: usdc.toLowerCase(), amount: "1" }, "pair"],
	] as const) {
		const isOrigin = "originChain" in change || "inputToken" in change;
		const side = isOrigin ? "origin" : "destination";
		const details = reason === "pair" ? { reason } : { reason, side, accepted: notEmpty };
		expectRefusal(expect, await quote(change), "NO_ROUTE", details);
	}
	const { feeDiscountToken } = origin.deployment;
	if (feeDiscountToken) {
		expectRefusal(expect, await quote({ inputToken: feeDiscountToken.address }), "NO_ROUTE", {
			reason: "token",
			side: "origin",
			accepted: notEmpty,
		});
	}
});

test.concurrent.for(
	["ETH", "USDC", "USDT", "WETH", "ORB"].flatMap((from) =>
		["ETH", "USDC", "ORB"].map((to) => ({ from, to })),
	),
)(
	"$from to $to: a refusal for the amount includes an amount that can be quoted [D-errors-23, D-quote-response-23, D-quote-response-24]",
	async ({ from, to }, { expect }) => {
		const { origin, destination } = environment;
		const pair = { inputToken: assetAddress(origin, from), outputToken: assetAddress(destination, to) };
		const named = { small: "", large: "" };
		const positive = expect.stringMatching(/^[1-9]\d*$/);
		for (const amount of ["1", 1]) {
			const small = await quote({ ...pair, amount });
			expectRefusal(expect, small, "NEEDS_LARGER_SIZE", { minimumAmount: positive });
			named.small = detail(small, "minimumAmount");
		}
		for (const amount of [String(2n ** 256n - 1n), String(10n ** 30n)]) {
			const large = await quote({ ...pair, amount });
			expectRefusal(expect, large, "NO_ROUTE", { reason: "capacity", maximumAmount: positive });
			named.large = detail(large, "maximumAmount");
		}
		for (const amount of Object.values(named)) {
			const answer = await quote({ ...pair, amount });
			expect(answer.body).toMatchObject({
				output: positive,
				minOutput: positive,
				geoQuoteToken: expect.any(String),
			});
		}
		expect(BigInt(named.large)).toBeGreaterThan(1_000n * BigInt(named.small));
	},
);

test.concurrent("a wallet that holds nothing gets a quote [D-quote-response-26]", async ({ expect }) => {
	const answer = await getQuote(client, body() as never).catch((error: unknown) => error);
	expect(answer).not.toBeInstanceOf(GeoswapError);
});

function detail({ body }: ApiAnswer, name: string): string {
	return String((body?.details as Record<string, unknown> | undefined)?.[name]);
}
