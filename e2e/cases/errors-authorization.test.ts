import { buildOp, waitForSwap } from "@geoswap/sdk";
import { createWalletClient, getAddress, http, parseEther, zeroAddress } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { test } from "vitest";
import { originCaller } from "../caller/origin-caller.ts";
import { expectRefusal, issuesAt } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { sendTransaction } from "../wallet/send-bundle.ts";

const amount = 10_000_000n;
const otherProvider = getAddress(`0x${"5a".repeat(20)}`);
const groupOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const environment = sharedEnvironment();
const client = await environment.newClient();
const { funded, quoteToken, build, signAuthorization, submit } = originCaller(environment, client);

function penniless(): PrivateKeyAccount {
	return privateKeyToAccount(generatePrivateKey());
}

/** Sends a transaction from the wallet, which increases its nonce. */
function moveNonce(account: PrivateKeyAccount): Promise<unknown> {
	return sendTransaction({ chain: environment.origin, account, to: account.address });
}

test.concurrent("an authorization that would not take effect is 409 with the reason, and a valid one is accepted in any spelling [I4-9, D-build-1, D-build-2, D-build-3, D-build-4, D-build-6, D-build-7, D-build-8, D-build-9, D-build-11, D-errors-15]", async ({
	expect,
}) => {
	const { chainId, deployment } = environment.origin;
	const account = await funded();
	const good = await signAuthorization(account);
	const twin = {
		s: `0x${(groupOrder - BigInt(good.s)).toString(16).padStart(64, "0")}`,
		yParity: 1 - good.yParity,
	};
	const { delegate } = deployment.contracts;
	const signer = { reason: "signer", expected: account.address };
	const wrong = [
		[await signAuthorization(account, { chainId: 0 }), { reason: "chain", expected: chainId }],
		[
			await signAuthorization(account, { chainId: environment.destination.chainId }),
			{ reason: "chain", expected: chainId },
		],
		[await signAuthorization(account, { address: zeroAddress }), { reason: "address", expected: delegate }],
		[await signAuthorization(account, { address: otherProvider }), { reason: "address", expected: delegate }],
		[await signAuthorization(penniless()), signer],
		[{ ...good, ...twin }, signer],
		[{ ...good, nonce: 1 }, signer],
		[{ ...good, yParity: twin.yParity }, signer],
		[{ ...good, r: `0x${"f".repeat(64)}` }, signer],
		[{ ...good, r: "0", s: "0" }, signer],
		[await signAuthorization(account, { nonce: 1 }), { reason: "nonce", expected: 0 }],
		// With several mistakes, the chain is reported first, then the address, then the signer.
		[
			await signAuthorization(penniless(), { chainId: 0, address: otherProvider, nonce: 5 }),
			{ reason: "chain", expected: chainId },
		],
		[
			await signAuthorization(penniless(), { address: otherProvider, nonce: 5 }),
			{ reason: "address", expected: delegate },
		],
		[await signAuthorization(penniless(), { nonce: 5 }), signer],
	] as const;
	const token = await quoteToken(account);
	// All are sent concurrently, because the quote expires soon.
	const answers = await Promise.all(wrong.map(([authorization]) => build(token, authorization)));
	for (const [i, answer] of answers.entries()) {
		expectRefusal(expect, answer, "INVALID_AUTHORIZATION", wrong[i]?.[1]);
	}
	const { r, s, yParity } = good;
	for (const spelled of [
		{ chainId, address: delegate, nonce: 0, yParity, r, s, v: "27" },
		{ chainId: String(chainId), address: delegate.toLowerCase(), nonce: "0", yParity: String(yParity), r, s },
		{ chainId: `0x${chainId.toString(16)}`, address: delegate, nonce: "0x0", yParity: `0x${yParity}`, r, s },
		{ chainId, address: delegate, nonce: 0, yParity, r: r.slice(2), s: s.slice(2).toUpperCase() },
	]) {
		expect((await build(token, spelled)).body).toMatchObject({ geoOpHash: expect.any(String) });
	}
});

test.concurrent("a malformed authorization is 400 and names the field [D-build-5]", async ({ expect }) => {
	const account = penniless();
	const [token, good] = [await quoteToken(account), await signAuthorization(account)];
	const wrong: [path: string, authorization: unknown][] = [
		...["x", 1, true, []].map((value): [string, unknown] => ["authorization", value]),
		...(["chainId", "address", "nonce", "yParity", "r", "s"] as const).flatMap(
			(field): [string, unknown][] => [
				[`authorization.${field}`, { ...good, [field]: undefined }],
				[`authorization.${field}`, { ...good, [field]: null }],
				[`authorization.${field}`, { ...good, [field]: "0xzz" }],
				[`authorization.${field}`, { ...good, [field]: {} }],
			],
		),
		["authorization.address", { ...good, address: good.address.toLowerCase().slice(0, -1) }],
		["authorization.nonce", { ...good, nonce: -1 }],
		["authorization.nonce", { ...good, nonce: 0.5 }],
		["authorization.chainId", { ...good, chainId: "1e3" }],
		["authorization.yParity", { ...good, yParity: 27 }],
		["authorization.r", { ...good, r: `${good.r}00` }],
	];
	const answers = await Promise.all(wrong.map(([, authorization]) => build(token, authorization)));
	for (const [i, answer] of answers.entries()) {
		expectRefusal(expect, answer, "INVALID_REQUEST", issuesAt(expect, wrong[i]?.[0] ?? ""));
	}
});

test.concurrent("a nonce that changed between signing and build is 409, and a fresh authorization is accepted [I7-3, D-build-7]", async ({
	expect,
}) => {
	const account = await funded({ ethWei: parseEther("1") });
	const stale = await signAuthorization(account);
	await moveNonce(account);
	const token = await quoteToken(account);
	expectRefusal(expect, await build(token, stale), "INVALID_AUTHORIZATION", { reason: "nonce", expected: 1 });
	expectRefusal(expect, await build(token), "NEEDS_DELEGATION", {
		delegationTarget: environment.origin.deployment.contracts.delegate,
		accountNonce: 1,
	});
	expect((await build(token, await signAuthorization(account, { nonce: 1 }))).status).toBe(200);
});

test.concurrent("a nonce that changed between build and submit is 409, and the same quote settles once it is built again [I7-3, I7-4, I7-5]", async ({
	expect,
}) => {
	const account = await funded({ ethWei: parseEther("1") });
	const geoQuoteToken = await quoteToken(account);
	const built = await buildOp(client, { geoQuoteToken, authorization: await signAuthorization(account) });
	await moveNonce(account);
	const moved = { reason: "nonce", expected: 1 };
	expectRefusal(expect, await submit(account, built), "INVALID_AUTHORIZATION", moved);
	const again = await buildOp(client, {
		geoQuoteToken,
		authorization: await signAuthorization(account, { nonce: 1 }),
	});
	const { swapId } = (await submit(account, again)).body as { swapId: string };
	expect((await waitForSwap(client, swapId)).status).toBe("settled");
});

test.concurrent("an authorization is 409 while a transaction of the wallet is pending, unless that transaction cannot run yet [D-build-10]", async ({
	expect,
}) => {
	const { origin } = environment;
	const account = await funded({ ethWei: parseEther("1") });
	const wallet = createWalletClient({ account, chain: origin.chain, transport: http(origin.rpcUrl) });
	const broadcast = (nonce: number) => wallet.sendTransaction({ to: account.address, nonce, gas: 50_000n });
	await broadcast(1_000);
	const token = await quoteToken(account);
	expect((await build(token, await signAuthorization(account))).status).toBe(200);

	// Sometimes a block comes in between. Then the nonce is wrong, and the next one is tried.
	for (let nonce = 0; ; nonce++) {
		const authorization = await signAuthorization(account, { nonce });
		await broadcast(nonce);
		const answer = await build(token, authorization);
		const details = answer.body?.details as { reason?: string } | undefined;
		if (details?.reason === "nonce" && nonce < 10) continue;
		expectRefusal(expect, answer, "INVALID_AUTHORIZATION", {
			reason: "pending_transactions",
			expected: nonce + 1,
		});
		break;
	}
});

test.concurrent("a wrong authorization is reported before an insufficient balance [D-order-12]", async ({
	expect,
}) => {
	const account = penniless();
	const token = await quoteToken(account);
	const stale = await build(token, await signAuthorization(account, { nonce: 3 }));
	expectRefusal(expect, stale, "INVALID_AUTHORIZATION", { reason: "nonce", expected: 0 });
	expectRefusal(expect, await build(token, await signAuthorization(account)), "INSUFFICIENT_BALANCE", {
		balance: "0",
		required: String(amount),
	});
});
