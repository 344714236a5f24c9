import { startTestChains, type TestChains } from "@geoswap/devnet";
import {
	attestationDigest,
	attestationMessage,
	type Heartbeat,
	heartbeatTypedData,
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	toWord,
} from "@geoswap/protocol";
import { type Address, custom, type Hex, http, recoverAddress, recoverTypedDataAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { orderActions } from "../../test/order/order-actions.ts";
import { signerOfAccount } from "../../test/signer/signer-of-account.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { createLog } from "../telemetry/log.ts";
import type { Refusal } from "./create-attester.ts";
import { startAttester } from "./start-attester.ts";

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let attester: Awaited<ReturnType<typeof startAttester>>;
let account: ReturnType<typeof privateKeyToAccount>;
/** The attester's time. */
let nowMs: number;

beforeAll(async () => {
	chains = await startTestChains();
	actions = orderActions(chains);
	nowMs = Number((await chains.origin.publicClient.getBlock()).timestamp) * 1_000;
	account = privateKeyToAccount(chains.keys.attesters[0] ?? "0x");
	attester = await startAttester({
		config: {
			chains: [chains.origin, chains.destination].map((chain) => connectChain(chain)),
			earlierAttesterSets: [],
			earlierRouters: [],
			earlierSettlementTokens: [],
			host: "127.0.0.1",
			port: 0,
			logLevel: "silent",
		},
		signer: signerOfAccount(account),
		nowMs: () => nowMs,
		log: createLog({ level: "silent", process: "test" }),
	});
});
afterAll(async () => {
	await attester?.close();
	await chains?.stop();
});

async function ask(kind: "Release" | "Refund", orders: Order[], url = attester.url) {
	const response = await fetch(`${url}/attest`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ kind, orders: orders.map(orderToJson) }),
	});
	const body = (await response.json()) as { refused: Refusal[]; attester: Address; signature: Hex };
	return { status: response.status, body };
}

test("a release is signed only once its fill is final, and a refund is not signed after that", async () => {
	const order = await actions.makeOrder();
	expect(await ask("Release", [order])).toEqual({
		status: 409,
		body: { refused: [{ orderId: orderId(order), reason: "not_filled" }] },
	});
	await actions.fill(order, 9_000_000n);
	expect((await ask("Release", [order])).status).toBe(409);
	await actions.finalize();
	const { status, body } = await ask("Release", [order]);
	expect(status).toBe(200);
	const hash = attestationDigest(attestationMessage("Release", [order]));
	expect(await recoverAddress({ hash, signature: body.signature })).toBe(account.address);
	expect(body.attester).toBe(account.address);
	expect((await ask("Refund", [order])).body.refused).toEqual([
		{ orderId: orderId(order), reason: "filled" },
	]);
});

test("a refund is signed only once its void, or a block after its deadline, is final", async () => {
	const voided = await actions.makeOrder();
	const expired = await actions.makeOrder({ stepSeconds: 10n });
	await actions.voidOrder(voided);
	const { body } = await ask("Refund", [voided, expired]);
	expect(body.refused).toEqual([
		{ orderId: orderId(voided), reason: "not_expired" },
		{ orderId: orderId(expired), reason: "not_expired" },
	]);
	await actions.finalize();
	expect((await ask("Refund", [voided])).status).toBe(200);
	await chains.destination.testClient.increaseTime({ seconds: 21 });
	await chains.destination.testClient.mine({ blocks: 1 });
	expect((await ask("Refund", [voided, expired])).status).toBe(409);
	await actions.finalize();
	expect((await ask("Refund", [voided, expired])).status).toBe(200);
});

test("no refund is signed for an order that the escrow would not open yet, as its `refundAfter` is over 3 days ahead", async () => {
	const order = await actions.makeOrder();
	const at = BigInt(nowMs / 1_000);
	const ahead = (refundAfter: bigint) => ({
		...order,
		deadlines: packDeadlines({ openDeadline: at + 3_600n, fillDeadline: at + 7_200n, refundAfter }),
	});
	const [last, later] = [ahead(at + 259_200n), ahead(at + 259_201n)];
	await actions.voidOrder(last);
	await actions.voidOrder(later);
	await actions.finalize();
	expect((await ask("Refund", [last, later])).body.refused).toEqual([
		{ orderId: orderId(later), reason: "invalid_deadlines" },
	]);
	expect((await ask("Refund", [last])).status).toBe(200);
});

test("nothing is signed for contracts, chains and assets outside the attester's configuration", async () => {
	const order = await actions.makeOrder();
	await actions.fill(order, 9_000_000n);
	await actions.finalize();
	const stranger = toWord(account.address);
	const reasonOf = async (change: Partial<Order>) =>
		(await ask("Release", [{ ...order, ...change }])).body.refused[0]?.reason;
	expect(await reasonOf({ escrow: stranger })).toBe("unknown_escrow");
	expect(await reasonOf({ originVault: stranger })).toBe("unknown_vault");
	expect(await reasonOf({ destinationVault: stranger })).toBe("unknown_vault");
	expect(await reasonOf({ attesterSet: stranger })).toBe("unknown_attester_set");
	expect(await reasonOf({ inputToken: stranger })).toBe("unknown_asset");
	expect(await reasonOf({ destinationChainId: 1n })).toBe("unknown_chain");
	expect(await reasonOf({ destinationChainId: order.originChainId })).toBe("same_chain");
	expect((await ask("Release", [order])).status).toBe(200);
	expect((await ask("Release", [])).status).toBe(400);
});

test("all orders that cannot be signed for are refused in one response, each with its reason, also if a chain does not respond", async () => {
	const [filled, unfilled, foreign] = [
		await actions.makeOrder(),
		await actions.makeOrder(),
		{ ...(await actions.makeOrder()), originVault: toWord(account.address) },
	];
	await actions.fill(filled, 9_000_000n);
	await actions.finalize();
	expect((await ask("Release", [filled, unfilled, foreign])).body.refused).toEqual([
		{ orderId: orderId(unfilled), reason: "not_filled" },
		{ orderId: orderId(foreign), reason: "unknown_vault" },
	]);
	let isDown = false;
	const node = http(chains.destination.rpcUrl)({});
	const transport = custom({
		request: (call: Parameters<typeof node.request>[0]) =>
			isDown ? Promise.reject(new Error("down")) : node.request(call),
	});
	const blind = await startAttester({
		config: {
			chains: [connectChain(chains.origin), connectChain({ ...chains.destination, transport })],
			earlierAttesterSets: [],
			earlierRouters: [],
			earlierSettlementTokens: [],
			host: "127.0.0.1",
			port: 0,
			logLevel: "silent",
		},
		signer: signerOfAccount(account),
		nowMs: Date.now,
		log: createLog({ level: "silent", process: "test" }),
	});
	isDown = true;
	try {
		expect(await ask("Release", [filled, foreign], blind.url)).toEqual({
			status: 409,
			body: {
				refused: [
					{ orderId: orderId(filled), reason: "chain_unavailable" },
					{ orderId: orderId(foreign), reason: "unknown_vault" },
				],
			},
		});
	} finally {
		await blind.close();
	}
});

test("the heartbeat of each chain is signed and has a time", async () => {
	const response = await fetch(`${attester.url}/heartbeat`);
	const beats = (await response.json()) as (Heartbeat & { signature: Hex })[];
	expect(beats.map((beat) => beat.chainId)).toEqual([31337, 31338]);
	for (const { signature, ...beat } of beats) {
		expect(beat.signedAtUnixSeconds).toBe(nowMs / 1_000);
		expect(await recoverTypedDataAddress({ ...heartbeatTypedData(beat), signature })).toBe(account.address);
	}
});
