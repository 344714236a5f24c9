import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { markerAddress, memoProgramAddress, type Order, orderId } from "@geoswap/protocol";
import type { KeyPairSigner } from "@solana/kit";
import { getAddMemoInstruction } from "@solana-program/memo";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createSignerScene, markerSeconds, type SignerScene } from "../../../test/signer/signer-scene.ts";
import { readLanded } from "../../chain/solana/read/read-landed.ts";
import type { SignedTransaction } from "../../chain/solana/send/sign-instructions.ts";

let scene: SignerScene;
beforeAll(async () => {
	scene = await createSignerScene();
	// Deposits of others, with which the escrow could pay a second refund.
	for (let i = 0; i < 4; i += 1) await scene.fromSolana();
}, 240_000);
afterAll(() => scene?.stop());
beforeEach(() => {
	scene.clock.aheadMs = 0;
});

/** An age at which a marker may be closed. */
const oldMs = (markerSeconds + 60) * 1_000;

/** Returns an order whose deposit has landed, and the deposit, which can be shown to a signer again. */
async function deposited(order: Order) {
	const deposit = await scene.on.signDeposit(order);
	expect(await scene.askSolana("fee-payer", deposit)).toBe("signed");
	await scene.on.land(deposit);
	return { order, deposit };
}
const leavingSolana = async () => deposited(scene.on.fromSolana(await scene.actions.makeOrder()));
const withinSolana = async () => {
	const { on, actions } = scene;
	const recipient = on.stranger.address;
	return deposited(on.toSolana(on.fromSolana(await actions.makeOrder()), { recipient }));
};

/** Returns `landed` if both keys sign and the chain executes the transaction, and otherwise what the keys answer. */
async function pay(key: "escrow" | "vault", make: () => Promise<SignedTransaction>, order?: Order) {
	await scene.solana.admin.warp({ slots: 1 });
	const made = await make();
	const answers = [await scene.askSolana(key, made, order), await scene.askSolana("fee-payer", made, order)];
	if (answers.some((answer) => answer !== "signed")) return answers.join();
	const landed = await readLanded(scene.on.chain, await scene.on.land(made));
	return landed?.isFailed === false ? "landed" : "failed";
}
const refund = (order: Order, options: { isVoided?: boolean } = {}) =>
	pay("escrow", () => scene.on.signRefund(order, options), order);
const payOut = (order: Order) =>
	pay("vault", () => scene.on.signPayout(order, scene.amount, { createsAccount: true }), order);
const closeMarker = (order: Order, base: "vault" | "escrow") =>
	pay(base, () => scene.on.signClose(order, base));

test("a signer that lost its state does not refund an order within Solana again with the escrow's marker", async () => {
	const { order, deposit } = await withinSolana();
	expect(await refund(order)).toBe("landed");
	await scene.on.finalize();
	await scene.loseState();
	expect(await scene.askSolana("fee-payer", deposit)).toBe("signed");
	expect(await refund(order, { isVoided: true })).toBe("unproven,signed");
}, 60_000);

test("a signer that lost its state does not refund an order again whose marker was closed", async () => {
	const { order, deposit } = await leavingSolana();
	await scene.closeOrder(order);
	expect(await refund(order)).toBe("landed");
	scene.clock.aheadMs = oldMs;
	expect(await closeMarker(order, "escrow")).toBe("landed");
	await scene.loseState();
	expect(await scene.askSolana("fee-payer", deposit)).toBe("signed");
	expect(await refund(order)).toBe("unproven,signed");
}, 60_000);

test("a signer that lost its state does not refund an order that was paid within Solana and whose marker was closed", async () => {
	const { order, deposit } = await withinSolana();
	expect(await payOut(order)).toBe("landed");
	scene.clock.aheadMs = oldMs;
	expect(await closeMarker(order, "vault")).toBe("landed");
	await scene.loseState();
	expect(await scene.askSolana("fee-payer", deposit)).toBe("signed");
	expect(await refund(order)).toBe("unproven,signed");
}, 60_000);

test("a deposit proves a refund until nine tenths of a marker's lifetime have passed since its block", async () => {
	const { order, deposit } = await leavingSolana();
	await scene.closeOrder(order);
	const landed = await readLanded(scene.on.chain, deposit.signature);
	const ageMs = Date.now() - (landed?.timestamp ?? 0) * 1_000;
	const provesMs = markerSeconds * 900;
	const asked = await scene.on.signRefund(order);
	scene.clock.aheadMs = provesMs - ageMs + 5_000;
	expect(await scene.askSolana("escrow", asked, order)).toBe("unproven");
	scene.clock.aheadMs = provesMs - ageMs - 30_000;
	expect(await scene.askSolana("escrow", asked, order)).toBe("signed");
}, 60_000);

test("a deposit that a person paid back when it was old is not refunded by the signer", async () => {
	const { order } = await leavingSolana();
	await scene.closeOrder(order);
	const { on } = scene;
	const [wallet] = on.wallets as [KeyPairSigner];
	scene.clock.aheadMs = 0.91 * markerSeconds * 1_000;
	await on.land(
		await on.sign([
			...(await on.transfer("USDC", order.inputAmount, { from: on.keys.escrow, to: wallet.address })),
			getAddMemoInstruction({ memo: orderId(order) }, { programAddress: memoProgramAddress }),
		]),
	);
	expect(await refund(order)).toBe("unproven,signed");
}, 60_000);

test("after a change of Solana's escrow key, an order that names the earlier one is not refunded", async () => {
	const { order } = await leavingSolana();
	await scene.closeOrder(order);
	expect(await refund(order)).toBe("landed");
	const unpaid = await leavingSolana();
	await scene.closeOrder(unpaid.order);
	const { on, solana } = scene;
	const [wallet, next] = on.wallets as [KeyPairSigner, KeyPairSigner];
	const { folder } = scene.signer();
	const edit = (name: string, from: string, to: string) => {
		const path = join(folder, name);
		writeFileSync(path, readFileSync(path, "utf8").replaceAll(from, to));
	};
	edit("deployment.json", solana.deployment.escrow, next.address);
	edit("signer.json", "env:ESCROW", "env:NEXT_ESCROW");
	await scene.signer().restart();
	const again = (one: Order) => async () =>
		on.sign([
			...(await on.transfer("USDC", one.inputAmount, { from: next, to: wallet.address })),
			...(await on.marker(one, { base: next, owner: next.address })),
		]);
	expect(await pay("escrow", again(order), order)).toBe("not-ours,contradicts");
	// Without its order, a refund is compared with the one that is signed.
	expect(await pay("escrow", again(order))).toBe("contradicts,contradicts");
	expect(await pay("escrow", again(unpaid.order), unpaid.order)).toBe("not-ours,signed");
	edit("deployment.json", next.address, solana.deployment.escrow);
	edit("signer.json", "env:NEXT_ESCROW", "env:ESCROW");
	await scene.signer().restart();
}, 60_000);

test("a second signer with the same keys closes no young marker, so that the first one cannot pay again", async () => {
	const order = await scene.openedToSolana();
	expect(await payOut(order)).toBe("landed");
	await scene.on.finalize();
	const first = await scene.useAnother();
	expect(await closeMarker(order, "vault")).toBe("marker-young,marker-young");
	await first.useAgain();
	expect(await payOut(order)).toBe("failed");
}, 60_000);

test("a marker that is not made is not closed, however long ago its address was named", async () => {
	const order = await scene.openedToSolana();
	const { on } = scene;
	const account = await markerAddress({ base: on.keys.vault.address, orderId: orderId(order) });
	await on.land(await on.sign(await on.transfer("SOL", 1_000_000n, { from: on.stranger, to: account })));
	scene.clock.aheadMs = oldMs;
	await scene.loseState();
	expect(await closeMarker(order, "vault")).toBe("marker-young,marker-young");
}, 60_000);
