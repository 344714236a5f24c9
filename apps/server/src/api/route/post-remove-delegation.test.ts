import { randomUUID } from "node:crypto";
import { removeDelegationResponseSchema, revocationTypedData } from "@geoswap/protocol";
import { type PrivateKeyAccount, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OriginScene, refusalOf, startOriginScene } from "../../../test/api/origin-scene.ts";
import type { Route } from "../http/route.ts";
import { postRemoveDelegation } from "./post-remove-delegation.ts";

let scene: OriginScene;
beforeAll(async () => {
	scene = await startOriginScene();
});
afterAll(() => scene.stop());

function routeWith(perDay: { perAccount: number; perChain: number }): Route {
	const { chains, database, nowMs } = scene;
	return postRemoveDelegation({
		chains,
		db: database.pool,
		limits: { delegationRemovalsPerDay: perDay },
		nowMs,
	});
}

async function remove(
	wallet: PrivateKeyAccount,
	{
		as = scene.accountId,
		perDay = { perAccount: 10, perChain: 100 },
		change = {},
		epoch = 0n,
	}: {
		as?: string;
		perDay?: { perAccount: number; perChain: number };
		change?: Parameters<OriginScene["authorize"]>[1];
		/** The epoch that the revocation is signed for. */
		epoch?: bigint;
	} = {},
) {
	const nonce = await scene.origin.publicClient.getTransactionCount({ address: wallet.address });
	const authorization = await scene.authorize(wallet, { address: zeroAddress, nonce, ...change });
	const revocation = await revoke(wallet, { epoch });
	const body = { chainId: scene.origin.chainId, walletAddress: wallet.address, authorization, revocation };
	return removeDelegationResponseSchema.strict().parse(await scene.call(routeWith(perDay), body, as));
}

function revoke(wallet: PrivateKeyAccount, { epoch }: { epoch: bigint }) {
	const { chainId, deployment } = scene.origin;
	const { escrow } = deployment.contracts;
	return wallet.signTypedData(revocationTypedData({ chainId, escrow, wallet: wallet.address, epoch }));
}

test("a revocation that is missing, or not signed by the wallet for its current epoch, is refused", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { code, details } = await refusalOf(remove(wallet, { epoch: 1n }));
	expect([code, details]).toEqual([
		"INVALID_SIGNATURE",
		{ expected: wallet.address, recovered: expect.not.stringContaining(wallet.address) },
	]);
	const body = { chainId: scene.origin.chainId, walletAddress: wallet.address };
	const without = scene.call(routeWith({ perAccount: 1, perChain: 1 }), body);
	expect(await refusalOf(without)).toMatchObject({
		code: "INVALID_REQUEST",
		details: { issues: expect.arrayContaining([{ path: "revocation", message: "required" }]) },
	});
});

test("a delegated wallet's removal is queued once, even if it is requested several times", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	expect(await remove(wallet)).toMatchObject({ removal: "queued" });
	expect(await remove(wallet)).toMatchObject({ removal: "queued" });
	const { rows } = await scene.database.owner.query<{ wallet: Buffer; state: string }>(
		"select wallet, state from delegation_removals",
	);
	expect(rows).toEqual([{ wallet: Buffer.from(wallet.address.slice(2), "hex"), state: "queued" }]);
});

test("nothing is queued for a wallet that is not delegated", async () => {
	expect(await remove(await scene.newWallet())).toMatchObject({ removal: "none" });
});

test("a wallet that is delegated to another provider is refused", async () => {
	const wallet = await scene.newWallet();
	const other = scene.relayer.address;
	await scene.send(scene.relayer, {
		to: wallet.address,
		authorizationList: [await scene.authorize(wallet, { address: other })],
	});
	expect(await refusalOf(remove(wallet))).toEqual({
		code: "UNSUPPORTED_DELEGATION",
		details: { delegatedTo: other },
	});
});

test("an authorization for another address, chain or nonce, or of another wallet, is refused", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const reasonOf = async (answer: Promise<unknown>) => {
		const { code, details } = await refusalOf(answer);
		return { code, reason: (details as { reason?: string }).reason };
	};
	const code = "INVALID_AUTHORIZATION";
	const { delegate } = scene.origin.deployment.contracts;
	expect(await reasonOf(remove(wallet, { change: { address: delegate } }))).toEqual({
		code,
		reason: "address",
	});
	expect(await reasonOf(remove(wallet, { change: { chainId: 0 } }))).toEqual({ code, reason: "chain" });
	expect(await reasonOf(remove(wallet, { change: { nonce: 7 } }))).toEqual({ code, reason: "nonce" });
	const stranger = await scene.newWallet();
	const signed = await scene.authorize(stranger, { address: zeroAddress, nonce: 1 });
	const body = {
		chainId: scene.origin.chainId,
		walletAddress: wallet.address,
		authorization: signed,
		revocation: await revoke(wallet, { epoch: 0n }),
	};
	expect(await reasonOf(scene.call(routeWith({ perAccount: 1, perChain: 1 }), body))).toEqual({
		code,
		reason: "signer",
	});
});

test("an account and a chain each have a daily budget of removals", async () => {
	const [first, second] = [randomUUID(), randomUUID()];
	const a = await scene.newWallet({ isDelegated: true });
	const b = await scene.newWallet({ isDelegated: true });
	const c = await scene.newWallet({ isDelegated: true });
	const { rows } = await scene.database.owner.query<{ n: number }>(
		"select count(*)::int as n from delegation_removals",
	);
	const perDay = { perAccount: 1, perChain: (rows[0]?.n ?? 0) + 2 };
	expect(await remove(a, { as: first, perDay })).toMatchObject({ removal: "queued" });
	const spent = { code: "RATE_LIMITED", details: { reason: "removals", retryAfterSeconds: 3_600 } };
	expect(await refusalOf(remove(b, { as: first, perDay }))).toEqual(spent);
	// The same request again is the same removal, regardless of the budget.
	expect(await remove(a, { as: first, perDay })).toMatchObject({ removal: "queued" });
	expect(await remove(b, { as: second, perDay })).toMatchObject({ removal: "queued" });
	expect(await refusalOf(remove(c, { as: randomUUID(), perDay }))).toEqual(spent);
});
