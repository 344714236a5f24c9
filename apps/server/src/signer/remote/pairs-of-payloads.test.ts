import { readFileSync } from "node:fs";
import { memoProgramAddress, type Order, orderId, packDeadlines, unpackDeadlines } from "@geoswap/protocol";
import type { KeyPairSigner } from "@solana/kit";
import { getAddMemoInstruction } from "@solana-program/memo";
import { serializeTransaction } from "viem";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
	createSignerScene,
	finalitySeconds,
	markerSeconds,
	type SignerScene,
} from "../../../test/signer/signer-scene.ts";
import { readBlockhash } from "../../chain/solana/read/read-blockhash.ts";
import { readLanded } from "../../chain/solana/read/read-landed.ts";
import { signRefund } from "../../chain/solana/send/sign-refund.ts";
import { kitSignerOf } from "../kit-signer-of.ts";

let scene: SignerScene;
beforeAll(async () => {
	scene = await createSignerScene();
}, 240_000);
afterAll(() => scene?.stop());

/** Sets the signer's clock forward until the test has ended. */
function atTime(laterMs: number): void {
	scene.clock.aheadMs = laterMs;
	onTestFinished(() => {
		scene.clock.aheadMs = 0;
	});
}

/** The test of each row of the table, by its first two cells. */
const rows: Record<string, () => Promise<void>> = {
	"fill, fill": async () => {
		const order = await scene.opened();
		expect([await scene.fill(order), await scene.fill(order)]).toEqual(["signed", "signed"]);
	},
	"fill, void on an EVM chain": async () => {
		const order = await scene.opened();
		expect([await scene.fill(order), await scene.voidEvm(order)]).toEqual(["signed", "signed"]);
	},
	"void on an EVM chain, fill": async () => {
		const order = await scene.opened();
		expect([await scene.voidEvm(order), await scene.fill(order)]).toEqual(["signed", "signed"]);
	},
	"fill, refund on Solana": async () => {
		const order = await scene.fromSolana();
		expect(await scene.fill(order)).toBe("signed");
		expect(await scene.refundSolana(order)).toBe("unproven");
		await scene.signer().restart();
		expect(await scene.refundSolana(order)).toBe("unproven");
		// A signed fill is replaced with a higher fee.
		expect(await scene.fill(order)).toBe("signed");
		await scene.actions.voidOrder(order);
		expect(await scene.refundSolana(order)).toBe("unproven");
		await scene.actions.finalize();
		expect(await scene.refundSolana(order)).toBe("signed");
		expect(await scene.fill(order)).toBe("contradicts");
	},
	"refund on Solana, fill": async () => {
		const order = await scene.fromSolana();
		expect(await scene.refundSolana(order)).toBe("unproven,signed");
		expect(await scene.fill(order)).toBe("contradicts");
		await scene.closeOrder(order);
		expect(await scene.refundSolana(order)).toBe("signed");
		await scene.signer().restart();
		expect(await scene.fill(order)).toBe("contradicts");
	},
	"fill, Refund attestation": async () => {
		const order = await scene.opened();
		expect(await scene.fill(order)).toBe("signed");
		expect(await scene.attest("Refund", order)).toBe("unproven");
		await scene.closeOrder(order);
		expect(await scene.attest("Refund", order)).toBe("signed");
		// One that landed never allows a refund.
		const delivered = await scene.opened();
		expect(await scene.fill(delivered)).toBe("signed");
		await scene.actions.fill(delivered, scene.amount);
		expect(await scene.attest("Refund", delivered)).toBe("unproven");
		await scene.actions.finalize();
		expect(await scene.attest("Refund", delivered)).toBe("contradicts");
		expect(await scene.attest("Release", delivered)).toBe("signed");
	},
	"Refund attestation, fill": async () => {
		const order = await scene.opened();
		expect([await scene.attest("Refund", order), await scene.fill(order)]).toEqual(["signed", "contradicts"]);
	},
	"fill, refund after `refundAfter`": async () => {
		const order = await scene.opened();
		expect([await scene.fill(order), await scene.lateRefund(order)]).toEqual(["signed", "signed"]);
	},
	"attested refund, fill": async () => {
		const order = await scene.opened();
		await scene.actions.decide("Refund", order);
		expect(await scene.fill(order)).toBe("unproven");
	},
	"Release attestation, Refund attestation": async () => {
		const order = await scene.opened();
		expect([await scene.attest("Release", order), await scene.attest("Refund", order)]).toEqual([
			"signed",
			"contradicts",
		]);
	},
	"Refund attestation, Release attestation": async () => {
		const order = await scene.opened();
		expect([await scene.attest("Refund", order), await scene.attest("Release", order)]).toEqual([
			"signed",
			"contradicts",
		]);
	},
	"payout, payout": async () => {
		const order = await scene.openedToSolana();
		expect([await scene.payout(order), await scene.payout(order)]).toEqual(["signed", "signed"]);
	},
	"payout, void on Solana": async () => {
		const order = await scene.openedToSolana();
		expect([await scene.payout(order), await scene.voidSolana(order)]).toEqual(["signed", "signed"]);
	},
	"void on Solana, payout": async () => {
		const order = await scene.openedToSolana();
		expect([await scene.voidSolana(order), await scene.payout(order)]).toEqual(["signed", "contradicts"]);
	},
	"void on Solana, Release attestation": async () => {
		const order = await scene.openedToSolana();
		expect(await scene.payout(order)).toBe("signed");
		await scene.on.land(await scene.on.signPayout(order, scene.amount));
		await scene.on.finalize();
		expect(await scene.voidSolana(order)).toBe("signed");
		await scene.signer().restart();
		expect(await scene.attest("Release", order)).toBe("signed");
		expect(await scene.attest("Refund", order)).toBe("contradicts");
		// A marker can be made for any order, even one that is delivered on an EVM chain by another signer's relayer.
		const elsewhere = await scene.opened();
		const { vault, escrow } = scene.on.keys;
		const marker = await scene.on.marker(elsewhere, { base: vault, owner: escrow.address });
		expect(await scene.askSolana("fee-payer", await scene.on.sign(marker))).toBe("signed");
		expect(await scene.attest("Release", elsewhere)).toBe("signed");
	},
	"payout, Refund attestation": async () => {
		const order = await scene.openedToSolana();
		expect(await scene.payout(order)).toBe("signed");
		expect(await scene.attest("Refund", order)).toBe("unproven");
		await scene.on.land(await scene.on.signVoid(order));
		expect(await scene.attest("Refund", order)).toBe("unproven");
		await scene.on.finalize();
		expect(await scene.attest("Refund", order)).toBe("signed");
	},
	"payout, refund after `refundAfter`": async () => {
		const order = await scene.openedToSolana();
		expect([await scene.payout(order), await scene.lateRefund(order)]).toEqual(["signed", "signed"]);
	},
	"payout, refund on Solana": async () => {
		const order = await scene.withinSolana();
		expect([await scene.payout(order), await scene.refundSolana(order)]).toEqual(["signed", "signed"]);
		expect(await scene.refundSolana(order, { isVoided: true })).toBe("not-the-deposit");
	},
	"refund on Solana, payout": async () => {
		const order = await scene.withinSolana();
		expect([await scene.refundSolana(order), await scene.payout(order)]).toEqual(["signed", "contradicts"]);
	},
	"refund on Solana, refund on Solana": async () => {
		const order = await scene.withinSolana();
		expect([await scene.refundSolana(order), await scene.refundSolana(order)]).toEqual(["signed", "signed"]);
	},
	"release on Solana, refund on Solana": async () => {
		const order = await scene.fromSolana();
		await scene.closeOrder(order);
		expect([await scene.releaseSolana(order), await scene.refundSolana(order)]).toEqual([
			"signed",
			"contradicts",
		]);
	},
	"refund on Solana, release on Solana": async () => {
		const order = await scene.fromSolana();
		await scene.closeOrder(order);
		expect([await scene.refundSolana(order), await scene.releaseSolana(order)]).toEqual([
			"signed",
			"contradicts",
		]);
	},
	"any marker, close": async () => {
		const order = await scene.withinSolana();
		expect(await scene.payout(order)).toBe("signed");
		expect(await scene.closeMarker(order, "vault")).toBe("marker-young");
		const unknown = await scene.openedToSolana();
		expect(await scene.closeMarker(unknown, "vault")).toBe("marker-young");
		await scene.on.land(await scene.on.signPayout(unknown, scene.amount));
		await scene.on.finalize();
		expect(await scene.closeMarker(unknown, "vault")).toBe("marker-young");
		atTime((markerSeconds + 60) * 1_000);
		expect(await scene.closeMarker(order, "vault")).toBe("signed");
	},
	"close, any marker": async () => {
		const order = await scene.fromSolana();
		await scene.closeOrder(order);
		expect(await scene.refundSolana(order)).toBe("signed");
		atTime((markerSeconds + 60) * 1_000);
		expect(await scene.closeMarker(order, "escrow")).toBe("signed");
		await scene.signer().restart();
		expect(await scene.refundSolana(order)).toBe("contradicts");
		// Nor is one made that this signer closed without having made it.
		const paid = await scene.openedToSolana();
		await scene.on.land(await scene.on.signPayout(paid, scene.amount));
		await scene.on.finalize();
		expect(await scene.closeMarker(paid, "vault")).toBe("signed");
		scene.clock.aheadMs = 0;
		expect([await scene.payout(paid), await scene.voidSolana(paid)]).toEqual(["contradicts", "contradicts"]);
	},
	"anything, cancel, heartbeat, receipt": async () => {
		const order = await scene.opened();
		expect(await scene.fill(order)).toBe("signed");
		const { chainId, publicClient } = scene.chains.destination;
		const { address } = scene.actions.relayer;
		const fees = { gas: 21_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n };
		const nonce = await publicClient.getTransactionCount({ address });
		const unsigned = serializeTransaction({ type: "eip1559", chainId, nonce, to: address, ...fees });
		expect(await scene.ask(`relayer-${chainId}`, { kind: "transaction", unsigned })).toBe("signed");
		const signedAtUnixSeconds = Math.floor(Date.now() / 1_000);
		const beat = { chainId, finalizedNumber: 1, signedAtUnixSeconds };
		expect(await scene.ask("attester", { kind: "heartbeat", message: beat })).toBe("signed");
		expect(await scene.ask("receipts", { kind: "receipt", message: receiptOf(order) })).toBe("signed");
	},
};

function receiptOf(order: Order) {
	const texts = ["swapId", "status", "feeBps", "networkCostToken", "originTxHash", "deliveryTxHash"];
	const more = ["refundTxHash", "quotedAt", "createdAt", "endedAt"];
	const numbers = ["output", "networkCost", "deliveredAmount"];
	return {
		...Object.fromEntries([...texts, ...more].map((name) => [name, "any"])),
		...Object.fromEntries(numbers.map((name) => [name, "1"])),
		orderId: orderId(order),
	};
}

const page = readFileSync(new URL("../../../../../docs/remote-signer.md", import.meta.url), "utf8");
const listed = [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \| (yes|no|when closed|when old) \|/gm)].map(
	([, first = "", then = ""]) => `${first}, ${then}`,
);

describe("no payload takes back what proved another one", () => {
	test("every pair in the documentation is tried here, and every one here is in the documentation", () => {
		expect(listed.toSorted()).toEqual(Object.keys(rows).toSorted());
	});
	test.each(listed)("%s", async (pair) => rows[pair]?.(), 60_000);
});

test("an order that can be refunded before its release is final proves no fill and no payout", async () => {
	const now = (await scene.chains.origin.publicClient.getBlock()).timestamp;
	const gap = 2n * BigInt(finalitySeconds);
	const [fillDeadline, least] = [now + 600n, gap + 1n];
	const ofGaps = (open: bigint, refund: bigint) =>
		packDeadlines({ openDeadline: fillDeadline - open, fillDeadline, refundAfter: fillDeadline + refund });
	for (const [deadlines, answer] of [
		[ofGaps(1n, 1n), "not-ours"],
		[ofGaps(least, gap), "not-ours"],
		[ofGaps(gap, least), "not-ours"],
		[ofGaps(least, least), "signed"],
	] as const) {
		expect(await scene.fill(await scene.opened({ deadlines }))).toBe(answer);
		const order = await scene.openedToSolana({ deadlines });
		const payout = await scene.on.signPayout(order, scene.amount);
		expect(await scene.askSolana("vault", payout, order)).toBe(answer);
	}
});

test("a payout that could land after the fill deadline is not proven, even if the escrow has the input", async () => {
	const order = await scene.openedToSolana();
	const left = Number(unpackDeadlines(order.deadlines).fillDeadline) * 1_000 - Date.now();
	const payout = await scene.on.signPayout(order, scene.amount);
	atTime(left + 1_000);
	expect(await scene.askSolana("vault", payout, order)).toBe("unproven");
	// A blockhash lives for two minutes.
	atTime(left - 110_000);
	expect(await scene.askSolana("vault", payout, order)).toBe("unproven");
	atTime(0);
	expect(await scene.askSolana("vault", payout, order)).toBe("signed");
});

test("a deposit on Solana is given back once the fill that it proved has expired at a final block", async () => {
	const order = await scene.fromSolana({ stepSeconds: 60n });
	expect(await scene.fill(order)).toBe("signed");
	const { testClient } = scene.chains.destination;
	await testClient.increaseTime({ seconds: 121 });
	await testClient.mine({ blocks: 1 });
	expect(await scene.refundSolana(order)).toBe("unproven");
	await scene.actions.finalize();
	expect(await scene.refundSolana(order)).toBe("signed");
});

test("a lane's refund passes its order to the signer, and lands", async () => {
	const { on } = scene;
	const backend = scene.signer().backendOf("worker");
	const open = async (name: string) =>
		kitSignerOf(
			await backend.openSolana({ name: { reference: `remote:${name}`, backend: "remote" }, rest: name }),
		);
	const [feePayer, escrow, vault] = await Promise.all(["fee-payer", "escrow", "vault"].map(open));
	if (!feePayer || !escrow || !vault) throw new Error("a key is missing");
	const keys = { feePayers: [feePayer], escrow, vault };
	const elsewhere = await scene.fromSolana();
	await scene.closeOrder(elsewhere);
	for (const order of [elsewhere, await scene.withinSolana()]) {
		const { blockhash } = await readBlockhash(on.chain);
		const { deployment } = scene.solana;
		const parts = { deployment, keys, feePayer, order, blockhash, computePrice: 1_000n };
		const hash = await on.land(await signRefund({ ...parts, createsAccount: false }));
		expect(await readLanded(on.chain, hash)).toMatchObject({ isFailed: false });
	}
});

test("a refund pays back its own order's deposit, and none for an id that begins alike", async () => {
	const order = await scene.fromSolana();
	await scene.closeOrder(order);
	const { on, amount } = scene;
	const [, thief] = on.wallets as [KeyPairSigner, KeyPairSigner];
	const { escrow } = on.keys;
	const memo = `${orderId(order).slice(0, -2)}${orderId(order).endsWith("00") ? "11" : "00"}`;
	const deposit = await on.sign([
		...(await on.transfer("USDC", amount, { from: thief, to: escrow.address })),
		getAddMemoInstruction({ memo }, { programAddress: memoProgramAddress }),
	]);
	expect(await scene.askSolana("fee-payer", deposit)).toBe("signed");
	await on.land(deposit);
	const refund = await on.sign([
		...(await on.transfer("USDC", amount, { from: escrow, to: thief.address })),
		...(await on.marker(order, { base: escrow, owner: escrow.address })),
	]);
	expect(await scene.askSolana("escrow", refund, order)).toBe("not-the-deposit");
	expect(await scene.refundSolana(order)).toBe("signed");
});

test("a signer that lost its state still gives no deposit back that a vault can deliver, or has delivered", async () => {
	const order = await scene.fromSolana();
	expect(await scene.fill(order)).toBe("signed");
	await scene.loseState();
	// The wallet deposits again, so that this signer knows a deposit too.
	await scene.deposit(order);
	const refund = await scene.on.signRefund(order);
	expect(await scene.askSolana("escrow", refund, order)).toBe("unproven");
	await scene.actions.fill(order, scene.amount);
	await scene.actions.finalize();
	expect(await scene.askSolana("escrow", refund, order)).toBe("contradicts");
});
