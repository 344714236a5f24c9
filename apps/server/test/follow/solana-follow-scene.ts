import { setTimeout as sleep } from "node:timers/promises";
import { fromSwapKey, type Order, orderId, toSolanaWord } from "@geoswap/protocol";
import type { KeyPairSigner } from "@solana/kit";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import { expect } from "vitest";
import { readHoldings } from "../../src/chain/solana/read/read-holdings.ts";
import { readSlots } from "../../src/chain/solana/read/read-slots.ts";
import { advanceSolana } from "../../src/follow/solana/advance-solana.ts";
import { readHead } from "../../src/swap/due/chain-head.ts";
import { createLog, type Log } from "../../src/telemetry/log.ts";
import {
	createSolanaScene,
	depositOrder,
	devnetWallet,
	mintOf,
	payoutOrder,
	type SolanaScene,
} from "../lane/solana-lane-scene.ts";
import { takeDue, waitForOrder } from "../swap/due-orders.ts";
import { solanaOrderActions } from "./solana-order-actions.ts";

export type SolanaFollowScene = Awaited<ReturnType<typeof createSolanaFollowScene>>;

type Terms = Partial<Order> & { symbol?: string };

/** Creates a Solana chain with fast finality, a database, and a follower that looks when it is told to. */
export async function createSolanaFollowScene() {
	const scene: SolanaScene = await createSolanaScene({ slotMs: 40, finalitySlots: 12 });
	const { chain, pool, solana } = scene;
	const { chainId, deployment } = chain;
	const actions = solanaOrderActions(scene);
	const wallet: KeyPairSigner = await devnetWallet(scene);
	const walletWord = toSolanaWord(wallet.address);
	const poked: { key: string; dedupeKey: string | undefined }[] = [];

	/** Looks at the chain once. `before` makes something happen right before the call of that number. */
	function follow({
		markerSeconds = 1_000,
		outflowCaps = {},
		before,
		through = chain,
		log = createLog({ level: "silent", process: "test" }),
	}: {
		markerSeconds?: number;
		outflowCaps?: Record<string, string>;
		before?: { call: number; happens: () => Promise<void> };
		/** The nodes to read from. */
		through?: SolanaScene["chain"];
		log?: Log;
	} = {}): Promise<boolean> {
		return advanceSolana({
			chain: before ? { ...through, rpc: interrupted(through.rpc, before) } : through,
			pool,
			engine: {
				poke: async ({ object, key }, { dedupeKey } = {}) => {
					if (object !== "round") poked.push({ key, dedupeKey });
				},
			},
			relayers: [actions.relayer],
			outflowCaps,
			markerSeconds,
			log,
		});
	}

	const head = () => readHead(pool, chainId);
	const deposit = (given: Terms = {}) => depositOrder(scene, { wallet: walletWord, ...given });

	/** Returns an account's balances by the ledger, by token, without zero balances. */
	async function booked(account: string): Promise<Map<Hex, bigint>> {
		const { rows } = await pool.query<{ token: Buffer; sum: bigint }>(
			`select token, sum(amount) as sum from entries where chain_id = $1 and account = $2
			group by token having sum(amount) <> 0 order by token`,
			[chainId, account],
		);
		return new Map(rows.map(({ token, sum }) => [bytesToHex(token), sum]));
	}

	await follow();
	return {
		...scene,
		admin: solana.admin,
		actions,
		wallet,
		walletWord,
		poked,
		follow,
		head,
		deposit,
		booked,
		payout: (given: Terms = {}) => payoutOrder(scene, { recipient: walletWord, ...given }),
		/** Returns an order from USDC to USDT. */
		onOneChain: (given: Terms = {}) =>
			deposit({
				destinationChainId: BigInt(chainId),
				destinationVault: toSolanaWord(deployment.vault),
				outputToken: toSolanaWord(mintOf(chain, "USDT")),
				recipient: walletWord,
				...given,
			}),

		/** Makes the next look write whatever it sees. */
		async forgetLook(): Promise<void> {
			await pool.query("update chain_heads set updated_at = now() - interval '2 seconds'");
		},

		/** Follows until everything that has landed by now is final and in the books. */
		async followToEnd(): Promise<void> {
			const { confirmed } = await readSlots(chain);
			while (((await head())?.bookedNumber ?? 0) < confirmed.slot) {
				await this.forgetLook();
				await follow();
				await sleep(20);
			}
		},

		async eventsOf(order: Order): Promise<{ name: string; data: Record<string, unknown> }[]> {
			const { rows } = await pool.query(
				`select name, data, block_number, transaction_hash from chain_events
				where order_id = $1 order by block_number, log_index`,
				[hexToBytes(orderId(order))],
			);
			return rows;
		},

		async namesOf(order: Order): Promise<string[]> {
			return (await this.eventsOf(order)).map(({ name }) => name);
		},

		async jobOf(order: Order, kind: string): Promise<Record<string, unknown> | undefined> {
			const { rows } = await pool.query(
				"select state, strikes, reason from jobs where swap_id = $1 and kind = $2",
				[fromSwapKey(order.swapKey), kind],
			);
			return rows[0];
		},

		async transactionOf({ signature }: { signature: Hex }): Promise<Record<string, unknown>> {
			const { rows } = await pool.query(
				"select state, block_number, gas_cost from lane_transactions where hash = $1",
				[hexToBytes(signature)],
			);
			return rows[0] ?? {};
		},

		/** Returns the orders whose swaps are due. */
		takeDue: async () => (await takeDue(pool)).orderIds,
		async wait(order: Order): Promise<void> {
			await waitForOrder(pool, order);
		},

		async unattributedCount(): Promise<number> {
			const { rows } = await pool.query("select from postings where name = 'unattributed'");
			return rows.length;
		},

		/** Expects the books to match the chain to the unit, and the balances kept beside the entries to say the same. */
		async expectBooksToMatch(): Promise<void> {
			const held = await readHoldings(chain, { commitment: "finalized" });
			for (const [account, holdings] of [
				["escrow", held.escrow],
				["stock", held.vault],
			] as const) {
				const sums = await booked(account);
				for (const [token, amount] of holdings) expect(sums.get(token) ?? 0n).toBe(amount);
				const { rows } = await pool.query<{ token: Buffer; balance: bigint }>(
					"select token, balance from ledger_balances where account = $1 and balance <> 0",
					[account],
				);
				expect(new Map(rows.map(({ token, balance }) => [bytesToHex(token), balance]))).toEqual(sums);
			}
		},
	};
}

function interrupted(
	rpc: SolanaScene["chain"]["rpc"],
	{ call, happens }: { call: number; happens: () => Promise<void> },
): SolanaScene["chain"]["rpc"] {
	let calls = 0;
	return new Proxy(rpc, {
		get: (target, method) => {
			const ask: unknown = Reflect.get(target, method);
			if (typeof ask !== "function") return ask;
			return (...args: unknown[]) => ({
				send: async () => {
					if (calls++ === call) await happens();
					return ask(...args).send();
				},
			});
		},
	});
}
