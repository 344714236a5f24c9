import { setTimeout as sleep } from "node:timers/promises";
import { serverCommand } from "@geoswap/devnet";
import { geoVaultAbi } from "@geoswap/protocol";
import { erc20Abi, hexToBytes, parseAbi } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import type { OwnEnvironment } from "../environment/environment.ts";
import { expectBooksAgree } from "../expect/expect-books-agree.ts";
import { ownEnvironment } from "../own-environment.ts";
import { seededRandom } from "../trouble/seeded-random.ts";

/** At full size two parts with different seeds make 500. */
const { bridges, killEvery } = process.env.GEOSWAP_FULL
	? { bridges: 250, killEvery: 5 }
	: { bridges: 12, killEvery: 1 };
/** The worker is killed right after a row got into one of these states, each in turn. */
const killStates = ["queued", "sent", "moved", "attested", "minting", "arrived"] as const;
const seed = Number(process.env.GEOSWAP_SEED ?? 1);

const environmentOf = ownEnvironment({
	rhythm: { blockMs: 250 },
	treasury: {
		mode: "act",
		planSeconds: 1,
		// Moves of 2,000 USD, as many as the demand below asks for.
		policy: { maxMovePercent: 2, netFeeCentibps: 100_000, minBenefitPercent: 100, maxImpactBps: 0 },
	},
	configure: (config) => ({
		...config,
		chains: Object.fromEntries(
			Object.entries(config.chains as Record<string, object>).map(([id, chain]) => [
				id,
				{ ...chain, inventoryTargetUsd: 50_000 },
			]),
		),
	}),
});
const transmitterAbi = parseAbi([
	"event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)",
]);

let environment: OwnEnvironment;
let database: DatabaseConnection;
beforeAll(async () => {
	environment = environmentOf();
	database = await connectDatabase(environment.databaseUrl);
});
afterAll(() => database?.end());

type Row = { id: string; kind: string; state: string; hash: string | null; problem: string | null };
const readRows = () =>
	database.query<Row>(
		`select id, kind, state, '0x' || encode(transaction_hash, 'hex') as hash, problem from treasury_moves
		where move_id is not null order by created_at`,
	);
const readBridges = async () => (await readRows()).filter(({ kind }) => kind === "bridge");
const isOver = ({ state }: Row) => ["final", "failed", "cancelled"].includes(state);

/** Lets one vault lack inventory, as if its chain had sold much in the last minute. */
async function ask(chain: OwnEnvironment["origin"]): Promise<void> {
	await database.query("delete from demand");
	await database.query(
		"insert into demand (chain_id, token, minute, outflow) values ($1, $2, date_trunc('minute', now()), $3)",
		[chain.chainId, hexToBytes(chain.deployment.settlementToken), String(9_000_000n * 1_000_000n)],
	);
}

/** What both vaults hold, and the blocks in which they hold it. */
async function heldByVaults(): Promise<{ amount: bigint; blocks: Map<number, bigint> }> {
	const blocks = new Map<number, bigint>();
	let amount = 0n;
	for (const { chainId, publicClient, deployment } of [environment.origin, environment.destination]) {
		const blockNumber = await publicClient.getBlockNumber({ cacheTime: 0 });
		blocks.set(chainId, blockNumber);
		amount += await publicClient.readContract({
			address: deployment.settlementToken,
			abi: erc20Abi,
			functionName: "balanceOf",
			args: [deployment.contracts.vault],
			blockNumber,
		});
	}
	return { amount, blocks };
}

test(`${bridges} moves between chains, with the worker killed at every step and Iris silent, wrong or down, lose nothing and happen once`, {
	timeout: 2_400_000,
}, async () => {
	const { origin, destination, iris, stack } = environment;
	const { worker } = stack.processes;
	const random = seededRandom(seed);
	// A move that is on its way here would be missing, so they are read before the first bridge can be.
	const before = await heldByVaults();
	const kills = new Map<string, number>();
	const lies = new Map<string, number>();
	const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
	let isOverAll = false;

	const asking = (async () => {
		for (let turn = 0; !isOverAll; turn++) {
			await ask(turn % 2 === 0 ? destination : origin);
			await sleep(1_000);
		}
	})();

	const seen = new Set<string>();
	async function lie(rows: readonly Row[]): Promise<void> {
		for (const { hash } of rows) {
			if (!hash || seen.has(hash)) continue;
			seen.add(hash);
			const isHonest = random.chance(0.7);
			if (isHonest) continue;
			const kind = random.pick(["silent", "forged", "wrong"] as const) ?? "silent";
			count(lies, kind);
			iris.moodOf.set(
				hash as `0x${string}`,
				kind === "wrong"
					? { wrong: (message) => `${message.slice(0, 300)}00${message.slice(302)}` as `0x${string}` }
					: kind,
			);
			void sleep(random.between(2_000, 8_000)).then(() => iris.moodOf.delete(hash as `0x${string}`));
		}
	}
	const failing = (async () => {
		while (!isOverAll) {
			await sleep(random.between(5_000, 20_000));
			const service = random.pick(["hung", "failing", "garbage", "endless", "limited"] as const) ?? "failing";
			count(lies, service);
			iris.service = service;
			await sleep(random.between(500, 3_000));
			iris.service = "up";
		}
		iris.service = "up";
	})();

	const startedAt = performance.now();
	let statesBefore = new Map<string, string>();
	let nextKill = killEvery;
	let target = 0;
	let rows: Row[] = [];
	let toldAt = 0;
	try {
		for (;;) {
			rows = await readBridges();
			await lie(rows);
			const ended = rows.filter(({ state }) => state === "final").length;
			if (ended >= bridges) break;
			if (ended >= toldAt + 25) {
				toldAt = ended;
				const seconds = Math.round((performance.now() - startedAt) / 1_000);
				console.log(
					`${ended} of ${bridges} after ${seconds} s, ${[...kills.values()].reduce((a, b) => a + b, 0)} kills`,
				);
			}
			const state = killStates[target % killStates.length];
			const isHit = rows.some((row) => row.state === state && statesBefore.get(row.id) !== state);
			statesBefore = new Map(rows.map((row) => [row.id, row.state]));
			if (state && isHit && rows.length >= nextKill) {
				worker.kill("SIGKILL");
				await worker.exited();
				count(kills, state);
				target++;
				nextKill = rows.length + killEvery;
				await worker.start();
			}
			await sleep(25);
		}
	} finally {
		isOverAll = true;
		await Promise.all([asking, failing]);
	}
	const why = ["--by", "test", "--reason", "the story ends"];
	await serverCommand(environment.serverEnvironment, ["treasury", "pause", ...why]);
	// A paused treasury signs no move that is only queued.
	for (const { id, state } of await readRows()) {
		if (state === "queued") {
			await serverCommand(environment.serverEnvironment, ["treasury", "cancel", id, ...why]);
		}
	}
	iris.moodOf.clear();
	await expect
		.poll(async () => (await readRows()).filter((row) => !isOver(row)), { timeout: 120_000 })
		.toEqual([]);
	rows = await readBridges();
	const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
	console.log(`${rows.length} bridges in ${minutes} minutes; seed ${seed}`, {
		states: Object.fromEntries(
			[...Map.groupBy(rows, ({ state }) => state)].map(([state, all]) => [state, all.length]),
		),
		problems: rows.flatMap(({ problem }) => problem ?? []),
		kills: Object.fromEntries(kills),
		lies: Object.fromEntries(lies),
	});

	const moveIds: string[] = [];
	let mints = 0;
	// The planner also sells what the vaults do not keep.
	let sold = 0n;
	for (const chain of [origin, destination]) {
		const { vault } = chain.deployment.contracts;
		const burned = await chain.publicClient.getContractEvents({
			address: vault,
			abi: geoVaultAbi,
			eventName: "Bridged",
			fromBlock: 0n,
		});
		moveIds.push(...burned.map(({ args }) => String(args.moveId)));
		const traded = await chain.publicClient.getContractEvents({
			address: vault,
			abi: geoVaultAbi,
			eventName: "Traded",
			fromBlock: (before.blocks.get(chain.chainId) ?? 0n) + 1n,
		});
		for (const { args } of traded) {
			if (args.tokenOut === chain.deployment.settlementToken) sold += args.amountOut ?? 0n;
			if (args.tokenIn === chain.deployment.settlementToken) sold -= args.amountIn ?? 0n;
		}
		const received = await chain.publicClient.getContractEvents({
			...(chain.deployment.cctp && { address: chain.deployment.cctp.messageTransmitter }),
			abi: transmitterAbi,
			eventName: "MessageReceived",
			fromBlock: 0n,
		});
		mints += received.length;
	}
	expect(new Set(moveIds).size).toBe(moveIds.length);
	const final = rows.filter(({ state }) => state === "final");
	expect(moveIds.length).toBe(final.length);
	expect(mints).toBe(final.length);
	expect((await heldByVaults()).amount).toBe(before.amount + sold);
	for (const state of killStates) expect(kills.get(state) ?? 0).toBeGreaterThan(0);
	await expectBooksAgree(expect, environment);
	const [bridge] = await database.query<{ sum: string }>(
		"select coalesce(sum(balance), 0)::text as sum from ledger_balances where account = 'bridge'",
	);
	expect(bridge?.sum).toBe("0");
	const reserved = await database.query("select from inventory where reserved <> 0");
	expect(reserved).toEqual([]);
});
