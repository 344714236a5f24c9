import { randomBytes } from "node:crypto";
import { type DevIris, startIris, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { pino } from "pino";
import { type Address, bytesToHex, type Hex, type LocalAccount } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { connectChain, type EvmChain } from "../../src/chain/evm/connect-chain.ts";
import type { DatabasePool } from "../../src/database/database.ts";
import { laneKey } from "../../src/durable/poke-targets.ts";
import { advance, type Following } from "../../src/follow/evm/advance.ts";
import { createLane } from "../../src/lane/evm/create-lane.ts";
import {
	type NewMove,
	queueMove,
	readMoves,
	type TreasuryMove,
} from "../../src/money/move/treasury-moves.ts";
import { advanceMoves } from "../../src/treasury/advance-moves.ts";
import { laneDeps } from "../lane/start-lane.ts";
import { createTestDatabase } from "../service/test-database.ts";

const log = pino({ level: "silent" });

export type ActingScene = {
	chains: TestChains;
	origin: EvmChain;
	destination: EvmChain;
	iris: DevIris;
	pool: DatabasePool;
	/** A pool with all rights. */
	owner: DatabasePool;
	treasurer: PrivateKeyAccount;
	/** How far the service's clock, and that of Iris, is ahead. */
	aheadMs: number;
	/** Follows both chains to their newest blocks. */
	follow: () => Promise<void>;
	/** Moves all rows on, and runs the treasurers' lanes that it pokes, unless they are held back. */
	look: (options?: { withLanes?: boolean }) => Promise<void>;
	runLane: (chain: EvmChain) => Promise<void>;
	/** Makes the newest blocks of both chains final. */
	makeFinal: () => Promise<void>;
	/** Queues a bridge from the origin to the destination, or the move that the changes describe. */
	queue: (changes?: Partial<NewMove>) => Promise<string>;
	move: (id: string) => Promise<TreasuryMove & { problem: string | null }>;
	stop: () => Promise<void>;
};

const blocksToFinality = 5;

/** Starts two chains with Circle's contracts, Iris, a database, and what a worker runs for the treasury. */
export async function createActingScene({
	signing,
}: {
	/** Returns the treasurer's account on each chain, whose key may be elsewhere. By default it is here. */
	signing?: (chains: TestChains) => Promise<(chainId: number) => LocalAccount>;
} = {}): Promise<ActingScene> {
	const [chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	const { pool, owner } = database;
	const both = [chains.origin, chains.destination];
	const iris = await startIris({ chains: both, now: () => nowMs() });
	const connect = ({ chainId, rpcUrl, deployment }: TestChain) =>
		connectChain({ chainId, rpcUrl, deployment });
	const [origin, destination] = [connect(chains.origin), connect(chains.destination)];
	const connected = [origin, destination];
	const treasurer = privateKeyToAccount(chains.keys.treasurer);
	const accountOn = (await signing?.(chains)) ?? (() => treasurer);
	const nowMs = () => Date.now() + scene.aheadMs;
	const laneOf = (chain: EvmChain) =>
		createLane({
			...laneDeps({ pool }),
			nowMs,
			chain,
			policy: { bundleSize: 1, replaceAfterBlocks: 50, minimumTipWei: "1000000", finalitySeconds: 5 },
			accounts: [],
			treasurer: accountOn(chain.chainId),
		});
	const following = (chain: EvmChain): Following => ({
		chain,
		pool,
		engine: { poke: async () => {} },
		relayers: [],
		payers: [treasurer.address],
		log,
	});
	const scene: ActingScene = {
		chains,
		origin,
		destination,
		iris,
		pool,
		owner,
		treasurer,
		aheadMs: 0,
		follow: async () => {
			for (const chain of connected) while (await advance(following(chain)));
		},
		look: async ({ withLanes = true } = {}) => {
			const poked = new Set<number>();
			await advanceMoves({
				pool,
				chainOf: (chainId) => connected.find((chain) => chain.chainId === chainId),
				iris: { url: iris.url, timeoutMs: 2_000 },
				pokeTreasurer: async (chainId) => void poked.add(chainId),
				nowMs,
				log,
			});
			if (!withLanes) return;
			for (const chain of connected) if (poked.has(chain.chainId)) await scene.runLane(chain);
		},
		// A new lane each time, as after a restart.
		runLane: (chain) => laneOf(chain)(laneKey({ chainId: chain.chainId, relayer: treasurer.address })),
		makeFinal: async () => {
			for (const { testClient } of both) await testClient.mine({ blocks: blocksToFinality });
		},
		queue: async (changes) => {
			const { contracts, settlementToken, cctp } = origin.deployment;
			const id = await queueMove(pool, {
				kind: "bridge",
				chainId: origin.chainId,
				holder: contracts.vault,
				token: settlementToken,
				amount: 1_000_000_000n,
				address: cctp?.routes[destination.chainId] as Address,
				toChainId: destination.chainId,
				toToken: destination.deployment.settlementToken,
				minReceived: 1_000_000_000n,
				moveId: randomId(),
				nth: 0,
				data: { maxFee: "0", minFinalityThreshold: 2_000 },
				reason: "the destination lacks 1,000 USDC",
				dueAtMs: nowMs() + 3_600_000,
				...changes,
			});
			if (!id) throw new Error("the move was not queued");
			return id;
		},
		move: async (id) => {
			const [move] = await readMoves(pool, "id = $1", [id]);
			if (!move) throw new Error(`no move ${id}`);
			const { rows } = await pool.query<{ problem: string | null }>(
				"select problem from treasury_moves where id = $1",
				[id],
			);
			return { ...move, problem: rows[0]?.problem ?? null };
		},
		stop: async () => {
			await iris.stop();
			await chains.stop();
			await database.drop();
		},
	};
	return scene;
}

/** Returns an id that no move has. */
export function randomId(): Hex {
	return bytesToHex(randomBytes(32));
}
