import { unpackDeadlines } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSignerScene, type SignerScene } from "../../../test/signer/signer-scene.ts";

let scene: SignerScene;
beforeAll(async () => {
	scene = await createSignerScene();
}, 240_000);
afterAll(() => scene?.stop());

test("a signer that lost its state signs a fill again, and the program pays no order twice", async () => {
	const order = await scene.openedToSolana();
	expect(await scene.fillSolana(order)).toBe("signed");
	expect(await scene.landed(await scene.make.fill(order))).toBe("landed");
	await scene.loseState();
	expect([await scene.fillSolana(order), await scene.voidSolana(order)]).toEqual(["signed", "signed"]);
	expect(await scene.landed(await scene.make.fill(order))).toBe("failed");
	expect(await scene.landed(await scene.make.void(order))).toBe("failed");
}, 60_000);

test("a signer that lost its state signs no fill of an order whose input was given back", async () => {
	const given = await scene.fromSolana();
	expect(await scene.attest("Refund", given)).toBe("signed");
	await scene.refundByAttesters(given);
	await scene.on.finalize();
	await scene.loseState();
	expect(await scene.fill(given)).toBe("unproven");
}, 60_000);

test("an order whose record was closed is not filled again", async () => {
	const order = await scene.openedToSolana();
	expect(await scene.landed(await scene.make.fill(order))).toBe("landed");
	const { refundAfter } = unpackDeadlines(order.deadlines);
	const seconds = Number(refundAfter) - Math.floor(Date.now() / 1_000) + 86_400 + 60;
	await scene.solana.admin.passTime({ seconds });
	await scene.on.finalize();
	expect(await scene.closeRecord(order)).toBe("signed");
	expect(await scene.landed(await scene.make.closeRecord(order))).toBe("landed");
	await scene.loseState();
	// The program checks the time itself, even if the signer's clock is slow.
	expect(await scene.fillSolana(order)).toBe("signed");
	expect(await scene.landed(await scene.make.fill(order))).toBe("failed");
	scene.clock.aheadMs = seconds * 1_000;
	expect(await scene.fillSolana(order)).toBe("unproven");
}, 60_000);
