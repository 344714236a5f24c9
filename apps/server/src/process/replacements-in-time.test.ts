import { loadavg } from "node:os";
import { toWord } from "@geoswap/protocol";
import { parseGwei, parseTransaction } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { delegatedWallet, queueSignedRemoval } from "../../test/lane/delegation-removal.ts";
import {
	createLaneScene,
	type LaneScene,
	newOrder,
	newWallet,
	queueWork,
	signOp,
} from "../../test/lane/lane-scene.ts";
import { startLane } from "../../test/lane/start-lane.ts";
import type { EvmChain } from "../chain/evm/connect-chain.ts";
import { readEpoch } from "../chain/evm/wallet/read-wallet.ts";
import { advance } from "../follow/evm/advance.ts";
import { createLog } from "../telemetry/log.ts";

const isFull = Boolean(process.env.GEOSWAP_FULL);
const log = createLog({ level: "silent", process: "test" });

/**
 * Chains with the paces of the presets, in which a transaction is replaced after about ten seconds, or five blocks.
 */
const paces = [
	{ blockMs: 250, replaceAfterBlocks: 40, opens: isFull ? 30 : 2, removals: isFull ? 20 : 2 },
	{ blockMs: 2_000, replaceAfterBlocks: 5, opens: isFull ? 30 : 2, removals: isFull ? 50 : 2 },
	...(isFull ? [{ blockMs: 12_000, replaceAfterBlocks: 5, opens: 8, removals: 50 }] : []),
];

/**
 * The head from which ages are counted: the chain's, read after each send, or the stored one. A lane that does not
 * read the chain's head follows the second rule.
 */
type Rule = "chain's head" | "stored head";
/** On an idle chain, the stored head is older than a transaction may wait when the first transaction is sent. */
type Demand = "idle" | "busy";

describe.each(paces)("with a block every $blockMs ms", ({ blockMs, replaceAfterBlocks, ...counts }) => {
	let scene: LaneScene;
	/** Transactions sent to the node, in order, with the chain's newest block before and after each. */
	const offers: { nonce: number; raw: string; before: number; after: number }[] = [];
	beforeAll(async () => {
		scene = await createLaneScene({ blockMs });
	});
	afterAll(() => scene.stop());

	test("no transaction is replaced before its time, on an idle chain or a busy one, and none pays more because of it", {
		timeout: 900_000,
	}, async () => {
		const results = [];
		for (const demand of ["idle", "busy"] as const) {
			for (const rule of ["stored head", "chain's head"] as const) {
				if (!isFull && rule === "stored head") continue;
				results.push({ blockMs, demand, rule, ...(await sendOpens(rule, demand)) });
			}
		}
		print(results);
		for (const { rule, early, opened } of results) {
			expect(opened).toBe(counts.opens);
			if (rule === "chain's head") expect(early).toBe(0);
		}
		// The rule of the stored head must replace some transactions too early. At four blocks a second, or on a busy
		// machine, a transaction may be mined before the follower has caught up, so that only many opens show it.
		const [idle] = results;
		if (isFull && blockMs >= 2_000) expect(idle?.early).toBeGreaterThan(0);
	});

	test("every removal of a delegation on an idle chain lands, with the revocation before it", {
		timeout: 900_000,
	}, async () => {
		const sent = await sendRemovals();
		print([{ blockMs, ...sent }]);
		expect(sent).toMatchObject({ landed: counts.removals, early: 0 });
	});

	async function sendOpens(rule: Rule, demand: Demand) {
		const { pool, chains, origin } = scene;
		const worker = startWorker(rule);
		const wallets = [];
		for (let i = 0; i < counts.opens; i++) wallets.push(await newWallet(scene));
		await chains.origin.testClient.mine({ blocks: 1 });
		await worker.follow();
		offers.length = 0;
		const swapIds = [];
		for (const wallet of wallets) {
			if (demand === "idle") await missBlocks();
			const order = await newOrder(scene, { wallet: toWord(wallet.address), openSeconds: 600n });
			const op = await signOp(scene, { order, wallet, authorize: true });
			swapIds.push(await queueWork(pool, order, { kind: "open", payload: { op } }));
			await worker.run();
			if (demand === "idle") await worker.settle();
		}
		await worker.settle();
		const { rows } = await pool.query<{ opened: number; fees: bigint }>(
			`select count(*)::int as opened, coalesce(sum(gas_cost), 0)::numeric as fees from lane_transactions t
			where chain_id = $1 and state in ('mined', 'final') and kind = 'open' and block_number is not null
				and exists (select from jsonb_array_elements(jobs) job where (job->>'swapId')::uuid = any($2))`,
			[origin.chainId, swapIds],
		);
		const { opened = 0, fees = 0n } = rows[0] ?? {};
		return { opened, ...countReplaced(), gweiPerOpen: Number(fees / BigInt(counts.opens)) / 1e9 };
	}

	async function sendRemovals() {
		const { chains, owner, origin } = scene;
		const worker = startWorker("chain's head");
		await worker.follow();
		offers.length = 0;
		let landed = 0;
		for (let i = 0; i < counts.removals; i++) {
			const wallet = await delegatedWallet(chains.origin);
			await missBlocks();
			await queueSignedRemoval(owner, origin, { wallet });
			await worker.run();
			// A slow chain mines its next block after a few runs of the lane.
			await worker.settle({ blockAfterLooks: blockMs > 2_000 ? 5 : undefined });
			const isRemoved = !(await chains.origin.publicClient.getCode({ address: wallet.address }));
			// The revocation precedes the removal, and may be replaced by a plain cancel just as well.
			if (isRemoved && (await readEpoch(origin, wallet.address)) === 1n) landed++;
		}
		return { removals: counts.removals, landed, ...countReplaced() };
	}

	/** Lets the chain mine more blocks than a transaction may wait, which the follower does not read. */
	async function missBlocks(): Promise<void> {
		// A node that must mine many blocks for one request may take longer than the client waits.
		for (let left = replaceAfterBlocks + 2; left > 0; left -= 7) {
			await scene.chains.origin.testClient.mine({ blocks: 7 });
		}
	}

	/** Starts a follower and a lane of the origin chain. The follower's pokes reach the lane immediately. */
	function startWorker(rule: Rule) {
		const { pool, chains, origin, relayers } = scene;
		const accounts = relayers.slice(0, 1);
		const run = startLane(scene, noting(origin, rule), {
			policy: { replaceAfterBlocks },
			accounts,
			tipNow: () => parseGwei("1"),
			log,
		});
		const engine = {
			poke: async ({ object }: { object: string }) => {
				if (object === "lane") await run();
			},
		};
		const following = { chain: origin, pool, engine, relayers: accounts.map((one) => one.address), log };
		const follow = async () => {
			while (await advance(following));
		};
		/** Follows the chain and runs the lane until nothing is in flight. */
		const settle = async ({ blockAfterLooks }: { blockAfterLooks?: number | undefined } = {}) => {
			let looks = 0;
			const look = async () => {
				await advance(following);
				await run();
				if (++looks === blockAfterLooks) await chains.origin.testClient.mine({ blocks: 1 });
				const { rows } = await pool.query(
					`select from jobs where chain_id = $1 and state in ('queued', 'sent')
					union all select from lane_transactions where chain_id = $1 and state in ('signed', 'broadcast')
						and nonce > all(select nonce from lane_transactions
							where chain_id = $1 and state in ('mined', 'final'))`,
					[origin.chainId],
				);
				return rows.length;
			};
			await expect.poll(look, { interval: 50, timeout: 60_000 }).toBe(0);
		};
		return { run, follow, settle };
	}

	/** Records what the lane sends to the node. */
	function noting(chain: EvmChain, rule: Rule): EvmChain {
		const blockNow = async () => Number(await chain.client.getBlockNumber({ cacheTime: 0 }));
		const request = async (call: { method: string; params?: unknown }) => {
			if (call.method === "eth_blockNumber" && rule === "stored head") return "0x0";
			if (call.method !== "eth_sendRawTransaction") return chain.client.request(call as never);
			const [raw] = call.params as [`0x${string}`];
			const { nonce = 0 } = parseTransaction(raw);
			const before = await blockNow();
			const result = await chain.client.request(call as never);
			offers.push({ nonce, raw, before, after: await blockNow() });
			return result;
		};
		return { ...chain, client: { ...chain.client, request } as typeof chain.client };
	}

	/** Counts the replacements, and those before the transaction had waited long enough. */
	function countReplaced(): { replaced: number; early: number } {
		let replaced = 0;
		let early = 0;
		for (const [i, offer] of offers.entries()) {
			const last = offers.slice(0, i).findLast(({ nonce }) => nonce === offer.nonce);
			if (!last || last.raw === offer.raw) continue;
			replaced++;
			if (offer.before - last.after < replaceAfterBlocks) early++;
		}
		return { replaced, early };
	}
});

function print(results: readonly object[]): void {
	const load = loadavg()
		.map((average) => average.toFixed(1))
		.join(" ");
	for (const result of results) console.log(JSON.stringify(result), `load average ${load}`);
}
