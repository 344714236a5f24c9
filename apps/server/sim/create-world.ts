import { bytesToHex, type PrivateKeyAccount } from "viem";
import { pokeAtOnce } from "../src/durable/poke-targets.ts";
import type { Log } from "../src/telemetry/log.ts";
import { connectSimChains } from "./connect-sim-chains.ts";
import { createSimChains } from "./create-sim-chains.ts";
import { createSimDesk } from "./create-sim-desk.ts";
import { honest } from "./lie.ts";
import { attesterNames, chainNames, type ProcessName, type WorkerName, workerNames } from "./plan.ts";
import { createScheduler } from "./scheduler.ts";
import { seededRandom } from "./seeded-random.ts";
import { createSimAttester } from "./sim-attester.ts";
import { pace } from "./sim-config.ts";
import { holdCrypto, rememberSigners } from "./sim-crypto.ts";
import type { SimDatabase } from "./sim-database.ts";
import { createSimEngine } from "./sim-engine.ts";
import { createSimProcess } from "./sim-process.ts";
import { createSimWallets } from "./sim-wallets.ts";
import { startSimWorker } from "./sim-worker.ts";
import { type World, worldStartMs } from "./world.ts";
import { createWorldRecord } from "./world-record.ts";

/**
 * Creates the world of a seed, in which the chains produce blocks and the service's workers, attesters and API run. It
 * has no faults and no swaps yet.
 */
export async function createWorld({
	seed,
	database,
	keepTrace,
}: {
	seed: number;
	database: SimDatabase;
	keepTrace: boolean;
}): Promise<World> {
	const random = seededRandom(seed);
	const trace: string[] = [];
	let events = 0;
	const scheduler = createScheduler({
		startMs: worldStartMs,
		onEvent: ({ name }) => {
			events++;
			if (keepTrace) trace.push(`${scheduler.nowMs() - worldStartMs} ${name}`);
		},
	});
	holdCrypto(scheduler);
	await rememberSigners();
	const tell = (who: string, what: string) => {
		if (keepTrace) trace.push(`${scheduler.nowMs() - worldStartMs} ${who}: ${what}`);
	};
	const troubles: World["troubles"] = {
		rpc: () => undefined,
		database: () => undefined,
		pokes: () => undefined,
		isEngineDown: () => false,
		attester: () => undefined,
		skewMs: new Map(),
		holdBack: () => false,
		priceOffBps: 0,
		workerNodes: honest,
		dieAtBroadcast: new Set(),
	};

	const { evm, solana, chains, relayers, attesterAccounts, config } = await createSimChains({
		scheduler,
		random: random.fork("solana"),
	});

	const worldDatabase = database.enter({
		scheduler,
		random: random.fork("database"),
		faultOf: ({ name }) => troubles.database(name),
	});
	const engine = createSimEngine({
		scheduler,
		random: random.fork("engine"),
		pokeFault: () => troubles.pokes(),
		isDown: () => troubles.isEngineDown(),
		onRun: (line) => tell("engine", line),
	});
	const figures = { calls: 0, wallMs: 0 };
	const { record, noteSent, noteBlock, noteReorg, noteRestore } = createWorldRecord({ scheduler, database });
	const { nodeOf, connectAll, connectWorker } = connectSimChains({
		chains,
		evm,
		solana,
		relayers,
		config,
		scheduler,
		random: random.fork("nodes"),
		troubles,
		figures,
		swaps: () => wallets.swaps,
		noteSent,
		tell,
	});
	const clockOf = (name: ProcessName) => () => scheduler.nowMs() + (troubles.skewMs.get(name) ?? 0);

	const { desk, worthOf, updatePrices } = createSimDesk({
		config,
		evm,
		solana,
		scheduler,
		random: random.fork("uuids"),
		offBps: () => troubles.priceOffBps,
	});

	/** Refers to a swap by its place in the plan, as readers of a trace know it. */
	const nameOf = (uuid: unknown) => {
		const swap = wallets.swaps.find((candidate) => candidate.uuid === uuid);
		return swap ? `#${swap.index}` : uuid;
	};
	const signed: World["signed"] = new Map();
	const attesters = attesterNames.map((name, i) => {
		const process = createSimProcess({ name });
		const account = attesterAccounts[i] as PrivateKeyAccount;
		const seen = connectAll(process, "attesters");
		return createSimAttester({
			process,
			account,
			chains: Object.values(seen.evm),
			solana: seen.solana,
			scheduler,
			random: random.fork(name),
			nowMs: clockOf(name),
			faultOf: () => troubles.attester(name),
			onSigned: (kind, orderIds) => {
				for (const id of orderIds) signed.set(id, (signed.get(id) ?? new Set()).add(`${name} ${kind}`));
			},
			log: logOf(name, tell, nameOf),
		});
	});

	const workers: World["workers"] = new Map();
	const ids = random.fork("attestation ids");
	let starts = 0;
	function startWorker(name: WorkerName): void {
		const process = createSimProcess({ name });
		workers.set(name, process);
		tell(name, "starts");
		startSimWorker({
			process,
			config,
			chains: connectWorker(process),
			pool: worldDatabase.poolOf(process, "worker"),
			engine,
			attesters: attesters.map((attester) => attester(process)),
			worthOf,
			desk,
			scheduler,
			random: random.fork(`${name} ${starts++}`),
			nowMs: clockOf(name),
			newId: () => uuidOf(ids.bytes(16)),
			log: logOf(name, tell, nameOf),
		});
	}

	const api = createSimProcess({ name: "api" });
	const seen = connectAll(undefined, "workers");
	const wallets = createSimWallets({
		evm,
		solana,
		reached: { chains: Object.values(seen.evm), solana: seen.solana },
		config,
		desk,
		pool: worldDatabase.poolOf(api, "api"),
		engine: pokeAtOnce(engine.engineOf(api), logOf("api", tell, nameOf)),
		scheduler,
		random: random.fork("wallets"),
		tell: (line) => tell("api", line),
	});

	const every = (ms: number, name: string, run: () => void | Promise<void>) => {
		const again = async () => {
			await run();
			for (const chain of chainNames) noteBlock(chain, chains[chain]);
			scheduler.in(ms, name, again);
		};
		scheduler.in(ms, name, again);
	};
	for (const name of ["east", "west"] as const) {
		every(pace.evm.blockMs, `${name} block`, () =>
			evm[name].produce({
				atMs: scheduler.nowMs(),
				holdBack: (hash) => troubles.holdBack(name, hash),
			}),
		);
	}
	every(pace.solana.slotMs, "solana slot", () =>
		solana.produce({
			atMs: scheduler.nowMs(),
			holdBack: (hash) => troubles.holdBack("solana", hash),
		}),
	);
	updatePrices();
	every(3_000, "prices", updatePrices);
	for (const name of workerNames) startWorker(name);

	return {
		scheduler,
		startMs: worldStartMs,
		chains,
		evm,
		solana,
		relayers,
		config,
		engine,
		wallets,
		troubles,
		random,
		workers,
		startWorker,
		signed,
		tell,
		figures,
		trace,
		record,
		noteReorg,
		noteRestore,
		database: worldDatabase,
		truth: (chain) => nodeOf(chain, "workers", undefined),
		eventCount: () => events,
		hasStrangers: false,
	};
}

/** Returns a log that writes into the trace. */
function logOf(name: string, tell: World["tell"], nameOf: (uuid: unknown) => unknown): Log {
	const write = (level: string) => (told: unknown, text?: string) => {
		const { swapId, err, problem, givingUp, refused } = (
			typeof told === "object" && told ? told : {}
		) as Record<string, unknown>;
		const reasons = [
			...(givingUp ? [`gives up: ${givingUp}`] : []),
			...(Array.isArray(refused) ? [`refused ${refused.join(", ")}`] : []),
		];
		const reason = reasons.length > 0 ? `(${reasons.join("; ")})` : problem;
		const why = err instanceof Error ? err.message.split("\n")[0] : reason;
		tell(
			name,
			[level, swapId && nameOf(swapId), text ?? (typeof told === "string" ? told : ""), why]
				.filter(Boolean)
				.join(" "),
		);
	};
	return {
		info: write(""),
		warn: write("warns:"),
		error: write("ERROR:"),
		debug: () => {},
		trace: () => {},
	} as unknown as Log;
}

function uuidOf(bytes: Uint8Array): string {
	const hex = bytesToHex(bytes).slice(2);
	return [
		hex.slice(0, 8),
		hex.slice(8, 12),
		`4${hex.slice(13, 16)}`,
		`8${hex.slice(17, 20)}`,
		hex.slice(20),
	].join("-");
}
