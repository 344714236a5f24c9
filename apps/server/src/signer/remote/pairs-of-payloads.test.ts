import { readFileSync } from "node:fs";
import { kitSignerOf } from "@geoswap/keys/kit-signer-of";
import { type Order, orderId, packDeadlines, unpackDeadlines } from "@geoswap/protocol";
import { serializeTransaction } from "viem";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createSignerScene, finalitySeconds, type SignerScene } from "../../../test/signer/signer-scene.ts";
import { signEnding } from "../../chain/solana/program/sign-ending.ts";
import { readLanded } from "../../chain/solana/read/read-landed.ts";

let scene: SignerScene;
beforeAll(async () => {
	scene = await createSignerScene();
}, 240_000);
afterAll(() => scene?.stop());

/** Sets the signer's clock forward until the end of the test. */
function atTime(laterMs: number): void {
	scene.clock.aheadMs = laterMs;
	onTestFinished(() => {
		scene.clock.aheadMs = 0;
	});
}

/** Returns an open order for each vault that can fill it, with the functions that request its signatures. */
async function eachVault() {
	const { fill, voidEvm, fillSolana, voidSolana } = scene;
	return [
		{ order: await scene.opened(), fill, voiding: voidEvm },
		{ order: await scene.fromSolana(), fill, voiding: voidEvm },
		{ order: await scene.openedToSolana(), fill: fillSolana, voiding: voidSolana },
	];
}

/** The test of each row of the table, by its first two cells. */
const rows: Record<string, () => Promise<void>> = {
	"fill, fill": async () => {
		for (const { order, fill } of await eachVault())
			expect([await fill(order), await fill(order)]).toEqual(["signed", "signed"]);
	},
	"fill, void": async () => {
		for (const { order, fill, voiding } of await eachVault())
			expect([await fill(order), await voiding(order)]).toEqual(["signed", "signed"]);
	},
	"void, fill": async () => {
		for (const { order, fill, voiding } of await eachVault())
			expect([await voiding(order), await fill(order)]).toEqual(["signed", "signed"]);
	},
	"fill, Refund attestation": async () => {
		for (const order of [await scene.opened(), await scene.fromSolana()]) {
			expect(await scene.fill(order)).toBe("signed");
			expect(await scene.attest("Refund", order)).toBe("unproven");
			await scene.signer().restart();
			expect(await scene.attest("Refund", order)).toBe("unproven");
			await scene.closeOrder(order);
			expect(await scene.attest("Refund", order)).toBe("signed");
			expect(await scene.fill(order)).toBe("contradicts");
		}
		// A fill that landed never allows a refund.
		const delivered = await scene.opened();
		expect(await scene.fill(delivered)).toBe("signed");
		await scene.actions.fill(delivered, scene.amount);
		expect(await scene.attest("Refund", delivered)).toBe("unproven");
		await scene.actions.finalize();
		expect(await scene.attest("Refund", delivered)).toBe("contradicts");
		expect(await scene.attest("Release", delivered)).toBe("signed");

		const voided = await scene.openedToSolana();
		expect(await scene.fillSolana(voided)).toBe("signed");
		expect(await scene.attest("Refund", voided)).toBe("unproven");
		await scene.programs.void(voided);
		expect(await scene.attest("Refund", voided)).toBe("unproven");
		await scene.on.finalize();
		expect(await scene.attest("Refund", voided)).toBe("signed");
		const paid = await scene.openedToSolana();
		expect(await scene.fillSolana(paid)).toBe("signed");
		await scene.programs.fill(paid, scene.amount);
		await scene.on.finalize();
		expect(await scene.attest("Refund", paid)).toBe("contradicts");
		expect(await scene.attest("Release", paid)).toBe("signed");
	},
	"Refund attestation, fill": async () => {
		for (const { order, fill } of await eachVault())
			expect([await scene.attest("Refund", order), await fill(order)]).toEqual(["signed", "contradicts"]);
	},
	"fill, refund after `refundAfter`": async () => {
		const order = await scene.opened();
		expect([await scene.fill(order), await scene.lateRefund(order)]).toEqual(["signed", "signed"]);
		const fromSolana = await scene.fromSolana();
		expect([await scene.fill(fromSolana), await scene.lateRefundSolana(fromSolana)]).toEqual([
			"signed",
			"signed",
		]);
	},
	"attested refund, fill": async () => {
		const order = await scene.opened();
		await scene.actions.decide("Refund", order);
		expect(await scene.fill(order)).toBe("unproven");
		const fromSolana = await scene.fromSolana();
		await scene.refundByAttesters(fromSolana);
		await scene.on.finalize();
		expect(await scene.fill(fromSolana)).toBe("unproven");
	},
	"Release attestation, Refund attestation": async () => {
		for (const order of [await scene.opened(), await scene.fromSolana()]) {
			expect(await scene.attest("Release", order)).toBe("signed");
			expect(await scene.attest("Refund", order)).toBe("contradicts");
		}
	},
	"Refund attestation, Release attestation": async () => {
		for (const order of [await scene.opened(), await scene.fromSolana()]) {
			expect(await scene.attest("Refund", order)).toBe("signed");
			expect(await scene.attest("Release", order)).toBe("contradicts");
		}
	},
	"fill within Solana, the operator's refund": async () => {
		const order = await scene.withinSolana();
		expect([await scene.fillSolana(order), await scene.refundSolana(order)]).toEqual(["signed", "signed"]);
		expect(await scene.landed(await scene.make.fill(order))).toBe("landed");
		expect(await scene.landed(await scene.make.refund(order, "operator"))).toBe("failed");
	},
	"the operator's refund, fill within Solana": async () => {
		const order = await scene.withinSolana();
		expect([await scene.refundSolana(order), await scene.fillSolana(order)]).toEqual(["signed", "signed"]);
		expect(await scene.landed(await scene.make.refund(order, "operator"))).toBe("landed");
		expect(await scene.landed(await scene.make.fill(order))).toBe("failed");
	},
	"fill or void on Solana, close of its record": async () => {
		const order = await scene.openedToSolana();
		expect([await scene.fillSolana(order), await scene.closeRecord(order)]).toEqual(["signed", "signed"]);
		expect(await scene.landed(await scene.make.fill(order))).toBe("landed");
		expect(await scene.landed(await scene.make.closeRecord(order))).toBe("failed");
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
const listed = [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \| (yes|no|when closed) \|/gm)].map(
	([, first = "", then = ""]) => `${first}, ${then}`,
);

describe("no payload takes back what proved another one", () => {
	test("every pair in the documentation is tried here, and every one here is in the documentation", () => {
		expect(listed.toSorted()).toEqual(Object.keys(rows).toSorted());
	});
	test.each(listed)("%s", async (pair) => rows[pair]?.(), 60_000);
});

test("an order that can be refunded before its release is final proves no fill", async () => {
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
		expect(await scene.fillSolana(await scene.openedToSolana({ deadlines }))).toBe(answer);
	}
});

test("an order from Solana proves a fill once its opening is final, and one that nobody opened never does", async () => {
	const { on, programs, actions } = scene;
	const order = programs.fromProgram(on.fromSolana(await actions.makeOrder()));
	expect(await scene.fill(order)).toBe("unproven");
	await on.land(await on.signDeposit(order));
	expect(await scene.fill(order)).toBe("unproven");
	await on.finalize();
	expect(await scene.fill(order)).toBe("signed");
});

test("a fill on Solana is worth at most its deposit and the margin, with and without a top-up", async () => {
	const fill = (terms: Partial<Order>) => scene.openedToSolana(terms).then(scene.fillSolana);
	expect(await fill({ inputAmount: 9_000_000n })).toBe("unproven");
	expect(await fill({ topUp: 1n })).toBe("signed");
	expect(await fill({ topUp: 10n ** 10n })).toBe("unproven");
});

test("an order that can no longer be filled in time proves no fill", async () => {
	const order = await scene.openedToSolana();
	atTime(Number(unpackDeadlines(order.deadlines).fillDeadline) * 1_000 - Date.now() + 1_000);
	expect(await scene.fillSolana(order)).toBe("unproven");
	atTime(0);
	expect(await scene.fillSolana(order)).toBe("signed");
});

test("a lane's ending passes its order to the signer with each of its keys, and lands", async () => {
	const { on } = scene;
	const backend = scene.signer().backendOf("worker");
	const open = async (name: string) =>
		kitSignerOf(
			await backend.openSolana({ name: { reference: `remote:${name}`, backend: "remote" }, rest: name }),
		);
	const [feePayer, operator] = [await open("fee-payer"), await open("operator")];
	const order = await scene.withinSolana();
	const ending = { ...(await scene.parts()), feePayer, operator, order };
	const hash = await on.land(await signEnding({ ...ending, to: "wallet", decision: { by: "operator" } }));
	expect(await readLanded(on.chain, hash)).toMatchObject({ isFailed: false });
});

test("a refund is attested once Solana's own clock has passed the fill deadline at a final slot, until its record may be closed", async () => {
	const order = await scene.openedToSolana();
	expect(await scene.fillSolana(order)).toBe("signed");
	const { fillDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	const { admin } = scene.solana;
	await admin.passTime({ seconds: Number(fillDeadline) - Math.floor(Date.now() / 1_000) + 1 });
	expect(await scene.attest("Refund", order)).toBe("unproven");
	await scene.on.finalize();
	expect(await scene.attest("Refund", order)).toBe("signed");
	const late = await scene.openedToSolana({ swapKey: order.swapKey, deadlines: order.deadlines + 1n });
	expect(await scene.fillSolana(late)).toBe("signed");
	await admin.passTime({ seconds: Number(refundAfter - fillDeadline) + 86_400 });
	await scene.on.finalize();
	expect(await scene.attest("Refund", late)).toBe("unproven");
});
