import { startTestChains, startTestSolana } from "@geoswap/devnet";
import { fromSwapKey, type Order, orderId, orderToJson, toSolanaWord } from "@geoswap/protocol";
import { hexToBytes } from "viem";
import type { Breach, Report } from "../../src/audit/read/report.ts";
import { type ReconcileOptions, reconcile } from "../../src/audit/reconcile.ts";
import { connectChain } from "../../src/chain/evm/connect-chain.ts";
import type { SignedTransaction } from "../../src/chain/solana/send/sign-instructions.ts";
import { advance } from "../../src/follow/evm/advance.ts";
import { advanceSolana } from "../../src/follow/solana/advance-solana.ts";
import type { JobKind } from "../../src/swap/facts/job.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { noteSigned } from "../order/note-signed.ts";
import { orderActions } from "../order/order-actions.ts";
import { createTestDatabase } from "../service/test-database.ts";
import { type SolanaActions, solanaActions } from "../solana/solana-actions.ts";
import { insertWait } from "../swap/insert-wait.ts";
import { markPrices } from "./mark-prices.ts";

const slowSlotMs = 3_600_000;

/** Starts two EVM chains and a Solana with one database, whose books are written only by `follow`. */
export async function createSolanaAuditScene() {
	const [chains, solana, database] = await Promise.all([
		startTestChains(),
		startTestSolana({ slotMs: slowSlotMs }),
		createTestDatabase({ as: "auditor" }),
	]);
	const actions = orderActions(chains);
	const on = await solanaActions(solana);
	const { chainId } = solana.deployment;
	let nonce = 0;
	await follow();
	await markPrices(database.owner);

	return {
		chains,
		solana,
		database,
		actions,
		on,
		follow,
		check,
		audit,
		insertSwap,
		send,
		stop: async () => {
			await database.drop();
			await Promise.all([chains.stop(), solana.stop()]);
		},
		/** Returns a function that returns the findings that are not there yet. */
		async startFinding(): Promise<() => Promise<Breach[]>> {
			const known = new Set((await audit()).breaches.map(keyOf));
			return async () => (await audit()).breaches.filter((breach) => !known.has(keyOf(breach)));
		},
		toSolana: async (terms: Parameters<SolanaActions["toSolana"]>[1] = {}) =>
			on.toSolana(await actions.makeOrder(), terms),
		fromSolana: async (terms: Parameters<SolanaActions["fromSolana"]>[1] = {}) =>
			on.fromSolana(await actions.makeOrder(), terms),
		deposit: async (order: Order) => send("open", order, await on.signDeposit(order)),
		fill: async (order: Order, amount = 9_500_000n) => send("fill", order, await on.signFill(order, amount)),
		/** Moves the clocks of all chains. */
		async passTime(seconds: number): Promise<void> {
			await solana.admin.passTime({ seconds });
			for (const { testClient } of [chains.origin, chains.destination]) {
				await testClient.increaseTime({ seconds });
			}
			await follow();
		},
	};

	/** Follows the chains until all that happened is final and booked. */
	async function follow(): Promise<void> {
		await noteSigned(database.owner, actions.fills);
		await actions.finalize();
		const common = {
			pool: database.pools.worker,
			engine: { poke: async () => {} },
			relayers: [],
			log: createLog({ level: "silent", process: "test" }),
		};
		for (const chain of [chains.origin, chains.destination]) {
			while (await advance({ ...common, chain: connectChain(chain) }));
		}
		// The first round finds strangers' transactions, and the second books them.
		for (let round = 0; round < 2; round++) {
			await on.finalize();
			// A head that was just updated is not written again if there is no news.
			await database.owner.query("update chain_heads set updated_at = now() - interval '1 day'");
			while (await advanceSolana({ ...common, chain: on.chain }));
		}
	}

	function check(options: Partial<ReconcileOptions> = {}): Promise<Report> {
		return reconcile({
			pool: database.pool,
			chains: [chains.origin, chains.destination],
			solana,
			earlierAttesterSets: [],
			nowMs: Date.now(),
			...options,
		});
	}

	async function audit(): Promise<Report> {
		await follow();
		return check();
	}

	async function insertSwap(order: Order, status: string, deliveredAmount?: bigint): Promise<void> {
		await database.owner.query(
			`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, status, delivered_amount, ended_at,
				moves)
			values ($1, $2, $3, 0, 0, '{}', $4, $5, case when $4 <> 'pending' then now() end, case $4
				when 'settled' then '{opening,deposited,delivering,settled}'::text[]
				when 'refunded' then '{opening,deposited,refunding,refunded}'
				when 'failed' then '{opening,failed}' else '{opening}' end)`,
			[
				fromSwapKey(order.swapKey),
				hexToBytes(orderId(order)),
				orderToJson(order),
				status,
				deliveredAmount ?? null,
			],
		);
		await insertWait(database.owner, { swapId: fromSwapKey(order.swapKey), orderId: orderId(order) });
	}

	/** Records a transaction, then sends it, as a lane does. */
	async function send(
		kind: JobKind | "close",
		order: Order | undefined,
		signed: SignedTransaction,
	): Promise<SignedTransaction> {
		const job = order && { swapId: fromSwapKey(order.swapKey), kind, orderId: orderId(order) };
		if (job && order) {
			await database.owner.query(
				`insert into jobs (swap_id, kind, chain_id, order_id, order_terms, state, priority)
				values ($1, $2, $3, $4, $5, 'sent', 0) on conflict do nothing`,
				[job.swapId, kind, chainId, hexToBytes(job.orderId), orderToJson(order)],
			);
		}
		await database.owner.query(
			`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas,
				last_valid_height, state, sent_at_block)
			values ($1, $2, $3, 0, $4, $5, $6, $7, 0, 1000000, 'broadcast', 0)`,
			[
				chainId,
				hexToBytes(toSolanaWord(on.feePayer.address)),
				++nonce,
				hexToBytes(signed.signature),
				hexToBytes(signed.raw),
				kind,
				JSON.stringify(job ? [job] : []),
			],
		);
		await on.land(signed);
		return signed;
	}
}

export type SolanaAuditScene = Awaited<ReturnType<typeof createSolanaAuditScene>>;

function keyOf({ message, orderId: id }: Breach): string {
	return `${message} ${id}`;
}
