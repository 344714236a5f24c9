import { randomInt } from "node:crypto";
import { startTestChains, type TestChains } from "@geoswap/devnet";
import { fromWord, geoEscrowAbi, geoVaultAbi, type Order, orderId, unpackDeadlines } from "@geoswap/protocol";
import { ReceiptError, verifyReceipt } from "@geoswap/sdk/receipt";
import fc from "fast-check";
import { bytesToHex, type Hash } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeOrderHistory, type OrderHistory } from "../trouble/make-order-history.ts";
import { type ReceiptClaim, signReceipt } from "../wallet/sign-receipt.ts";

const seed = Number(process.env.GEOSWAP_SEED ?? randomInt(2 ** 31));
const cases = process.env.GEOSWAP_FULL ? 20_000 : 250;
const key = privateKeyToAccount(generatePrivateKey());

let chains: TestChains;
let history: OrderHistory;
let read: (order: Order) => Promise<Truth>;
beforeAll(async () => {
	chains = await startTestChains({ automine: true });
	history = await makeOrderHistory(chains);
	read = await readChains();
}, 120_000);
afterAll(() => chains?.stop());

/** The facts about an order, read from all events and states. */
type Truth = {
	escrow: number;
	vault: number;
	opened: Hash | undefined;
	filled: { hash: Hash; delivered: bigint } | undefined;
	/** The transaction in which the input left the escrow for the wallet. */
	paidBack: Hash | undefined;
	isExpired: boolean;
};

test("the receipt of every honest outcome verifies", async () => {
	const ends = Object.entries(history.orders).map(async ([name, order]) => {
		const claim = honestClaim(await read(order));
		if (claim) expect(await verify(order, claim), name).toBe("verified");
		return [name, claim?.status];
	});
	expect(Object.fromEntries(await Promise.all(ends))).toEqual({
		settled: "settled",
		unreleased: "settled",
		deliveredAndRefunded: "settled",
		depositDropped: "settled",
		refunded: "refunded",
		voided: "refunded",
		refundedLate: "refunded",
		credited: "refunded",
		creditedToo: "refunded",
		creditedLater: "refunded",
		creditedTokens: "refunded",
		failed: "failed",
	});
});

test("the claim of one order's credit is no refund of another order, which was released", async () => {
	const { credited, stolenNative } = history.orders as Record<string, Order>;
	if (!credited || !stolenNative) throw new Error("the history has both");
	const { paidBack } = await read(credited);
	const { opened, escrow } = await read(stolenNative);
	expect(escrow).toBe(2);
	const claim = { status: "refunded" as const, originTxHash: opened, refundTxHash: paidBack };
	expect(await verify(stolenNative, claim as ReceiptClaim)).toBe("refundTxHash");
});

test("a changed signed receipt verifies if and only if a second reader of the chains agrees with it", {
	timeout: 3_600_000,
}, async () => {
	console.info(`seed ${seed}: repeat with GEOSWAP_SEED=${seed}`);
	const orders = Object.values(history.orders);
	const truths = await Promise.all(orders.map(read));
	const index = fc.nat(orders.length - 1);
	const anyHash = fc.oneof(
		fc.constantFrom(...history.hashes),
		fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytesToHex(bytes)),
	);
	/** A transaction of the same kind as the true one, which is its own or another order's, or any transaction. */
	const hashOf = (find: (truth: Truth) => Hash | undefined) => {
		const others = fc.constantFrom(...truths.flatMap((truth) => find(truth) ?? []));
		return fc.oneof(
			{ weight: 4, arbitrary: fc.constant(find) },
			{ weight: 3, arbitrary: others.map((hash) => () => hash) },
			{ weight: 1, arbitrary: anyHash.map((hash) => () => hash) },
			{ weight: 1, arbitrary: fc.constant(() => undefined) },
		);
	};
	const counts = { verified: 0, refused: 0 };
	await fc.assert(
		fc.asyncProperty(
			index,
			fc.constantFrom("settled" as const, "refunded" as const, "refunded" as const, "failed" as const),
			hashOf(({ opened }) => opened),
			hashOf(({ filled }) => filled?.hash),
			hashOf(({ paidBack }) => paidBack),
			fc.constantFrom("9950000", "9950000", "9950000", "9949999", "9950001"),
			fc.option(fc.constantFrom("recipient" as const, "minOutput" as const), { nil: undefined, freq: 12 }),
			anyHash,
			async (i, status, opened, filled, paidBack, deliveredAmount, changed, any) => {
				const order = { ...(orders[i] as Order) };
				if (changed === "recipient") order.recipient = order.originVault;
				if (changed === "minOutput") order.minOutput += 1n;
				const truth = truths[i] as Truth;
				const originTxHash = opened(truth);
				// A receipt of each status has exactly these parts.
				const claim: ReceiptClaim = {
					failed: { status },
					refunded: { status, originTxHash: originTxHash ?? any, refundTxHash: paidBack(truth) ?? any },
					settled: {
						status,
						deliveryTxHash: filled(truth) ?? any,
						deliveredAmount,
						...(originTxHash && { originTxHash }),
					},
				}[status];
				const isTrue = agrees(claim, await read(order), order);
				const found = await verify(order, claim);
				counts[found === "verified" ? "verified" : "refused"]++;
				expect(found === "verified", JSON.stringify({ claim, found })).toBe(isTrue);
			},
		),
		{ seed, numRuns: cases },
	);
	console.info(counts);
	expect(Math.min(counts.verified, counts.refused)).toBeGreaterThan(cases / 20);
});

/**
 * Returns the receipt of an honest operator, or undefined if the swap has not ended, or the operator has no honest end.
 */
function honestClaim({
	escrow,
	vault,
	opened,
	filled,
	paidBack,
	isExpired,
}: Truth): ReceiptClaim | undefined {
	const origin = opened && { originTxHash: opened };
	if (vault === 1 && filled) {
		const { hash: deliveryTxHash, delivered } = filled;
		return { status: "settled", ...origin, deliveryTxHash, deliveredAmount: String(delivered) };
	}
	if (escrow === 3 && paidBack) return { status: "refunded", ...origin, refundTxHash: paidBack };
	return escrow === 0 && isExpired ? { status: "failed" } : undefined;
}

function agrees(claim: ReceiptClaim, truth: Truth, order: Order): boolean {
	const { status, originTxHash, deliveryTxHash, refundTxHash, deliveredAmount } = claim;
	if (status === "failed") return truth.escrow === 0 && truth.isExpired;
	if (originTxHash !== undefined && originTxHash !== truth.opened) return false;
	if (status === "refunded") {
		return truth.escrow === 3 && truth.vault !== 1 && refundTxHash === truth.paidBack;
	}
	const delivered = BigInt(deliveredAmount ?? 0);
	const isFill = truth.filled?.hash === deliveryTxHash && truth.filled?.delivered === delivered;
	return truth.vault === 1 && isFill && delivered >= order.minOutput;
}

/** Reads all events of both chains, and returns a function that reads the states of an order and finds its events. */
async function readChains(): Promise<(order: Order) => Promise<Truth>> {
	const { origin, destination } = chains;
	const { escrow } = origin.deployment.contracts;
	const { vault } = destination.deployment.contracts;
	const [ofEscrow, ofVault] = await Promise.all([
		origin.publicClient.getContractEvents({
			address: escrow,
			abi: geoEscrowAbi,
			fromBlock: 0n,
			strict: true,
		}),
		destination.publicClient.getContractEvents({
			address: vault,
			abi: geoVaultAbi,
			fromBlock: 0n,
			strict: true,
		}),
	]);
	const { timestamp } = await origin.publicClient.getBlock({ blockTag: "finalized" });
	return async (order) => {
		const id = orderId(order);
		const state = { functionName: "orderState", args: [id] } as const;
		const opened = ofEscrow.find((one) => one.eventName === "Opened" && one.args.orderId === id);
		const filled = ofVault.find((one) => one.eventName === "Filled" && one.args.orderId === id);
		const refund = ofEscrow.findIndex((one) => one.eventName === "Refunded" && one.args.orderId === id);
		// The logs are in the order of the chain.
		const payment = ofEscrow.slice(Math.max(refund, 0)).find((one) => {
			if (one.eventName === "Refunded") return one.args.orderId === id && one.args.paid;
			if (one.eventName !== "Claimed") return false;
			const isOwn =
				one.args.beneficiary === fromWord(order.wallet) && one.args.token === fromWord(order.inputToken);
			return isOwn && refund >= 0;
		});
		return {
			escrow: await origin.publicClient.readContract({ address: escrow, abi: geoEscrowAbi, ...state }),
			vault: await destination.publicClient.readContract({ address: vault, abi: geoVaultAbi, ...state }),
			opened: opened?.transactionHash,
			filled:
				filled?.eventName === "Filled"
					? { hash: filled.transactionHash, delivered: filled.args.delivered }
					: undefined,
			paidBack: refund >= 0 ? payment?.transactionHash : undefined,
			isExpired: timestamp > unpackDeadlines(order.deadlines).openDeadline,
		};
	};
}

/** Signs the claim as the operator, and returns "verified", or the field for which the receipt is refused. */
async function verify(order: Order, claim: ReceiptClaim): Promise<string> {
	const { origin, destination } = chains;
	const pins = { chains: [origin.deployment, destination.deployment], receiptSigners: [key.address] };
	const rpcUrls = { [origin.chainId]: origin.rpcUrl, [destination.chainId]: destination.rpcUrl };
	try {
		await verifyReceipt(await signReceipt(key, order, claim), { pins, rpcUrls });
		return "verified";
	} catch (error) {
		if (error instanceof ReceiptError) return error.field;
		throw error;
	}
}
