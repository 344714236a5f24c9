import { fromWord, orderId, packDeadlines, toWord } from "@geoswap/protocol";
import { custom, decodeFunctionData, encodeFunctionResult, type Hex, multicall3Abi, padHex } from "viem";
import { expect, test } from "vitest";
import { anyOrder } from "../../../../../packages/protocol/vectors/read-vectors.ts";
import { connectAuditedChain } from "../read/audited-chain.ts";
import type { OrderHistory } from "../read/order-history.ts";
import { checkRefundable } from "./check-refundable.ts";

const token = fromWord(padHex("0x77", { size: 32 }));
const escrow = fromWord(padHex("0x88", { size: 32 }));

/** Returns a chain whose node reports that nothing can be refunded. */
function connect({ isAnswering = true } = {}) {
	const request = async ({ params }: { params: [{ data: Hex }] }) => {
		if (!isAnswering) throw new Error("too many requests");
		const { args } = decodeFunctionData({ abi: multicall3Abi, data: params[0].data });
		const result = [...(args?.[0] ?? [])].map(() => ({ success: false, returnData: "0x" as const }));
		return encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result });
	};
	const contracts = { escrow, earlierEscrows: [], vault: escrow, earlierVaults: [] };
	const deployment = { name: "a", contracts, assets: [{ address: token }] };
	return connectAuditedChain({
		chainId: 1,
		rpcUrl: "http://a",
		transport: custom({ request }, { retryCount: 0 }),
		deployment: deployment as unknown as Parameters<typeof connectAuditedChain>[0]["deployment"],
	});
}

function dueOrders(count: number): OrderHistory[] {
	return Array.from({ length: count }, (_, i) => {
		const deadlines = packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n });
		const terms = { originChainId: 1n, inputToken: toWord(token), escrow: toWord(escrow), deadlines };
		const order = { ...anyOrder(), ...terms, inputAmount: BigInt(i + 1) };
		const opened = [{ chainId: 1, block: 1, orderId: orderId(order), order }];
		const nothing = { released: [], refunded: [], filled: [], voided: [], claimed: [] };
		return { orderId: orderId(order), order, opened, ...nothing };
	});
}

const block = { number: 9n, timestamp: 9n };

test("orders with a swap are checked regardless of how many orders third parties leave open", async () => {
	const histories = dueOrders(600);
	const last = histories.at(-1)?.orderId as Hex;
	const { checked, breaches } = await checkRefundable(connect(), {
		histories,
		known: new Set([last]),
		block,
	});
	expect(checked).toBe(500);
	expect(breaches.map((breach) => breach.orderId)).toContain(last);
});

test("a node that does not respond is an error, and not a finding about an order", async () => {
	const chain = connect({ isAnswering: false });
	const asking = checkRefundable(chain, { histories: dueOrders(3), known: new Set(), block });
	await expect(asking).rejects.toThrow("too many requests");
});
