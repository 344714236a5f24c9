import { delegationResponseSchema, solanaChainId } from "@geoswap/protocol";
import { type Address, getAddress, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OriginScene, refusalOf, startOriginScene } from "../../../test/api/origin-scene.ts";
import { testSolanaDeployment } from "../../../test/order/test-solana-deployment.ts";
import { connectSolana, type SolanaChain } from "../../chain/solana/connect-solana.ts";
import type { Route } from "../http/route.ts";
import { getDelegation } from "./get-delegation.ts";

let scene: OriginScene;
let solana: SolanaChain;
let route: Route;
let chainId: string;
let delegate: Address;
let typedDelegate: Address;
let mandateEscrow: Address;
beforeAll(async () => {
	scene = await startOriginScene();
	solana = connectSolana({
		rpcUrl: "http://127.0.0.1:9",
		deployment: testSolanaDeployment(scene.origin.deployment),
	});
	route = getDelegation({ chains: scene.chains, solana });
	chainId = String(scene.origin.chainId);
	({ delegate, typedDelegate, escrow: mandateEscrow } = scene.origin.deployment.contracts);
});
afterAll(() => scene.stop());

async function ask(query: Record<string, unknown>) {
	const answer = await scene.query(route, query);
	return delegationResponseSchema.strict().parse(answer);
}

test("the response for a new wallet has what it must sign, and the wallet is ready once its authorization was sent", async () => {
	const wallet = await scene.newWallet();
	const always = { chainId: Number(chainId), walletAddress: wallet.address };
	const query = { chainId, walletAddress: wallet.address.toLowerCase() };
	const before = await ask(query);
	expect(before).toEqual({
		...always,
		delegated: false,
		originReady: false,
		delegationTarget: delegate,
		typedDelegationTarget: typedDelegate,
		accountNonce: 0,
		mandateEpoch: 0,
	});
	const authorization = await scene.authorize(wallet, {
		address: before.delegationTarget as Address,
		nonce: before.accountNonce ?? -1,
	});
	await scene.send(scene.relayer, { to: wallet.address, authorizationList: [authorization] });
	expect(await ask(query)).toEqual({
		...always,
		delegated: true,
		originReady: true,
		delegatedTo: delegate,
		accepts: ["personal", "typed"],
		accountNonce: 1,
		mandateEpoch: 0,
		mandateEscrow,
	});
});

test("a wallet that delegated to the account for typed data only is ready, and accepts no personal_sign", async () => {
	const wallet = await scene.newWallet({ isDelegated: true, delegate: typedDelegate });
	expect(await ask({ chainId, walletAddress: wallet.address })).toEqual({
		chainId: Number(chainId),
		walletAddress: wallet.address,
		delegated: true,
		originReady: true,
		delegatedTo: typedDelegate,
		accepts: ["typed"],
		accountNonce: 1,
		mandateEpoch: 0,
		mandateEscrow,
	});
});

test("a wallet with an earlier delegate of the service needs a new delegation, and a wallet with a third party's delegate is blocked", async () => {
	const earlier = getAddress(`0xde1e6a7e${"0".repeat(31)}1`);
	const chain = scene.chains.get(Number(chainId));
	if (!chain) throw new Error("no chain");
	const { deployment } = chain;
	const contracts = { ...deployment.contracts, earlierDelegates: [earlier] };
	const chains = new Map([[chain.chainId, { ...chain, deployment: { ...deployment, contracts } }]]);
	const { testClient, publicClient } = scene.origin;
	const bytecode = (await publicClient.getCode({ address: delegate })) ?? "0x";
	await testClient.setCode({ address: earlier, bytecode });
	const wallet = await scene.newWallet({ isDelegated: true, delegate: earlier });
	const query = { chainId, walletAddress: wallet.address };
	expect(await scene.query(getDelegation({ chains, solana }), query)).toEqual({
		chainId: Number(chainId),
		walletAddress: wallet.address,
		delegated: true,
		originReady: false,
		delegatedTo: earlier,
		delegationTarget: delegate,
		typedDelegationTarget: typedDelegate,
		accountNonce: 1,
		mandateEpoch: 0,
		mandateEscrow,
	});
	expect(await ask(query)).toMatchObject({
		delegated: true,
		originReady: false,
		delegatedTo: earlier,
		blocked: "UNSUPPORTED_DELEGATION",
		note: expect.stringContaining("Use a different wallet"),
	});
});

test("a contract is blocked, is not reported as delegated, and the response advises to use a wallet with a key", async () => {
	const { escrow } = scene.origin.deployment.contracts;
	expect(await ask({ chainId, walletAddress: escrow })).toEqual({
		chainId: Number(chainId),
		walletAddress: escrow,
		delegated: false,
		originReady: false,
		blocked: "UNSUPPORTED_DELEGATION",
		note: expect.stringContaining("Use a wallet that signs with a key"),
	});
});

test("a Solana wallet needs no delegation, and the response names the build call that comes next", async () => {
	const walletAddress = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV";
	expect(await ask({ chainId: String(solanaChainId), walletAddress })).toEqual({
		chainId: solanaChainId,
		walletAddress,
		delegated: false,
		originReady: true,
		note: expect.stringContaining("nothing to sign here. Build with POST /swap/build-solana-tx"),
	});
});

test("Solana is refused as an unknown chain if it is not offered, and is among the known chains if it is", async () => {
	const query = {
		chainId: String(solanaChainId),
		walletAddress: "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV",
	};
	const without = getDelegation({ chains: scene.chains, solana: undefined });
	const known = [...scene.chains.keys()];
	const refusal = (chainIds: number[]) => ({
		code: "INVALID_REQUEST",
		details: {
			issues: [
				{ path: "chainId", message: `not a chain of this service; its chains are: ${chainIds.join(", ")}` },
			],
		},
	});
	expect(await refusalOf(scene.query(without, query))).toEqual(refusal(known));
	expect(await refusalOf(scene.query(route, { ...query, chainId: "5" }))).toEqual(
		refusal([...known, solanaChainId]),
	);
});

test("wrong parameter names are refused with the right ones, and invalid values with the field that is wrong", async () => {
	expect(await refusalOf(ask({ chain: chainId, wallet: "0x" }))).toMatchObject({
		code: "INVALID_REQUEST",
		details: { accepted: ["chainId", "walletAddress", "token"] },
	});
	const wallet = scene.relayer.address;
	const wrongChecksum = wallet.replace(/[a-f]/, (letter) => letter.toUpperCase());
	for (const [query, path] of [
		[{ chainId, walletAddress: wrongChecksum }, "walletAddress"],
		[{ chainId, walletAddress: "0x1" }, "walletAddress"],
		[{ chainId: "5", walletAddress: wallet }, "chainId"],
		[{ chainId: String(solanaChainId), walletAddress: wallet }, "walletAddress"],
		// Base58, but not 32 bytes long.
		[{ chainId: String(solanaChainId), walletAddress: "z".repeat(44) }, "walletAddress"],
		[{ chainId, walletAddress: "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV" }, "walletAddress"],
	] as const) {
		expect(await refusalOf(ask(query))).toMatchObject({
			code: "INVALID_REQUEST",
			details: { issues: [{ path }] },
		});
	}
	await ask({ chainId, walletAddress: `0x${wallet.slice(2).toUpperCase()}` });
});

test("the response has the wallet's balance of a requested token of the service, and refuses any other token", async () => {
	const wallet = await scene.newWallet({ symbol: "USDC", amount: 7n });
	const query = { chainId, walletAddress: wallet.address };
	const usdc = scene.assetOf("USDC");
	expect((await ask(query)).balance).toBeUndefined();
	expect((await ask({ ...query, token: scene.assetOf("USDT") })).balance).toBe("0");
	expect((await ask({ ...query, token: usdc.toLowerCase() })).balance).toBe("7");
	const { testClient } = scene.origin;
	await testClient.setBalance({ address: wallet.address, value: 9n });
	expect((await ask({ ...query, token: zeroAddress })).balance).toBe("9");
	const message = "not a token of this service on this chain; GET /tokens lists them";
	for (const token of [wallet.address, "nonsense"]) {
		expect(await refusalOf(ask({ ...query, token }))).toMatchObject({
			code: "INVALID_REQUEST",
			details: { issues: [{ path: "token", message }] },
		});
	}
});

test("a chain that does not respond is reported as unavailable [D-errors-28]", async () => {
	const dead = getDelegation({ chains: scene.deadChains, solana });
	expect(await refusalOf(scene.query(dead, { chainId, walletAddress: scene.relayer.address }))).toMatchObject(
		{
			code: "UPSTREAM_UNAVAILABLE",
		},
	);
});
