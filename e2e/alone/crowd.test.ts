import type { TestChain } from "@geoswap/devnet";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { countStatuses, type PlannedSwap, planSwap } from "../caller/mixed-swaps.ts";
import { swapThrough } from "../caller/swap-through.ts";
import { blocksPass } from "../chain/blocks-pass.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import type { RpcCounts } from "../measure/rpc-counter.ts";
import { ownEnvironment } from "../own-environment.ts";
import { sendTransaction, signDelegation } from "../wallet/send-bundle.ts";

const walletCount = 100;
const swapsPerWallet = 3;
/** The other wallets send their authorization along. */
const delegatedBefore = walletCount * 0.8;
const idleBlocks = 5n;
const decidedWithinMs = 180_000;

type Window = { blocks: number; calls: RpcCounts };

const environmentOf = ownEnvironment({
	countCalls: true,
	// One account sends all requests concurrently.
	configure: (config) => ({
		...config,
		api: {
			...(config.api as object),
			rates: { quote: 1_000, build: 1_000, submit: 1_000, delegation: 1_000, status: 1_000 },
			heldStatusCalls: walletCount * swapsPerWallet,
		},
		// As in production, a wallet's discount is read once in this time, so that each read can be counted.
		feeDiscount: { ...(config.feeDiscount as object), cacheSeconds: 3_600 },
	}),
});

test("300 concurrent swaps all settle with exact balances, are sent in bundles, and need few calls to the nodes", async () => {
	const environment = environmentOf();
	const { origin, destination, deployment: pins, keys, client, databaseUrl } = environment;
	const chains = [origin, destination];
	const crowd = await Promise.all(
		Array.from({ length: walletCount }, async (_, i) => {
			const plans = Array.from({ length: swapsPerWallet }, () => planSwap(environment, i));
			const [{ from }] = plans as [PlannedSwap, ...PlannedSwap[]];
			const account = await environment.newWallet({
				...from,
				amount: from.amount * BigInt(swapsPerWallet),
			});
			return { account, plans, chain: from.chain };
		}),
	);
	const stranger = privateKeyToAccount(keys.relayers.at(-1) ?? "0x");
	await Promise.all(
		chains.map((chain) =>
			delegateAll(
				chain,
				stranger,
				crowd.slice(0, delegatedBefore).flatMap((one) => (one.chain === chain ? one.account : [])),
			),
		),
	);

	const idle = await Promise.all(
		chains.map((chain) => countCalls(chain, () => blocksPass(chain, idleBlocks))),
	);
	const startedAt = performance.now();
	const swapping = Promise.all(
		crowd.flatMap(({ account, plans }) => plans.map((plan) => swapThrough({ client, pins, account }, plan))),
	);
	const busy = await Promise.all(chains.map((chain) => countCalls(chain, () => swapping)));
	const swaps = await swapping;
	console.log(`decided in ${Math.round(performance.now() - startedAt)} ms:`, countStatuses(swaps));
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	console.log(`ended in ${Math.round(performance.now() - startedAt)} ms`);
	await expectExact(environment, swaps);

	expect(countStatuses(swaps)).toEqual({ settled: walletCount * swapsPerWallet, failed: 0, refunded: 0 });

	const bundles = await readBundles(databaseUrl);
	console.table(bundles);
	for (const kind of ["open", "fill", "release"]) {
		expect(bundles.some((row) => row.kind === kind && row.largest > 1)).toBe(true);
	}
	for (const [i, { chainId }] of chains.entries()) {
		const swapsFrom = swaps.filter(({ from }) => from.chain.chainId === chainId).length;
		const transactions = bundles
			.filter((row) => row.chainId === chainId)
			.reduce((sum, row) => sum + row.transactions, 0);
		console.log({ chainId, swapsFrom, transactions, idle: idle[i], busy: busy[i] });
		// The wallets' balances of the discount token are read on one chain, regardless of where they swap from.
		const discountReads = chainId === origin.chainId ? walletCount : 0;
		expectFewCalls({ idle: idle[i], busy: busy[i], swapsFrom, transactions, discountReads });
	}

	/** Counts the services' calls of each method during `run`, and the blocks that it took. */
	async function countCalls(chain: TestChain, run: () => Promise<unknown>): Promise<Window> {
		const state = () => Promise.all([environment.rpcCounts(chain), chain.publicClient.getBlockNumber()]);
		const [countsBefore, blockBefore] = await state();
		await run();
		const [countsAfter, blockAfter] = await state();
		const calls = Object.entries(countsAfter).map(([method, count]) => [
			method,
			count - (countsBefore[method] ?? 0),
		]);
		return { blocks: Number(blockAfter - blockBefore), calls: Object.fromEntries(calls) };
	}
});

/**
 * Expects that following a chain costs the same for any number of swaps, and that each swap and transaction costs few
 * calls.
 */
function expectFewCalls({
	idle = { blocks: 0, calls: {} },
	busy = { blocks: 0, calls: {} },
	swapsFrom,
	transactions,
	discountReads,
}: {
	idle: Window | undefined;
	busy: Window | undefined;
	/** Number of swaps with this origin chain. */
	swapsFrom: number;
	transactions: number;
	discountReads: number;
}): void {
	const follows = ([method]: [string, number]) => /^eth_getBlock|^eth_getLogs$/.test(method);
	const count = (calls: [string, number][]) => calls.reduce((sum, [, calls]) => sum + calls, 0);
	const inBusy = Object.entries(busy.calls);
	const idlePerBlock = count(Object.entries(idle.calls)) / idle.blocks;
	expect(count(inBusy.filter(follows))).toBeLessThanOrEqual(1.5 * idlePerBlock * busy.blocks);
	// Build and submit read code, nonces and balances, and simulate. Sending simulates, and attesters read.
	expect(count(inBusy.filter((call) => !follows(call)))).toBeLessThanOrEqual(
		idlePerBlock * busy.blocks + 12 * swapsFrom + 6 * transactions + discountReads,
	);
	expect(busy.calls.eth_sendRawTransaction).toBeLessThanOrEqual(1.2 * transactions);
}

async function readBundles(
	databaseUrl: string,
): Promise<{ chainId: number; kind: string; transactions: number; largest: number; jobs: number }[]> {
	const database = await connectDatabase(databaseUrl);
	try {
		return await database.query(
			`select chain_id::int as "chainId", kind, count(*)::int as transactions,
				max(jsonb_array_length(jobs)) as largest, sum(jsonb_array_length(jobs))::int as jobs
			from lane_transactions group by chain_id, kind order by chain_id, kind`,
		);
	} finally {
		await database.end();
	}
}

/** Delegates all wallets in one transaction, paid by an account with gas. */
async function delegateAll(
	chain: TestChain,
	account: PrivateKeyAccount,
	wallets: readonly PrivateKeyAccount[],
): Promise<void> {
	const authorizationList = await Promise.all(wallets.map((wallet) => signDelegation(chain, wallet)));
	await sendTransaction({ chain, account, to: account.address, authorizationList });
}
