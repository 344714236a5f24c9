import { type Authorization, authorizationSchema } from "@geoswap/protocol";
import { type Address, getAddress, type PrivateKeyAccount } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OriginScene, refusalOf, startOriginScene } from "../../../../test/api/origin-scene.ts";
import type { EvmChain } from "../connect-chain.ts";
import { checkDelegation } from "./check-delegation.ts";
import { readAccountNonces } from "./read-wallet.ts";
import { readDelegation } from "./wallet-delegation.ts";

let scene: OriginScene;
let chain: EvmChain;
beforeAll(async () => {
	scene = await startOriginScene();
	const connected = scene.chains.get(scene.origin.chainId);
	if (!connected) throw new Error("the scene has its origin");
	chain = connected;
});
afterAll(() => scene.stop());

test("a wallet that is delegated between reading its code and reading its nonce counts as delegated", async () => {
	const account = await scene.newWallet();
	const wallet = account.address;
	const { authorization, signed } = await authorize(account, chain.deployment.contracts.delegate);
	const checked = await checkDelegation({
		chain,
		wallet,
		delegation: { kind: "none" },
		targets: [signed.address],
		authorization,
		readNonces: async () => {
			await scene.send(scene.relayer, { to: wallet, authorizationList: [signed] });
			return readAccountNonces(chain, wallet);
		},
	});
	expect(checked).toEqual({ delegate: chain.deployment.contracts.delegate });
});

test("a wallet on an earlier delegate of the service pays with the offered one once it signs a new authorization", async () => {
	const { delegate } = chain.deployment.contracts;
	const earlier = getAddress(`0x${"ea".repeat(20)}`);
	const account = await scene.newWallet({ isDelegated: true, delegate: earlier });
	const check = (authorization?: Authorization) => checkWallet(account.address, { earlier, authorization });
	expect(await refusalOf(check())).toEqual({
		code: "NEEDS_DELEGATION",
		details: { delegationTarget: delegate, accountNonce: 1 },
	});
	const { authorization: back } = await authorize(account, earlier);
	expect(await refusalOf(check(back))).toEqual({
		code: "INVALID_AUTHORIZATION",
		details: { reason: "address", expected: delegate },
	});
	const { authorization } = await authorize(account, delegate);
	expect(await check(authorization)).toEqual({ delegate, authorization });
});

test("an authorization switches a wallet between the two delegates, in both directions, and only with the right nonce", async () => {
	const { delegate, typedDelegate } = chain.deployment.contracts;
	for (const [from, to] of [
		[delegate, typedDelegate],
		[typedDelegate, delegate],
	] as const) {
		const account = await scene.newWallet({ isDelegated: true, delegate: from });
		const check = (authorization?: Authorization) => checkWallet(account.address, { authorization });
		expect(await check()).toEqual({ delegate: from });
		const { authorization: same } = await authorize(account, from);
		expect(await check(same)).toEqual({ delegate: from });
		const { authorization, signed } = await authorize(account, to);
		expect(await check(authorization)).toEqual({ delegate: to, authorization });
		expect(await refusalOf(check({ ...authorization, nonce: 7n }))).toMatchObject({
			details: { reason: "signer" },
		});
		await scene.send(scene.relayer, { to: account.address, authorizationList: [signed] });
		expect(await check(authorization)).toEqual({ delegate: to });
		const { authorization: stale } = await authorize(account, from, 0);
		expect(await refusalOf(check(stale))).toEqual({
			code: "INVALID_AUTHORIZATION",
			details: { reason: "nonce", expected: 2 },
		});
	}
});

test("an authorization for a foreign delegate changes nothing for a wallet on the service's delegate, and is refused for any other", async () => {
	const { delegate } = chain.deployment.contracts;
	const foreign = getAddress(`0x${"f0".repeat(20)}`);
	const ours = await scene.newWallet({ isDelegated: true });
	const { authorization } = await authorize(ours, foreign);
	expect(await checkWallet(ours.address, { authorization })).toEqual({ delegate });
	const fresh = await scene.newWallet();
	const { authorization: first } = await authorize(fresh, foreign);
	expect(await refusalOf(checkWallet(fresh.address, { authorization: first }))).toEqual({
		code: "INVALID_AUTHORIZATION",
		details: { reason: "address", expected: delegate },
	});
	const theirs = await scene.newWallet({ isDelegated: true, delegate: foreign });
	const { authorization: away } = await authorize(theirs, delegate);
	expect(await refusalOf(checkWallet(theirs.address, { authorization: away }))).toEqual({
		code: "UNSUPPORTED_DELEGATION",
		details: { delegatedTo: foreign },
	});
});

async function checkWallet(
	wallet: Address,
	{ earlier, authorization }: { earlier?: Address; authorization?: Authorization | undefined },
) {
	const { contracts } = chain.deployment;
	const earlierDelegates = earlier ? [earlier] : [];
	const known = {
		...chain,
		deployment: { ...chain.deployment, contracts: { ...contracts, earlierDelegates } },
	};
	return checkDelegation({
		chain: known,
		wallet,
		delegation: await readDelegation(known, wallet),
		targets: [contracts.delegate, contracts.typedDelegate],
		authorization,
		readNonces: () => readAccountNonces(known, wallet),
	});
}

/** Returns the authorization as it is sent, and as the API reads it. */
async function authorize(account: PrivateKeyAccount, delegate: Address, nonce?: number) {
	const signed = await scene.authorize(account, {
		address: delegate,
		...(nonce !== undefined && { nonce }),
	});
	const { chainId, address, r, s, yParity } = signed;
	const authorization = authorizationSchema.parse({ chainId, address, nonce: signed.nonce, r, s, yParity });
	return { authorization, signed };
}
