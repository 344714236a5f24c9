import { hexOfSignature } from "@geoswap/keys/hex-of-signature";
import { type ReceiptMessage, receiptTypedData } from "@geoswap/protocol";
import { judgePayload } from "@geoswap/signer/judge-payload";
import type { SigningKey } from "@geoswap/signer/signing-key";
import { recoverTypedDataAddress, zeroHash } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { receiptKeysSchema } from "../config/role-keys.ts";
import { openReceiptKey } from "./open-receipt-key.ts";
import { openSigners } from "./open-signers.ts";

const key = generatePrivateKey();
const address = privateKeyToAddress(key);
const devnet = { chains: [{ chainId: 31337 }], receiptSigners: [address] };
const message: ReceiptMessage = {
	swapId: "swp_01kt1gw6g0ef7b3fyekztjvj8k",
	status: "settled",
	orderId: zeroHash,
	output: "7",
	feeBps: "12.5",
	networkCostToken: "",
	networkCost: "0",
	deliveredAmount: "6",
	originTxHash: "",
	deliveryTxHash: "",
	refundTxHash: "",
	quotedAt: "2026-06-01T12:00:00.000Z",
	createdAt: "2026-06-01T12:00:03.000Z",
	endedAt: "",
};

function open(
	environment: NodeJS.ProcessEnv,
	{ deployment = devnet as Parameters<typeof openReceiptKey>[0]["deployment"], ...keys } = {},
) {
	const parsed = receiptKeysSchema.parse(keys);
	const signers = openSigners({ settings: parsed, environment, nowMs: Date.now });
	return openReceiptKey({ keys: parsed, signers, deployment, environment });
}

test("without a key nothing is opened, so that no receipts are signed", async () => {
	expect(await open({})).toBeUndefined();
});

test("a key of the environment, or one that is named, signs receipts that recover to its address", async () => {
	for (const signer of [
		await open({ GEOSWAP_RECEIPT_KEY: key }),
		await open({ SOME_KEY: key }, { key: "env:SOME_KEY" } as object),
	]) {
		if (!signer) throw new Error("the key is configured");
		const signature = hexOfSignature(await signer.sign({ kind: "receipt", message }));
		expect(await recoverTypedDataAddress({ ...receiptTypedData(message), signature })).toBe(address);
	}
});

test("a key that the deployment file does not list is refused, since nobody could verify its receipts", async () => {
	for (const receiptSigners of [undefined, [privateKeyToAddress(generatePrivateKey())]]) {
		const deployment = { chains: devnet.chains, ...(receiptSigners && { receiptSigners }) };
		await expect(open({ GEOSWAP_RECEIPT_KEY: key }, { deployment })).rejects.toThrow("receiptSigners");
	}
});

test("a key in the environment is refused on a chain that is not a devnet, unless the operator allows it", async () => {
	const deployment = { ...devnet, chains: [{ chainId: 8453 }] };
	await expect(open({ GEOSWAP_RECEIPT_KEY: key }, { deployment })).rejects.toThrow("is in the environment");
	const allowed = { deployment, allowPlain: true };
	expect((await open({ GEOSWAP_RECEIPT_KEY: key }, allowed))?.address).toBe(address);
});

test("the remote signer's receipt key signs receipts only, and no other key signs them", async () => {
	const signer = await open({ GEOSWAP_RECEIPT_KEY: key });
	if (!signer) throw new Error("the key is configured");
	const receipts = { name: "receipts", clients: ["api"], use: "receipts", signer } as const;
	const attester: SigningKey = {
		name: "attester",
		clients: ["attester-1"],
		use: "attester",
		signer,
		rules: { deployment: { chains: [] }, nowMs: Date.now },
	};
	expect(await judgePayload(receipts, { kind: "receipt", message })).toMatchObject({
		kind: "receipt",
		charges: [],
		payouts: [],
		about: { swapId: message.swapId },
	});
	const heartbeat = { chainId: 1, finalizedNumber: 1, signedAtUnixSeconds: 1 };
	for (const judging of [
		judgePayload(receipts, { kind: "heartbeat", message: heartbeat }),
		judgePayload(receipts, { kind: "transaction", unsigned: "0x02" }),
		judgePayload(attester, { kind: "receipt", message }),
	]) {
		await expect(judging).rejects.toThrow("signs no");
	}
});
