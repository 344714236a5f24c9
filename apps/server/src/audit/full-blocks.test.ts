import {
	attestationMessage,
	attestationTypedData,
	attesterSetHash,
	geoEscrowAbi,
	type Order,
	packDeadlines,
} from "@geoswap/protocol";
import { encodeFunctionData, type Hex, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type DustScene, nativeOf, openCall, startDustScene } from "../../test/order/dust-scene.ts";

/** Attesters of a stranger, who can decide the stranger's own orders without limit. */
const attester = privateKeyToAccount(generatePrivateKey());
const attesterSet = attesterSetHash({ threshold: 1, attesters: [attester.address] });

let scene: DustScene | undefined;
beforeEach(async () => {
	await scene?.stop();
	scene = await startDustScene();
});
afterAll(() => scene?.stop());

function started(): DustScene {
	if (!scene) throw new Error("the chains are not started");
	return scene;
}

async function decideCall(kind: "Release" | "Refund", orders: readonly Order[]): Promise<{ data: Hex }> {
	const signature = await attester.signTypedData(attestationTypedData(attestationMessage(kind, orders)));
	const attestation = { threshold: 1n, attesters: [attester.address], signatures: [signature] };
	return {
		data: encodeFunctionData({
			abi: geoEscrowAbi,
			functionName: kind === "Release" ? "releaseMany" : "refundMany",
			args: [orders, attestation],
		}),
	};
}

function refundCall(order: Order): { data: Hex } {
	return { data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [order] }) };
}

/** Opens 30 orders with the stranger's attesters, this number of times, in blocks that the node lists. */
async function openOften(times: number): Promise<Order[]> {
	const orders: Order[] = [];
	for (let i = 0; i < times; i++) orders.push(...(await started().openDust(30, { attesterSet })));
	return orders;
}

test("an order that is opened and released in a block with more releases than the node lists is in no sum", async () => {
	const { chains, openDust, callEscrow, audit } = started();
	const dust = await openOften(5);
	expect(await audit()).toMatchObject({ breaches: [], unchecked: [] });
	const [first] = await openDust(1, { attesterSet });
	if (!first) throw new Error("no order was opened");
	const large: Order = { ...first, inputAmount: 10n ** 18n, minOutput: 77n };
	await callEscrow([
		await decideCall("Release", dust),
		openCall(large),
		await decideCall("Release", [large]),
	]);
	const { escrow } = chains.origin.deployment.contracts;
	expect(await chains.origin.publicClient.getBalance({ address: escrow })).toBe(1n);
	const report = await audit();
	expect(report).toMatchObject({ breaches: [], unchecked: [] });
	expect(report.chains[0]?.otherOrders).toMatchObject({ open: 0, unlistedBlocks: 1 });
}, 600_000);

test("a block with more openings than the node lists removes no credit and no order from the sums", async () => {
	const { chains, openDust, insertSwap, callEscrow, audit } = started();
	const { testClient, publicClient, deployment } = chains.origin;
	const [first] = await openDust(1);
	if (!first) throw new Error("no order was opened");
	const credited: Order = { ...first, inputAmount: 10n ** 18n, minOutput: 77n };
	await insertSwap(credited);
	await callEscrow([openCall(credited)]);
	await testClient.increaseTime({ seconds: 11_000 });
	await callEscrow([refundCall(credited)]);
	const { timestamp: now } = await publicClient.getBlock();
	await openDust(120, {
		deadlines: packDeadlines({
			openDeadline: now + 1_000n,
			fillDeadline: now + 3_000n,
			refundAfter: now + 6_000n,
		}),
	});
	const report = await audit();
	expect(report.chains[0]?.otherOrders).toMatchObject({ open: 1, unlistedBlocks: 1 });
	expect(nativeOf(report)).toMatchObject({ escrowExpected: String(credited.inputAmount + 1n) });
	const { escrow } = deployment.contracts;
	await testClient.setBalance({ address: escrow, value: credited.inputAmount });
	expect((await audit()).breaches).toMatchObject([{ invariant: "I1", amount: "1" }]);
}, 600_000);

test("a wallet that claims more often in a block than the node lists does not end a chain's audits, and counts as paid", async () => {
	const { chains, actions, openDust, insertSwap, callEscrow, audit } = started();
	const [own] = await openDust(1);
	if (!own) throw new Error("no order was opened");
	const dust = await openOften(4);
	await chains.origin.testClient.increaseTime({ seconds: 11_000 });
	await callEscrow([refundCall(own)]);
	const claim = {
		data: encodeFunctionData({
			abi: geoEscrowAbi,
			functionName: "claimTo",
			args: [zeroAddress, actions.relayer.address],
		}),
	};
	// The first of these claims pays the swap's credit.
	const calls: { data: Hex }[] = [];
	for (const order of dust) calls.push(await decideCall("Refund", [order]), claim);
	await callEscrow(calls);
	await insertSwap(own, { status: "refunded", endedSecondsAgo: 1 });
	const report = await audit();
	expect(report).toMatchObject({ breaches: [], unchecked: [] });
	expect(report.chains[0]?.otherOrders).toMatchObject({ unlistedBlocks: 1 });
	expect(nativeOf(report)).toMatchObject({ escrowExpected: "0", escrowActual: "0" });
}, 600_000);
