import { setTimeout as sleep } from "node:timers/promises";
import {
	fromSolanaWord,
	fromSwapKey,
	inputAddress,
	type Order,
	orderAddress,
	orderId,
	packDeadlines,
	recordAddress,
	toSolanaWord,
} from "@geoswap/protocol";
import type { KeyPairSigner } from "@solana/kit";
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { bytesToHex, type Hex, hexToBytes, zeroHash } from "viem";
import { expect } from "vitest";
import { readOrders } from "../../src/chain/solana/program/read-orders.ts";
import { readAccounts } from "../../src/chain/solana/read/read-accounts.ts";
import { readHoldings } from "../../src/chain/solana/read/read-holdings.ts";
import { readSlots } from "../../src/chain/solana/read/read-slots.ts";
import { advanceSolana } from "../../src/follow/solana/advance-solana.ts";
import { readRelayers } from "../../src/money/ledger/relayers.ts";
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

/**
 * Creates a Solana chain with fast finality, a database, and a follower that reads the chain when a test requests it.
 */
export async function createSolanaFollowScene() {
	const scene: SolanaScene = await createSolanaScene({ slotMs: 40, finalitySlots: 12 });
	const { chain, pool, solana } = scene;
	const { chainId, deployment } = chain;
	const { admin } = solana;
	const actions = solanaOrderActions(scene);
	const wallet: KeyPairSigner = await devnetWallet(scene);
	const walletWord = toSolanaWord(wallet.address);
	const poked: { key: string; dedupeKey: string | undefined }[] = [];

	/** Reads the chain once. `before` makes something happen right before the call of that number. */
	function follow({
		before,
		through = chain,
		compares = true,
		log = createLog({ level: "silent", process: "test" }),
	}: {
		before?: { call: number; happens: () => Promise<void> };
		/** The nodes to read from. */
		through?: SolanaScene["chain"];
		/** Whether this run compares orders and rents with their accounts, which finds third parties' changes. */
		compares?: boolean;
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
			memory: compares ? {} : { comparedAtMs: Date.now() },
			log,
		});
	}

	const head = () => readHead(pool, chainId);
	let secondsAhead = 0;
	/** Returns deadlines by the chain's clock. */
	function deadlines(): Order["deadlines"] {
		const openDeadline = BigInt(Math.floor(Date.now() / 1_000) + secondsAhead) + 600n;
		const [fillDeadline, refundAfter] = [openDeadline + 600n, openDeadline + 1_200n];
		return packDeadlines({ openDeadline, fillDeadline, refundAfter });
	}
	async function passTime(seconds: number): Promise<void> {
		secondsAhead += seconds;
		await admin.passTime({ seconds });
	}
	const deposit = (given: Terms = {}) =>
		depositOrder(scene, { wallet: walletWord, deadlines: deadlines(), ...given });

	/** Returns an account's balances by the ledger, by token, without zero balances. */
	async function booked(account: string): Promise<Map<Hex, bigint>> {
		const { rows } = await pool.query<{ token: Buffer; sum: bigint }>(
			`select token, sum(amount) as sum from entries where chain_id = $1 and account = $2
			group by token having sum(amount) <> 0 order by token`,
			[chainId, account],
		);
		return new Map(rows.map(({ token, sum }) => [bytesToHex(token), sum]));
	}

	/** Reads the inputs in the accounts of orders, and the other lamports in accounts of orders and records. */
	async function readAccountsOfOrders(): Promise<{ inputs: Map<Hex, bigint>; lamports: bigint }> {
		const { rows } = await pool.query<{ order_id: Buffer }>(
			"select distinct order_id from chain_events where order_id is not null",
		);
		const orderIds = rows.map((row) => bytesToHex(row.order_id));
		const { address } = deployment.program;
		const places = await Promise.all(
			orderIds.map((id) =>
				Promise.all([orderAddress(address, id), inputAddress(address, id), recordAddress(address, id)]),
			),
		);
		const [orders, { accounts }] = await Promise.all([
			readOrders(chain, { orderIds, commitment: "finalized" }),
			readAccounts(chain, places.flat(), { commitment: "finalized" }),
		]);
		const inputs = new Map<Hex, bigint>();
		// The System program owns the address of a closed account that received something later.
		const open = accounts.filter((account) => account?.program !== SYSTEM_PROGRAM_ADDRESS);
		let lamports = open.reduce((sum, account) => sum + (account?.lamports ?? 0n), 0n);
		for (const order of orders) {
			if (!order || order.isPaid) continue;
			const token = toSolanaWord(order.token);
			inputs.set(token, (inputs.get(token) ?? 0n) + order.inputAmount);
			if (token === zeroHash) lamports -= order.inputAmount;
		}
		return { inputs: new Map([...inputs].sort(([one], [other]) => (one < other ? -1 : 1))), lamports };
	}

	await follow();
	return {
		...scene,
		admin,
		actions,
		wallet,
		walletWord,
		poked,
		follow,
		passTime,
		head,
		deposit,
		booked,
		payout: (given: Terms = {}) =>
			payoutOrder(scene, { recipient: walletWord, deadlines: deadlines(), ...given }),
		/** Returns an order from USDC to USDT. */
		onOneChain: (given: Terms = {}) =>
			deposit({
				destinationChainId: BigInt(chainId),
				destinationVault: toSolanaWord(deployment.program.vault),
				outputToken: toSolanaWord(mintOf(chain, "USDT")),
				recipient: walletWord,
				...given,
			}),

		/**
		 * Passes the time after which an order's account, or also its record, may be closed, and the time after which
		 * the follower expects that the worker has done so.
		 */
		async passUntilClosable(what: "order" | "record"): Promise<void> {
			const seconds = what === "order" ? 700 : 2_000 + 86_400;
			await passTime(seconds);
			// The database keeps its own time.
			await pool.query(
				`update rents set closable_at = now() - interval '20 minutes'
				where returned_at is null and account = any($1)`,
				[what === "order" ? ["order"] : ["order", "record"]],
			);
		},

		/** Makes the next run write everything that it reads. */
		async forgetLook(): Promise<void> {
			await pool.query("update chain_heads set updated_at = now() - interval '2 seconds'");
		},

		/** Follows until everything that has landed by now is final and in the books. */
		async followToEnd(look: { compares?: boolean } = {}): Promise<void> {
			const { confirmed } = await readSlots(chain);
			// The follower reads events before they are final and once they are. In between it would only compute.
			await this.forgetLook();
			await follow(look);
			await actions.finalized();
			while (((await head())?.bookedNumber ?? 0) < confirmed.slot) {
				await this.forgetLook();
				await follow(look);
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
				"select state, failures, reason from jobs where swap_id = $1 and kind = $2",
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

		/**
		 * Expects the books to match the chain to the unit, in the vault, the inputs of open orders, and the rent in accounts
		 * of the program. Expects the balances kept beside the entries to be the same.
		 */
		async expectBooksToMatch(): Promise<void> {
			const others = (await readRelayers(pool, chain.chainId)).map(fromSolanaWord);
			const { vault, lamports: gas } = await readHoldings(chain, { commitment: "finalized", others });
			const inventory = await booked("inventory");
			for (const [token, amount] of vault) expect(inventory.get(token) ?? 0n).toBe(amount);
			expect((await booked("relayer")).get(zeroHash) ?? 0n).toBe(gas);
			const { rows } = await pool.query<{ token: Buffer; balance: bigint }>(
				"select token, balance from ledger_balances where balance <> 0 and account = 'inventory'",
			);
			expect(new Map(rows.map(({ token, balance }) => [bytesToHex(token), balance]))).toEqual(inventory);
			const { inputs, lamports } = await readAccountsOfOrders();
			expect(await booked("escrow")).toEqual(inputs);
			expect((await booked("locked")).get(zeroHash) ?? 0n).toBe(lamports);
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
