import { randomBytes } from "node:crypto";
import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import {
	expireOrder,
	fillOrder,
	fundOrder,
	newSwapUuid,
	type Order,
	openOrder,
	orderId,
	packDeadlines,
	payOrder,
	prepareOrder,
	solanaChainId,
	toSolanaWord,
	toSwapKey,
} from "@geoswap/protocol";
import { ReceiptError, verifyReceipt } from "@geoswap/sdk/receipt";
import {
	type Address,
	createKeyPairSignerFromBytes,
	createSolanaRpc,
	generateKeyPairSigner,
	type Instruction,
	type KeyPairSigner,
} from "@solana/kit";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signSolana } from "../solana/sign-solana.ts";
import { type ReceiptClaim, signReceipt } from "../wallet/sign-receipt.ts";

const key = privateKeyToAccount(generatePrivateKey());
const amount = 5_000_000n;

let solana: TestSolana;
let operator: KeyPairSigner;
let feePayer: KeyPairSigner;
let wallet: KeyPairSigner;
beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 100 });
	const signer = (bytes: Uint8Array | undefined) => createKeyPairSignerFromBytes(bytes ?? new Uint8Array());
	operator = await signer(solana.keys.operator);
	feePayer = await signer(solana.keys.feePayers[0]);
	wallet = await generateKeyPairSigner();
	await solana.admin.mintTo({ owner: wallet.address, token: usdc(), amount: 100_000_000n });
});
afterAll(() => solana?.stop());

test("a payout verifies only for the order that it fills, and only with its amount", async () => {
	const [one, other, unpaid] = [await opened(), await opened(), await opened()];
	const both = await land([await fill(one, amount), await fill(other, amount + 1n)]);
	expect(await settled(one, both)).toBe("verified");
	expect(await settled(other, both)).toBe("deliveredAmount");
	expect(await settled(other, both, amount + 1n)).toBe("verified");
	expect(await settled(unpaid, both)).toBe("deliveryTxHash");
	expect(await settled(one, both, 2n * amount + 1n)).toBe("deliveredAmount");
});

test("a deposit verifies only for the order that it opened, and a refund only for the order that it paid back", async () => {
	const [one, other] = [await opened(), await opened()];
	const refund = await land([
		await expireOrder(program(), orderId(one), { vault: solana.deployment.program.vault, operator }),
		await payOrder(program(), one, { to: "wallet" }),
	]);
	expect(await refunded(one, { originTxHash: openings.get(one), refundTxHash: refund })).toBe("verified");
	expect(await refunded(one, { originTxHash: openings.get(other), refundTxHash: refund })).toBe(
		"originTxHash",
	);
	expect(await refunded(other, { originTxHash: openings.get(other), refundTxHash: refund })).toBe(
		"refundTxHash",
	);
	// A payment to the vault is no refund.
	const release = await land([await fill(other, amount), await payOrder(program(), other, { to: "vault" })]);
	expect(await refunded(other, { originTxHash: openings.get(other), refundTxHash: release })).toBe(
		"refundTxHash",
	);
});

function usdc(): Address {
	return solana.deployment.settlementToken as Address;
}

function program() {
	return solana.deployment.program.address;
}

const openings = new Map<Order, string>();

/** Opens an order within Solana from the wallet to itself. */
async function opened(): Promise<Order> {
	const order = makeOrder();
	const hash = await land([
		await prepareOrder(program(), order, feePayer),
		await fundOrder(program(), order, { wallet, decimals: 6 }),
		await openOrder(program(), order),
	]);
	openings.set(order, hash);
	return order;
}

function makeOrder(): Order {
	const now = BigInt(Math.floor(Date.now() / 1_000));
	const token = toSolanaWord(usdc());
	const { vault, attesterSet } = solana.deployment.program;
	return {
		originChainId: BigInt(solanaChainId),
		destinationChainId: BigInt(solanaChainId),
		escrow: toSolanaWord(program()),
		originVault: toSolanaWord(vault),
		destinationVault: toSolanaWord(vault),
		attesterSet: attesterSet.hash,
		wallet: toSolanaWord(wallet.address),
		inputToken: token,
		inputAmount: amount,
		outputToken: token,
		minOutput: 1n,
		topUp: 0n,
		recipient: toSolanaWord(wallet.address),
		swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })),
		deadlines: packDeadlines({ openDeadline: now + 60n, fillDeadline: now + 120n, refundAfter: now + 180n }),
	};
}

function fill(order: Order, paid: bigint): Promise<Instruction> {
	return fillOrder(program(), order, { operator, amount: paid });
}

async function land(instructions: Instruction[]): Promise<string> {
	const rpc = createSolanaRpc(solana.rpcUrl);
	const { signature, wire } = await signSolana({ rpc }, { feePayer, instructions });
	await rpc.sendTransaction(wire, { encoding: "base64" }).send();
	await solana.admin.warp({ slots: 40 });
	const { value } = await rpc.getSignatureStatuses([signature]).send();
	expect(value).toMatchObject([{ err: null, confirmationStatus: "finalized" }]);
	return signature;
}

function settled(order: Order, deliveryTxHash: string, delivered = amount): Promise<string> {
	const originTxHash = openings.get(order) ?? "";
	return verify(order, {
		status: "settled",
		originTxHash,
		deliveryTxHash,
		deliveredAmount: String(delivered),
	});
}

function refunded(
	order: Order,
	{ originTxHash = "", refundTxHash }: { originTxHash: string | undefined; refundTxHash: string },
): Promise<string> {
	return verify(order, { status: "refunded", originTxHash, refundTxHash });
}

/** Signs the claim as the operator, and returns "verified", or the field for which the receipt is refused. */
async function verify(order: Order, claim: ReceiptClaim) {
	const pins = { chains: [], solana: solana.deployment, receiptSigners: [key.address] };
	const rpcUrls = { [solanaChainId]: solana.rpcUrl };
	return verifyReceipt(await signReceipt(key, order, claim), { pins, rpcUrls }).then(
		() => "verified",
		(error: unknown) => {
			if (error instanceof ReceiptError) return error.field;
			throw error;
		},
	);
}
