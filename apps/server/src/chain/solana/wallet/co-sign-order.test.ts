import { type Order, openTransaction, toSolanaWord } from "@geoswap/protocol";
import { getAddressDecoder, signBytes } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { type SolanaOrderScene, solanaOrderScene } from "../../../../test/order/solana-order-scene.ts";
import { CoSignError, type CoSignedOp, coSignOrder } from "./co-sign-order.ts";

let scene: SolanaOrderScene;
beforeAll(async () => {
	scene = await solanaOrderScene();
});

test("co-signing the same op gives the same bytes each time", async () => {
	const op = await signedOp();
	const [first, second] = await Promise.all([coSign(op), coSign(op)]);
	expect(first).toEqual(second);
	expect(first.raw.slice(4, 4 + 128)).toBe(first.signature.slice(2));
});

test("a fee payer signs only with its own key, and only ops that name it", async () => {
	const op = await signedOp();
	const { deployment, order, stranger, operator } = scene;
	for (const feePayerKey of [scene.feePayers[1], stranger, operator]) {
		await expect(coSignOrder({ deployment, order, op, feePayerKey })).rejects.toThrow(CoSignError);
	}
	const strangers = await signedOp({ feePayer: stranger.address });
	await expect(coSignOrder({ deployment, order, op: strangers, feePayerKey: stranger })).rejects.toThrow(
		"not the signing fee payer",
	);
});

test("an op whose compute cost exceeds the limit is not co-signed", async () => {
	const allowed = { unitLimit: 200_000, microLamportsPerUnit: 5_000_000n };
	await coSign(await signedOp({ compute: allowed }));
	for (const excess of [
		{ unitLimit: 200_001 },
		{ unitLimit: 0 },
		{ microLamportsPerUnit: 5_000_001n },
		{ microLamportsPerUnit: 2n ** 63n },
	]) {
		const op = await signedOp({ compute: { ...allowed, ...excess } });
		await expect(coSign(op)).rejects.toThrow("cost too much");
	}
	const op = { ...(await signedOp()), compute: { unitLimit: 1.5, microLamportsPerUnit: 1n } };
	await expect(coSign(op)).rejects.toThrow("cost too much");
	const negative = { ...(await signedOp()), compute: { unitLimit: 1, microLamportsPerUnit: -1n } };
	await expect(coSign(negative)).rejects.toThrow("cost too much");
});

test("an order or op that gives no valid transaction is refused", async () => {
	const op = await signedOp();
	const orders: Partial<Order>[] = [
		{ inputAmount: 2n ** 64n },
		{ inputToken: toSolanaWord(scene.stranger.address) },
		{ wallet: "0x1234" },
		{ escrow: "0x" },
	];
	for (const changes of orders) {
		const order = { ...scene.order, ...changes };
		await expect(coSign(op, order)).rejects.toThrow(CoSignError);
	}
	await expect(coSign({ ...op, blockhash: "tooShort" })).rejects.toThrow(CoSignError);
	for (const signature of ["0x", "0x12", "nonsense" as Hex]) {
		await expect(coSign({ ...op, signature: signature as Hex })).rejects.toThrow(CoSignError);
	}
});

test("a forged signature for a wallet of small order is refused", async () => {
	// The points of small order, with which a signature of nothing may pass a lenient check.
	const smallOrder = [
		"0100000000000000000000000000000000000000000000000000000000000000",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"0000000000000000000000000000000000000000000000000000000000000080",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	];
	for (const hex of smallOrder) {
		const point = new Uint8Array(Buffer.from(hex, "hex"));
		const wallet = toSolanaWord(getAddressDecoder().decode(point));
		const forged = bytesToHex(new Uint8Array([...point, ...new Uint8Array(32)]));
		for (const signature of [forged, bytesToHex(new Uint8Array(64))]) {
			const op = { ...scene.parts, signature };
			await expect(coSign(op, { ...scene.order, wallet })).rejects.toThrow(CoSignError);
		}
	}
});

async function signedOp(changes: Partial<CoSignedOp> = {}): Promise<CoSignedOp> {
	const parts = { ...scene.parts, ...changes };
	const { message } = await openTransaction(scene.deployment, scene.order, parts);
	return { ...parts, signature: bytesToHex(await signBytes(scene.wallet.keyPair.privateKey, message)) };
}

function coSign(op: CoSignedOp, order = scene.order) {
	return coSignOrder({ deployment: scene.deployment, order, op, feePayerKey: scene.feePayers[0] });
}
