import {
	markerAddress,
	orderId,
	solanaNativeToken,
	tokenAccountRentLamports,
	toSolanaWord,
} from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SolanaChainScene, solanaChainScene } from "../../../../test/solana/solana-chain-scene.ts";
import { findCloseTransaction } from "../marker/find-close-transaction.ts";
import { findMarkerTransaction } from "../marker/find-marker-transaction.ts";
import { readMarkers } from "../marker/read-markers.ts";
import { receivedBy } from "../read/received-by.ts";
import { maximumClosedMarkers, signClose } from "./sign-close.ts";
import { signPayout } from "./sign-payout.ts";
import { signVoid } from "./sign-void.ts";

let scene: SolanaChainScene;
beforeAll(async () => {
	scene = await solanaChainScene();
});
afterAll(() => scene?.stop());

test("closing markers returns their lamports to the fee payer, including gifts", async () => {
	const base = scene.keys.vault.address;
	const recipient = (await scene.newWallet()).address;
	const [voided, paid] = [scene.orderTo(recipient), scene.orderTo(recipient)];
	const orderIds = [voided, paid].map(orderId);
	await scene.land(await signVoid({ ...(await scene.parts()), order: voided }));
	const payout = { order: paid, amount: paid.minOutput, createsAccount: true };
	await scene.land(await signPayout({ ...(await scene.parts()), ...payout }));
	const [first, second] = await Promise.all(orderIds.map((id) => markerAddress({ base, orderId: id })));
	if (!first || !second) throw new Error("two orders have two markers");
	await scene.solana.admin.airdrop({ address: first, lamports: 5_000n });
	const markers = [
		{ address: first, owner: "escrow" as const },
		{ address: second, owner: "vault" as const },
	];
	// The key must be the marker's.
	const mistaken = markers.map(({ address }) => ({ address, owner: "vault" as const }));
	expect(await scene.land(await signClose({ ...(await scene.parts()), markers: mistaken }))).toMatchObject({
		isFailed: true,
	});
	const closed = await scene.land(await signClose({ ...(await scene.parts()), markers }));
	expect(closed.isFailed).toBe(false);
	const token = toSolanaWord(solanaNativeToken);
	expect(await receivedBy(closed, { owner: scene.feePayer.address, token })).toBe(
		2n * tokenAccountRentLamports + 5_000n,
	);
	expect(await readMarkers(scene.chain, { base, orderIds, commitment: "confirmed" })).toEqual([
		undefined,
		undefined,
	]);
	await scene.solana.admin.warp({ slots: 40 });
	for (const { address } of markers) {
		expect(await findCloseTransaction(scene.chain, address)).toBe(closed.signature);
	}
	expect(await findCloseTransaction(scene.chain, (await scene.newWallet()).address)).toBeUndefined();
});

test("the maximum number of markers to close fits into one transaction", async () => {
	const parts = await scene.parts();
	const markers = await Promise.all(
		Array.from({ length: maximumClosedMarkers }, async (_, i) => ({
			address: (await scene.newWallet()).address,
			owner: i % 2 ? ("vault" as const) : ("escrow" as const),
		})),
	);
	expect(hexToBytes((await signClose({ ...parts, markers })).raw).length).toBeLessThanOrEqual(1232);
	await expect(signClose({ ...parts, markers: [...markers, ...markers] })).rejects.toThrow("at once");
	await expect(signClose({ ...parts, markers: [] })).rejects.toThrow("at once");
});

test("the transaction that made a marker is found among others that name its address", async () => {
	const base = scene.keys.vault.address;
	const recipient = (await scene.newWallet()).address;
	const order = scene.orderTo(recipient);
	const marker = { base, orderId: orderId(order) };
	const find = async (asked: typeof marker) =>
		(await findMarkerTransaction(scene.chain, { ...asked, journalled: [], before: undefined })).hash;
	expect(await find(marker)).toBeUndefined();
	const address = await markerAddress(marker);
	await scene.solana.admin.airdrop({ address, lamports: 1_000_000n });
	const payout = { order, amount: order.minOutput, createsAccount: true };
	const signed = await signPayout({ ...(await scene.parts()), ...payout });
	await scene.land(signed);
	// A second one fails, and a gift succeeds: neither made it.
	await scene.land(await signVoid({ ...(await scene.parts()), order }));
	await scene.solana.admin.airdrop({ address, lamports: 1_000n });
	expect(await find(marker)).toBe(signed.signature);
	const other = { base, orderId: orderId(scene.orderTo(recipient)) };
	expect(await find(other)).toBeUndefined();
	expect(await find({ ...marker, base: scene.keys.escrow.address })).toBeUndefined();
});
