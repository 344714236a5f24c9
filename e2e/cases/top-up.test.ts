import { swap } from "@geoswap/sdk";
import { getReceipt } from "@geoswap/sdk/receipt";
import { solanaSigner } from "@geoswap/sdk/solana";
import { generateKeyPairSigner } from "@solana/kit";
import { createWalletClient, defineChain, erc20Abi, http, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
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
const held = parseUnits("30", 6);
const native = (end: End) => (end.on === "solana" ? "SOL" : "ETH");

describe.concurrent("a recipient that holds nothing gets the output, and the native token for its gas", () => {
	test.for<{ from: End; to: End; topUp?: bigint; topUpUsd?: string }>([
		{
			from: { on: "origin", token: "USDC" },
			to: { on: "destination", token: "USDC" },
			topUpUsd: "0.50",
		},
		{
			from: { on: "origin", token: "USDC" },
			to: { on: "origin", token: "ORB" },
			topUp: parseUnits("0.0002", 18),
		},
		{
			from: { on: "origin", token: "USDC" },
			to: { on: "solana", token: "USDC" },
			topUp: parseUnits("0.005", 9),
		},
		{ from: { on: "origin", token: "USDC" }, to: { on: "solana", token: "SOL" }, topUpUsd: "1" },
		{ from: { on: "solana", token: "USDC" }, to: { on: "solana", token: "USDT" }, topUpUsd: "1" },
		{ from: { on: "solana", token: "USDC" }, to: { on: "destination", token: "USDC" }, topUpUsd: "0.50" },
	])(
		"from $from.token on $from.on to $to.token on $to.on [D-quote-request-16, D-quote-response-28]",
		async ({ from, to, ...asked }, { expect }) => {
			const { deployment: pins, solana } = environment;
			const [origin, destination]: AnyChain[] = [environment[from.on], environment[to.on]];
			if (!origin || !destination) throw new Error("there are two ends");
			const account =
				from.on === "solana"
					? await solana.newWallet({ usdc: held })
					: await environment.newWallet({ chain: environment[from.on], token: from.token, amount: held });
			const key = generatePrivateKey();
			const recipient =
				to.on === "solana" ? (await generateKeyPairSigner()).address : privateKeyToAddress(key);
			let approved = 0n;
			const ended = await swap(client, {
				originChain: origin.chainId,
				destinationChain: destination.chainId,
				inputToken: assetAddress<string>(origin, from.token),
				outputToken: assetAddress<string>(destination, to.token),
				amount: held,
				recipient,
				...asked,
				onBeforeSign: ({ topUp }) => {
					approved = topUp;
					return true;
				},
				signer: "keyPair" in account ? await solanaSigner(account) : account,
				pins,
			});
			expect(ended).toMatchObject({ status: "settled", terms: { topUp: approved } });
			if (asked.topUp !== undefined) expect(approved).toBe(asked.topUp);
			const { amount: delivered } = ended.funds;
			const gas = await holding(destination, native(to), recipient);
			expect(gas).toBe(native(to) === to.token ? approved + delivered : approved);
			expect(await holding(destination, to.token, recipient)).toBe(native(to) === to.token ? gas : delivered);
			expect(await getReceipt(client, ended.swapId)).toMatchObject({
				order: { topUp: String(approved) },
				terms: { topUp: String(approved) },
				deliveredAmount: String(delivered),
			});
			if (to.on === "solana") return;
			// The recipient can now move what it got by itself.
			const { rpcUrl, chainId } = environment[to.on];
			const chain = defineChain({
				id: chainId,
				name: "destination",
				nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
				rpcUrls: { default: { http: [rpcUrl] } },
			});
			const wallet = createWalletClient({ account: privateKeyToAccount(key), chain, transport: http() });
			const other = privateKeyToAddress(generatePrivateKey());
			await wallet.writeContract({
				abi: erc20Abi,
				address: assetAddress(environment[to.on], to.token),
				functionName: "transfer",
				args: [other, delivered],
			});
			await expect.poll(() => holding(destination, to.token, other), { timeout: 30_000 }).toBe(delivered);
		},
	);
});

test.concurrent("a top-up above the operator's maximum, below what an account must hold, or in two units is refused [D-quote-request-17]", async ({
	expect,
}) => {
	const { origin, destination, solana } = environment;
	const account = { address: privateKeyToAddress(generatePrivateKey()) };
	const from = { chain: origin, token: "USDC", amount: held };
	const toEvm = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
	const toSolana = { ...toEvm, destinationChain: solana.chainId, outputToken: assetAddress(solana, "USDC") };
	const recipient = (await generateKeyPairSigner()).address;
	for (const [body, path] of [
		[{ ...toEvm, topUpUsd: "5.01" }, "topUpUsd"],
		[{ ...toEvm, topUp: String(10n ** 18n) }, "topUp"],
		[{ ...toEvm, topUp: "0" }, "topUp"],
		[{ ...toSolana, recipient, topUp: "890879" }, "topUp"],
		[{ ...toEvm, topUp: "1", topUpUsd: "1" }, "topUpUsd"],
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
