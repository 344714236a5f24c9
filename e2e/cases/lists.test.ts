import { readyResponseSchema, solanaChainId } from "@geoswap/protocol";
import { getChains, getQuote, getStatus, getTokens, listSwaps, waitForSwap } from "@geoswap/sdk";
import { parseUnits, zeroAddress } from "viem";
import { beforeAll, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";

const ten = parseUnits("10", 6);

let environment: Environment;
beforeAll(() => {
	environment = sharedEnvironment();
});

test.concurrent("the chains are those of the deployment file, are all live, and have the addresses that a caller pins [D-beyond-1]", async ({
	expect,
}) => {
	const { client, deployment } = environment;
	const { chains } = await getChains(client);
	const evm = deployment.chains.map(({ chainId, name, contracts, attesterSet, settlementToken }) => ({
		chainId,
		name,
		settlementToken,
		kind: "evm",
		nativeToken: zeroAddress,
		live: true,
		contracts: {
			delegate: contracts.delegate,
			typedDelegate: contracts.typedDelegate,
			escrow: contracts.escrow,
			vault: contracts.vault,
			attesterSet: attesterSet.hash,
		},
	}));
	expect(chains).toMatchObject([
		...evm,
		{
			chainId: solanaChainId,
			kind: "solana",
			contracts: { escrow: deployment.solana?.program.address, vault: deployment.solana?.program.vault },
			live: true,
		},
	]);
});

test.concurrent("every listed token is live and can be quoted by its listed address, as input and as output [D-beyond-2]", async ({
	expect,
}) => {
	const { client, origin, deployment } = environment;
	const { tokens } = await getTokens(client);
	const counts = [...deployment.chains, deployment.solana].map((chain) => chain?.assets.length ?? 0);
	expect(tokens).toHaveLength(counts.reduce((sum, count) => sum + count, 0));
	const usdc = tokens.find(({ chainId, symbol }) => chainId === origin.chainId && symbol === "USDC");
	const evmWallet = "0x1111111111111111111111111111111111111111";
	const solanaWallet = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV";
	for (const token of tokens.filter((candidate) => candidate !== usdc)) {
		expect(token.live, `${token.symbol} on ${token.chainId}`).toBe(true);
		const isOnSolana = token.chainId === solanaChainId;
		// Each amount is worth about a hundred dollars.
		const amountOf = ({ symbol, decimals }: { symbol: string; decimals: number }) =>
			String(parseUnits({ ETH: "0.04", WETH: "0.04", ORB: "40", SOL: "1" }[symbol] ?? "100", decimals));
		const quoted = await Promise.all([
			getQuote(client, {
				originChain: origin.chainId,
				inputToken: usdc?.address ?? "",
				amount: String(ten * 10n),
				destinationChain: token.chainId,
				outputToken: token.address,
				walletAddress: evmWallet,
				...(isOnSolana && { recipient: solanaWallet }),
			}),
			getQuote(client, {
				originChain: token.chainId,
				inputToken: token.address,
				amount: amountOf(token),
				destinationChain: origin.chainId,
				outputToken: usdc?.address ?? "",
				walletAddress: isOnSolana ? solanaWallet : evmWallet,
				...(isOnSolana && { recipient: evmWallet }),
			}),
		]);
		for (const { output } of quoted) expect(BigInt(output)).toBeGreaterThan(0n);
	}

	const { tokens: some } = await getTokens(client, { chainId: solanaChainId });
	expect(some).toEqual(tokens.filter(({ chainId }) => chainId === solanaChainId));
	const refused = await callApi(client, "/tokens?chainId=1");
	expectRefusal(expect, refused, "INVALID_REQUEST", issuesAt(expect, "chainId"));
	expect(JSON.stringify(refused.body)).toContain(String(origin.chainId));
});

test.concurrent("an account's history has its swaps only, newest first, complete while swaps are submitted, equal to each status, and filtered as requested [D-beyond-3, D-beyond-9]", async ({
	expect,
}) => {
	const { origin, destination, deployment: pins } = environment;
	const [client, other] = await Promise.all([environment.newClient(), environment.newClient()]);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: 8n * ten });
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount: ten },
		to: { chain: destination, token: "USDC" },
		account,
	});
	const swapAs = async (who: typeof client) => {
		const caller = { client: who, pins, account };
		return (await submitSigned(caller, await signSwap(caller, intent))).swapId;
	};
	expect(await listSwaps(client)).toEqual({ swaps: [] });
	const foreign = await swapAs(other);
	const first: string[] = [];
	for (let i = 0; i < 4; i++) first.unshift(await swapAs(client));

	const seen: string[] = [];
	const later: Promise<string>[] = [];
	let cursor: string | undefined;
	do {
		const page = await listSwaps(client, { limit: 1, ...(cursor && { cursor }) });
		seen.push(...page.swaps.map(({ swapId }) => swapId));
		cursor = page.nextCursor;
		if (later.length < 2) later.push(swapAs(client));
	} while (cursor !== undefined);
	expect(seen.filter((swapId) => first.includes(swapId))).toEqual(first);
	expect(new Set(seen).size).toBe(seen.length);

	const all = [...first, ...(await Promise.all(later))];
	await Promise.all([foreign].map((swapId) => waitForSwap(other, swapId)));
	await Promise.all(all.map((swapId) => waitForSwap(client, swapId)));
	const { swaps } = await listSwaps(client, { limit: 100 });
	expect(new Set(swaps.map(({ swapId }) => swapId))).toEqual(new Set(all));
	for (const swap of swaps) {
		expect(swap).toEqual(await getStatus(client, swap.swapId, { waitSeconds: 0 }));
		expect(Date.parse(swap.createdAt)).toBeLessThanOrEqual(Date.parse(swap.updatedAt));
	}
	expect((await listSwaps(client, { status: "settled" })).swaps).toHaveLength(all.length);
	expect(await listSwaps(client, { status: "pending" })).toEqual({ swaps: [] });
	expect((await listSwaps(other)).swaps).toMatchObject([{ swapId: foreign }]);

	for (const swap of swaps) {
		const times = [swap.quotedAt, swap.createdAt, swap.openedAt, swap.deliveredAt, swap.endedAt];
		expect(times.map((time) => Date.parse(time ?? ""))).not.toContain(Number.NaN);
		expect(swap.terms).toMatchObject({ amount: ten, walletAddress: account.address, feeBps: 12.5 });
		expect(BigInt(swap.terms.networkCost?.amount ?? 0)).toBeGreaterThan(0n);
		expect(BigInt(swap.deliveredAmount ?? 0)).toBeGreaterThanOrEqual(swap.terms.minOutput);
	}
	const [newest] = swaps;
	const ofWallet = await listSwaps(client, { wallet: account.address.toLowerCase(), limit: 100 });
	expect(ofWallet.swaps.map(({ swapId }) => swapId)).toEqual(swaps.map(({ swapId }) => swapId));
	expect((await listSwaps(client, { from: newest?.quotedAt ?? "" })).swaps).toMatchObject([
		{ swapId: newest?.swapId },
	]);
	expect((await listSwaps(client, { to: newest?.quotedAt ?? "" })).swaps).toHaveLength(swaps.length - 1);
	expect(
		await listSwaps(client, { wallet: environment.deployment.chains[0]?.contracts.vault ?? "" }),
	).toEqual({
		swaps: [],
	});

	const { nextCursor = "" } = await listSwaps(client, { limit: 1 });
	const withCursor = (key: { baseUrl: string; apiKey: string }, text: string) =>
		callApi(key, `/swaps?cursor=${encodeURIComponent(text)}`);
	expect((await withCursor(client, nextCursor)).status).toBe(200);
	expectRefusal(expect, await withCursor(other, nextCursor), "INVALID_REQUEST", issuesAt(expect, "cursor"));
	expectRefusal(
		expect,
		await withCursor(client, `${nextCursor}x`),
		"INVALID_REQUEST",
		issuesAt(expect, "cursor"),
	);
	expectRefusal(
		expect,
		await callApi(client, "/swaps?limit=101"),
		"INVALID_REQUEST",
		issuesAt(expect, "limit"),
	);
	expectRefusal(
		expect,
		await callApi(client, "/swaps?status=opening"),
		"INVALID_REQUEST",
		issuesAt(expect, "status"),
	);
});

test.concurrent("the lists need a key; /ready responds without a key and names every part [D-beyond-1, D-beyond-2, D-beyond-3, D-beyond-5]", async ({
	expect,
}) => {
	const { baseUrl, origin, destination } = environment;
	for (const path of ["/chains", "/tokens", "/swaps"]) {
		expectRefusal(expect, await callApi({ baseUrl }, path), "UNAUTHORIZED");
	}
	const { status, body } = await callApi({ baseUrl }, "/ready");
	expect(status).toBe(200);
	const names = readyResponseSchema.parse(body).checks.map(({ name }) => name);
	const ofChain = ({ chainId, deployment }: { chainId: number; deployment: { name: string } }) =>
		["prices of", "assets of", "pause of", "worker on"].map(
			(what) => `${what} ${deployment.name} (${chainId})`,
		);
	expect(names).toEqual([
		...["database", "redis", "engine"],
		...[origin, destination, environment.solana].flatMap((chain) =>
			ofChain({ chainId: chain.deployment.chainId, deployment: chain.deployment }),
		),
	]);
});
