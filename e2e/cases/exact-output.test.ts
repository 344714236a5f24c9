import { swap } from "@geoswap/sdk";
import { solanaSigner } from "@geoswap/sdk/solana";
import { parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { beforeAll, describe, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { type AnyChain, holding } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

let environment: Environment;
let client: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

type End = { on: "origin" | "destination" | "solana"; token: string };
const held = parseUnits("100", 6);

describe.concurrent("the recipient gets at least the exact output, and the wallet gives the quoted input and no more", () => {
	test.for<{ from: End; to: End; receive: bigint; slippageBps?: number }>([
		{
			from: { on: "origin", token: "USDC" },
			to: { on: "destination", token: "USDC" },
			receive: parseUnits("25", 6),
			slippageBps: 0,
		},
		{
			from: { on: "origin", token: "USDC" },
			to: { on: "destination", token: "ORB" },
			receive: parseUnits("0.5", 18),
		},
		{
			from: { on: "origin", token: "USDC" },
			to: { on: "solana", token: "SOL" },
			receive: parseUnits("0.25", 9),
		},
		{
			from: { on: "solana", token: "USDC" },
			to: { on: "origin", token: "USDC" },
			receive: parseUnits("25.000001", 6),
		},
	])(
		"from $from.token on $from.on to $to.token on $to.on [D-quote-request-13, D-quote-request-15, D-quote-response-27]",
		async ({ from, to, receive, slippageBps }, { expect }) => {
			const { deployment: pins, solana } = environment;
			const [origin, destination]: AnyChain[] = [environment[from.on], environment[to.on]];
			if (!origin || !destination) throw new Error("there are two ends");
			const solanaWallet = await solana.newWallet(from.on === "solana" ? { usdc: held } : {});
			const account =
				from.on === "solana"
					? solanaWallet
					: await environment.newWallet({ chain: environment[from.on], token: from.token, amount: held });
			const recipient = to.on === "solana" ? solanaWallet.address : privateKeyToAddress(generatePrivateKey());
			const before = await holding(destination, to.token, recipient);
			const ended = await swap(client, {
				originChain: origin.chainId,
				destinationChain: destination.chainId,
				inputToken: assetAddress<string>(origin, from.token),
				outputToken: assetAddress<string>(destination, to.token),
				outputAmount: receive,
				maxInput: held,
				recipient,
				...(slippageBps !== undefined && { slippageBps }),
				signer: "keyPair" in account ? await solanaSigner(account) : account,
				pins,
			});
			expect(ended.status).toBe("settled");
			const delivered = (await holding(destination, to.token, recipient)) - before;
			expect(delivered).toBe(ended.funds.amount);
			expect(delivered).toBeGreaterThanOrEqual(receive);
			if (slippageBps === 0) expect(delivered).toBe(receive);
			const left = await holding(origin, from.token, account.address);
			expect(held - left).toBe(ended.terms.amount);
			expect(ended.terms.minOutput).toBeGreaterThanOrEqual(receive);
		},
	);
});

test.concurrent("an exact output above the caller's maximum input is not signed", async ({ expect }) => {
	const { origin, destination, deployment: pins } = environment;
	const signer = await environment.newWallet({ chain: origin, token: "USDC", amount: held });
	const { inputToken, outputToken } = swapIntent({
		from: { chain: origin, token: "USDC", amount: held },
		to: { chain: destination, token: "USDC" },
		account: signer,
	});
	const [outputAmount, maxInput] = [25_000_000n, 25_000_000n];
	const chains = { originChain: origin.chainId, destinationChain: destination.chainId };
	await expect(
		swap(client, { ...chains, inputToken, outputToken, outputAmount, maxInput, signer, pins }),
	).rejects.toMatchObject({ code: "ABOVE_MAX_INPUT", mayExecute: false });
	expect(await holding(origin, "USDC", signer.address)).toBe(held);
});

test.concurrent("a quote needs either an input or an output, and a slippage of 0 needs an output of the same asset [D-quote-request-10, D-quote-request-14, D-quote-request-15]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const account = { address: privateKeyToAddress(generatePrivateKey()) };
	const from = { chain: origin, token: "USDC", amount: held };
	const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
	const other = swapIntent({ from, to: { chain: destination, token: "ORB" }, account });
	const { amount: _, ...neither } = intent;
	for (const [body, path] of [
		[neither, "amount"],
		[{ ...intent, outputAmount: "1000000" }, "outputAmount"],
		[{ ...neither, outputAmount: "0" }, "outputAmount"],
		[{ ...intent, slippageBps: 0 }, "slippageBps"],
		[{ ...other, amount: undefined, outputAmount: "1000000000000000000", slippageBps: 0 }, "slippageBps"],
	] as const) {
		const answer = await callApi(client, "/swap/quote", { body });
		expectRefusal(
			expect,
			answer,
			"INVALID_REQUEST",
			expect.objectContaining(issuesAt(expect, path) as object),
		);
	}
});
