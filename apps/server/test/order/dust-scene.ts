import { type LyingNode, startLyingNode, startTestChains, type TestChains } from "@geoswap/devnet";
import {
	fromSwapKey,
	geoEscrowAbi,
	type Order,
	orderId,
	orderTerms,
	orderToJson,
	toWord,
} from "@geoswap/protocol";
import {
	type Address,
	encodeFunctionData,
	type Hex,
	hexToBytes,
	parseAbi,
	parseEther,
	zeroAddress,
} from "viem";
import { type AuditMemory, createAuditMemory } from "../../src/audit/audit-memory.ts";
import type { Report } from "../../src/audit/read/report.ts";
import { reconcile } from "../../src/audit/reconcile.ts";
import { createTestDatabase, type TestDatabase } from "../service/test-database.ts";
import { insertWait } from "../swap/insert-wait.ts";
import { orderActions } from "./order-actions.ts";

/** Multicall3, by which one transaction opens many orders. It takes no refunds, which become credits. */
const multicall: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";
const multicallAbi = parseAbi([
	"struct Call { address target; bool allowFailure; uint256 value; bytes callData; }",
	"function aggregate3Value(Call[] calls) payable",
]);
/** More logs than this, or more bytes, are refused in different ways. */
const maxLogs = 100;
const maxBytes = 64_000;

export type DustScene = {
	chains: TestChains;
	actions: ReturnType<typeof orderActions>;
	database: TestDatabase;
	/** The node of the origin that the audit reads. It returns few logs per call. */
	node: LyingNode;
	/** Writes that the chains are followed up to their newest blocks. No worker handles the orders. */
	follow: () => Promise<void>;
	/** Audits after all blocks are final and followed. Audits everything if `memory` is absent. */
	audit: (memory?: AuditMemory) => Promise<Report>;
	/** Opens orders of one wei each, all in one block. Returns them. */
	openDust: (count: number, of?: Partial<Order>) => Promise<Order[]>;
	/** Makes all calls to the escrow in one transaction. */
	callEscrow: (calls: readonly { data: Hex; value?: bigint }[]) => Promise<void>;
	insertSwap: (order: Order, of?: { status?: string; endedSecondsAgo?: number }) => Promise<void>;
	stop: () => Promise<void>;
};

/** Starts two chains, the database of an auditor, and a node whose answers are limited as those of providers are. */
export async function startDustScene(): Promise<DustScene> {
	const [chains, database] = await Promise.all([startTestChains(), createTestDatabase({ as: "auditor" })]);
	const actions = orderActions(chains);
	const node = await startLyingNode({ targetUrl: chains.origin.rpcUrl });
	node.liar = ({ method }, result) => {
		if (method !== "eth_getLogs" || !Array.isArray(result)) return undefined;
		if (JSON.stringify(result).length > maxBytes) return { status: 413 };
		if (result.length > maxLogs) return { error: { code: -32_602, message: "the range is too wide" } };
		return undefined;
	};

	async function follow(): Promise<void> {
		await actions.finalize();
		for (const { chainId, publicClient } of [chains.origin, chains.destination]) {
			const { number, timestamp } = await publicClient.getBlock({ blockTag: "finalized" });
			await database.owner.query(
				`insert into chain_heads (chain_id, number, hash, timestamp, base_fee, finalized_number, finalized_timestamp,
					booked_number) values ($1, $2, '', $3, 1, $2, $3, $2)
				on conflict (chain_id) do update set booked_number = $2, finalized_number = $2, finalized_timestamp = $3`,
				[chainId, number, timestamp],
			);
		}
	}

	async function callEscrow(calls: readonly { data: Hex; value?: bigint }[]): Promise<void> {
		const { testClient, publicClient, deployment } = chains.origin;
		const target = deployment.contracts.escrow;
		const data = encodeFunctionData({
			abi: multicallAbi,
			functionName: "aggregate3Value",
			args: [
				calls.map(({ data: callData, value = 0n }) => ({ target, allowFailure: false, value, callData })),
			],
		});
		const from = actions.relayer.address;
		await testClient.setBalance({ address: from, value: parseEther("100") });
		await testClient.impersonateAccount({ address: from });
		const value = calls.reduce((sum, call) => sum + (call.value ?? 0n), 0n);
		const hash = await testClient.request<{
			Method: "eth_sendTransaction";
			Parameters: [{ from: Address; to: Address; data: Hex; value: Hex; gas: Hex }];
			ReturnType: Hex;
		}>({
			method: "eth_sendTransaction",
			params: [{ from, to: multicall, data, value: `0x${value.toString(16)}`, gas: "0x1c00000" }],
		});
		const { status } = await publicClient.waitForTransactionReceipt({ hash, pollingInterval: 20 });
		if (status !== "success") throw new Error("the calls of the escrow failed");
	}

	return {
		chains,
		actions,
		database,
		node,
		follow,
		async audit(memory = createAuditMemory()) {
			await follow();
			const { origin, destination } = chains;
			return reconcile({
				pool: database.pool,
				chains: [{ ...origin, rpcUrl: node.url }, destination],
				earlierAttesterSets: [],
				memory,
				nowMs: Date.now(),
			});
		},
		async openDust(count, of = {}) {
			const made = await actions.makeOrder();
			const stranger = toWord(actions.relayer.address);
			const orders = Array.from(
				{ length: count },
				(_, i): Order => ({
					...made,
					originVault: stranger,
					wallet: toWord(multicall),
					inputToken: toWord(zeroAddress),
					inputAmount: 1n,
					swapKey: toWord(
						`0x${((BigInt(made.swapKey) % 2n ** 140n) + BigInt(i)).toString(16).padStart(40, "0")}`,
					),
					...of,
				}),
			);
			await callEscrow(orders.map(openCall));
			return orders;
		},
		callEscrow,
		async insertSwap(order, { status = "pending", endedSecondsAgo } = {}) {
			const id = fromSwapKey(order.swapKey);
			const isEnded = endedSecondsAgo !== undefined;
			await database.owner.query(
				`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, moves, status, stage, ended_at)
				values ($1, $2, $3, 0, 0, '{}', $4, $5, $6, now() - make_interval(secs => $7))`,
				[
					id,
					hexToBytes(orderId(order)),
					orderToJson(order),
					isEnded ? ["opening", "deposited", "refunding", status] : ["opening"],
					status,
					isEnded ? "refunding" : "opening",
					endedSecondsAgo ?? null,
				],
			);
			if (!isEnded) await insertWait(database.owner, { swapId: id, orderId: orderId(order) });
		},
		async stop() {
			await node.stop();
			await database.drop();
			await chains.stop();
		},
	};
}

/** Returns the call that opens an order with a native input. */
export function openCall(order: Order): { data: Hex; value: bigint } {
	return {
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "open", args: [orderTerms(order)] }),
		value: order.inputAmount,
	};
}

/** Returns a report's entry for the native token on the origin. */
export function nativeOf({ chains: [origin] }: Report) {
	return origin?.tokens.find(({ token }) => token === zeroAddress);
}
