import { randomBytes, randomUUID } from "node:crypto";
import {
	newSwapUuid,
	orderId,
	orderToJson,
	type ReceiptMessage,
	receiptMessage,
	receiptResponseSchema,
	receiptTypedData,
	type SwapReceipt,
	toSwapId,
	toSwapKey,
} from "@geoswap/protocol";
import { pino } from "pino";
import { getAddress, type Hex, hexToBytes, recoverTypedDataAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { plainOrder } from "../../../test/order/plain-order.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { createReceipts, type ReceiptSigner } from "../status/create-receipts.ts";
import { getReceipt } from "./get-receipt.ts";

const _address = getAddress(`0x${"a1".repeat(20)}`);
const accountId = randomUUID();
const key = privateKeyToAccount(generatePrivateKey());
const hashOf = (byte: string): Hex => `0x${byte.repeat(32)}`;

let signed: ReceiptMessage[] = [];
const signer: ReceiptSigner = {
	address: key.address,
	sign: async (message) => {
		signed.push(message);
		return key.signTypedData(receiptTypedData(message));
	},
};

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
});
afterAll(() => database.drop());
beforeEach(() => {
	signed = [];
});

async function insertSwap(set: string): Promise<string> {
	const uuid = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
	const order = plainOrder({ swapKey: toSwapKey(uuid) });
	await database.owner.query(
		`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, fee_millibps, delivery)
		values ($1, $2, $3, $4, 7, 700, 9375, '{"kind": "inventory", "amount": "7"}')`,
		[uuid, accountId, hexToBytes(orderId(order)), orderToJson(order)],
	);
	await database.owner.query(`update swaps set ${set} where id = $1`, [uuid]);
	return toSwapId(uuid);
}

async function ask(
	swapId: string,
	{ by = accountId, route = getReceipt({ db: database.pool, receipts: createReceipts(signer) }) } = {},
): Promise<SwapReceipt> {
	const answer = await route.handle({
		body: undefined,
		query: {},
		params: { swapId },
		requestId: "",
		log: pino({ level: "silent" }),
		onGone: () => {},
		account: {
			accountId: by,
			accountCreatedAt: new Date(0),
			keyId: "key",
			limits: {
				rates: { quote: 1, build: 1, submit: 1, delegation: 1, status: 1, list: 1 },
				heldStatusCalls: 1,
			},
		},
	});
	return receiptResponseSchema.strict().parse(answer);
}

const hashes = `origin_tx_hash = '\\x${"0a".repeat(32)}', delivery_tx_hash = '\\x${"0b".repeat(32)}',
	refund_tx_hash = '\\x${"0c".repeat(32)}', delivered_amount = 6`;

test("a settled, refunded and failed swap has a receipt with exactly the transactions that show its end [D-beyond-10]", async () => {
	const expected = {
		settled: { deliveredAmount: "6", originTxHash: hashOf("0a"), deliveryTxHash: hashOf("0b") },
		refunded: { originTxHash: hashOf("0a"), refundTxHash: hashOf("0c") },
		failed: {},
	};
	for (const [status, parts] of Object.entries(expected)) {
		const receipt = await ask(await insertSwap(`status = '${status}', decided_at = now(), ${hashes}`));
		const { deliveredAmount, originTxHash, deliveryTxHash, refundTxHash } = receipt;
		expect(
			JSON.parse(JSON.stringify({ deliveredAmount, originTxHash, deliveryTxHash, refundTxHash })),
		).toEqual(parts);
		expect(receipt).toMatchObject({ status, signer: key.address, terms: { feeBps: 9.375, minOutput: "5" } });
		const typed = receiptTypedData(receiptMessage(receipt));
		const signature = receipt.signature as Hex;
		expect(await recoverTypedDataAddress({ ...typed, signature })).toBe(key.address);
	}
});

test("there is no receipt for a pending swap, another account's swap or an unknown one [D-beyond-10]", async () => {
	await expect(ask(await insertSwap("stage = 'delivering'"))).rejects.toMatchObject({
		code: "SWAP_NOT_ENDED",
	});
	const settled = await insertSwap(`status = 'settled', ${hashes}`);
	await expect(ask(settled, { by: randomUUID() })).rejects.toMatchObject({ code: "SWAP_NOT_FOUND" });
	await expect(ask("swp_x")).rejects.toMatchObject({ code: "SWAP_NOT_FOUND" });
	expect(signed).toEqual([]);
});

test("without a receipt key the error states that receipts are not offered, and does not reveal whether another account's swap exists [D-beyond-10]", async () => {
	const route = getReceipt({ db: database.pool, receipts: createReceipts(undefined) });
	const settled = await insertSwap(`status = 'settled', ${hashes}`);
	await expect(ask(settled, { route })).rejects.toMatchObject({ code: "RECEIPTS_NOT_OFFERED" });
	await expect(ask(settled, { route, by: randomUUID() })).rejects.toMatchObject({ code: "SWAP_NOT_FOUND" });
});

test("a repeated request for a receipt does not sign it again, unless the delivery was repeated", async () => {
	const route = getReceipt({ db: database.pool, receipts: createReceipts(signer) });
	const swapId = await insertSwap(`status = 'settled', ${hashes}`);
	const first = await ask(swapId, { route });
	expect(await ask(swapId, { route })).toEqual(first);
	expect(signed).toHaveLength(1);
	await database.owner.query("update swaps set delivery_tx_hash = $1 where order_id = $2", [
		hexToBytes(hashOf("0d")),
		hexToBytes(first.orderId as Hex),
	]);
	expect((await ask(swapId, { route })).deliveryTxHash).toBe(hashOf("0d"));
	expect(signed).toHaveLength(2);
});

test("a receipt key that does not respond is unavailable, and the same request may succeed later", async () => {
	let isDown = true;
	const sign: ReceiptSigner["sign"] = (message) =>
		isDown ? Promise.reject(new Error("connection refused")) : signer.sign(message);
	const route = getReceipt({ db: database.pool, receipts: createReceipts({ ...signer, sign }) });
	const swapId = await insertSwap(`status = 'settled', ${hashes}`);
	await expect(ask(swapId, { route })).rejects.toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
		retryable: true,
	});
	isDown = false;
	expect((await ask(swapId, { route })).swapId).toBe(swapId);
});
