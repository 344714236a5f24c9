import type { BuildResponse } from "@geoswap/protocol";
import { buildOp, waitForSwap } from "@geoswap/sdk";
import { getAddress, zeroAddress } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { originCaller } from "../caller/origin-caller.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { delegateWallet } from "../wallet/delegate-wallet.ts";

const otherProvider = getAddress(`0x${"5a".repeat(20)}`);

const environment = sharedEnvironment();
const client = await environment.newClient();
const { funded, quoteToken, build, signAuthorization, submit } = originCaller(environment, client);

function penniless(): PrivateKeyAccount {
	return privateKeyToAccount(generatePrivateKey());
}

test.concurrent("GET /swap/delegation distinguishes wallets without delegation, with the service's, with another provider's, and contracts [I4-4, I4-5, D-conventions-3, D-delegation-1, D-delegation-3, D-delegation-4, D-delegation-5, D-delegation-6, D-delegation-7]", async ({
	expect,
}) => {
	const { origin } = environment;
	const { chainId } = origin;
	const { delegate, typedDelegate } = origin.deployment.contracts;
	const targets = { delegationTarget: delegate, typedDelegationTarget: typedDelegate };
	const accepts = ["personal", "typed"];
	const [none, ours, others, contract] = [penniless(), penniless(), penniless(), penniless()];
	await Promise.all([
		delegateWallet(origin, ours),
		delegateWallet(origin, others, otherProvider),
		origin.testClient.setCode({ address: contract.address, bytecode: "0x6001" }),
		origin.testClient.setNonce({ address: none.address, nonce: 7 }),
	]);
	const blocked = "UNSUPPORTED_DELEGATION";
	const note = expect.stringMatching(/^.{20,}\.$/);
	for (const [{ address: walletAddress }, state] of [
		[none, { delegated: false, originReady: false, ...targets, accountNonce: 7, mandateEpoch: 0 }],
		[
			ours,
			{
				delegated: true,
				originReady: true,
				delegatedTo: delegate,
				accepts,
				accountNonce: 1,
				mandateEpoch: 0,
				mandateEscrow: origin.deployment.contracts.escrow,
			},
		],
		[others, { delegated: true, originReady: false, delegatedTo: otherProvider, blocked, note }],
		[contract, { delegated: false, originReady: false, blocked, note }],
	] as const) {
		for (const spelled of [walletAddress, walletAddress.toLowerCase()]) {
			const answer = await callApi(client, `/swap/delegation?chainId=${chainId}&walletAddress=${spelled}`);
			expect(answer.status).toBe(200);
			expect(answer.body).toEqual({ chainId, walletAddress, ...state });
		}
	}
	const solana = { chainId: 792_703_809, walletAddress: "So11111111111111111111111111111111111111112" };
	const answer = await callApi(
		client,
		`/swap/delegation?chainId=${solana.chainId}&walletAddress=${solana.walletAddress}`,
	);
	expect(answer.body).toEqual({ ...solana, delegated: false, originReady: true, note });
});

test.concurrent("a wrong delegation query is 400, and the error for unknown names lists the accepted ones [D-delegation-8]", async ({
	expect,
}) => {
	const { chainId } = environment.origin;
	const { address } = penniless();
	const misnamed = await callApi(client, `/swap/delegation?chain_id=${chainId}&wallet=${address}`);
	expectRefusal(expect, misnamed, "INVALID_REQUEST", {
		issues: [
			{ path: "chainId", message: "required" },
			{ path: "walletAddress", message: "required" },
			{ path: "chain_id", message: "unknown field" },
			{ path: "wallet", message: "unknown field" },
		],
		accepted: ["chainId", "walletAddress", "token"],
		didYouMean: { chain_id: "chainId" },
	});
	for (const [path, query] of [
		["chainId", `chainId=x&walletAddress=${address}`],
		["chainId", `chainId=1&walletAddress=${address}`],
		["chainId", `chainId=${chainId}&chainId=${chainId}&walletAddress=${address}`],
		["walletAddress", `chainId=${chainId}&walletAddress=${address.slice(0, -1)}`],
		["walletAddress", `chainId=${chainId}&walletAddress=So11111111111111111111111111111111111111112`],
		["walletAddress", `chainId=792703809&walletAddress=${address}`],
		["token", `chainId=${chainId}&walletAddress=${address}&token=${address}`],
	]) {
		const answer = await callApi(client, `/swap/delegation?${query}`);
		expectRefusal(expect, answer, "INVALID_REQUEST", issuesAt(expect, path ?? ""));
	}
});

test.concurrent("a wallet without a delegation is refused with the delegation to sign, regardless of its balance [I4-8, I7-1, D-conventions-16, D-errors-14, D-order-12]", async ({
	expect,
}) => {
	const details = {
		delegationTarget: environment.origin.deployment.contracts.delegate,
		accountNonce: 0,
	};
	for (const account of [penniless(), await funded()]) {
		const token = await quoteToken(account);
		for (const absent of [undefined, null]) {
			expectRefusal(expect, await build(token, absent), "NEEDS_DELEGATION", details);
		}
	}
});

test.concurrent("a wallet with another provider's delegation or with its own code is 422, with or without an authorization [I4-10, I7-6, I7-7, D-build-14, D-errors-21, D-order-11]", async ({
	expect,
}) => {
	const { origin } = environment;
	const [others, contract] = [penniless(), penniless()];
	await Promise.all([
		delegateWallet(origin, others, otherProvider),
		origin.testClient.setCode({ address: contract.address, bytecode: "0x6001" }),
	]);
	for (const [account, details] of [
		[others, { delegatedTo: otherProvider }],
		[contract, {}],
	] as const) {
		const token = await quoteToken(account);
		const authorizations = [
			undefined,
			await signAuthorization(account, { nonce: 1 }),
			await signAuthorization(account, { chainId: 0 }),
		];
		for (const authorization of authorizations) {
			expectRefusal(expect, await build(token, authorization), "UNSUPPORTED_DELEGATION", details);
		}
	}
});

test.concurrent("a wallet that changes to another provider between build and submit is 422, and one that removes its delegation is 409", async ({
	expect,
}) => {
	const { origin } = environment;
	const [leaving, left] = await Promise.all([funded(), funded()]);
	await delegateWallet(origin, left);
	const [first, second] = await Promise.all([
		buildOp(client, {
			geoQuoteToken: await quoteToken(leaving),
			authorization: await signAuthorization(leaving),
		}),
		buildOp(client, { geoQuoteToken: await quoteToken(left) }),
	]);
	await Promise.all([
		delegateWallet(origin, leaving, otherProvider),
		delegateWallet(origin, left, zeroAddress),
	]);
	const unsupported = { delegatedTo: otherProvider };
	expectRefusal(expect, await submit(leaving, first), "UNSUPPORTED_DELEGATION", unsupported);
	expectRefusal(expect, await submit(left, second), "NEEDS_DELEGATION", {
		delegationTarget: origin.deployment.contracts.delegate,
		accountNonce: 2,
	});
});

test.concurrent("a wallet that is already delegated to the service may send any authorization, and its swap settles [D-build-12]", async ({
	expect,
}) => {
	const account = await funded();
	await delegateWallet(environment.origin, account);
	const geoQuoteToken = await quoteToken(account);
	const plain = await buildOp(client, { geoQuoteToken });
	for (const stale of [
		await signAuthorization(account),
		await signAuthorization(account, { chainId: 0, nonce: 9 }),
		await signAuthorization(penniless()),
	]) {
		expect((await build(geoQuoteToken, stale)).body).toMatchObject({ geoOpHash: plain.geoOpHash });
	}
	const stale = (await build(geoQuoteToken, await signAuthorization(account))).body as BuildResponse;
	const { swapId } = (await submit(account, stale)).body as { swapId: string };
	expect((await waitForSwap(client, swapId)).status).toBe("settled");
});
