import { attesterSetHash } from "@geoswap/protocol";
import { bytesToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { connectChain } from "../src/chain/evm/connect-chain.ts";
import { connectSolana } from "../src/chain/solana/connect-solana.ts";
import { evmChains, solanaChain } from "../src/config/chain-config.ts";
import { createDesk } from "../src/desk/create-desk.ts";
import { deskChains } from "../src/desk/desk-chain.ts";
import { createPriceCache } from "../src/desk/price/price-cache.ts";
import { refundWorth } from "../src/desk/refund-worth.ts";
import { pokeAtOnce } from "../src/durable/poke-targets.ts";
import type { WorkerChain } from "../src/process/connect-worker-chains.ts";
import { evmWorkerChain, solanaWorkerChain } from "../src/process/connect-worker-chains.ts";
import type { Log } from "../src/telemetry/log.ts";
import { createSimEvmChain, type SimEvmChain } from "./evm/create-sim-evm-chain.ts";
import { hideDeposits, honest, type Lie, misplaceDeposits } from "./lie.ts";
import {
	type AttesterName,
	attesterNames,
	type ChainName,
	chainNames,
	type ProcessName,
	type ProviderName,
	type WorkerName,
	workerNames,
} from "./plan.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";
import { type SeededRandom, seededRandom } from "./seeded-random.ts";
import { createSimAttester } from "./sim-attester.ts";
import type { SimChain } from "./sim-chain.ts";
import { pace, simConfig } from "./sim-config.ts";
import { holdCrypto, rememberSigners } from "./sim-crypto.ts";
import type { DatabaseFault, SimDatabase, WorldDatabase } from "./sim-database.ts";
import { createSimEngine, type PokeFault, type SimEngine } from "./sim-engine.ts";
import { createSimNode, type NodeFault, type SimNode } from "./sim-node.ts";
import { simPrices } from "./sim-prices.ts";
import { createSimProcess, type SimProcess } from "./sim-process.ts";
import { createSimWallets, type SimWallets } from "./sim-wallets.ts";
import { startSimWorker } from "./sim-worker.ts";
import { createSimSolanaChain, type SimSolanaChain } from "./solana/create-sim-solana-chain.ts";
import { createWorldRecord, type WorldRecord } from "./world-record.ts";

/** The faults in force at this moment. `scheduleFaults` sets them. */
type Troubles = {
	rpc: (chain: ChainName, of: "workers" | "attesters", provider: ProviderName) => NodeFault;
	database: (worker: string) => DatabaseFault;
	pokes: () => PokeFault;
	isEngineDown: () => boolean;
	attester: (name: AttesterName) => "down" | "slow" | undefined;
	skewMs: Map<ProcessName, number>;
	holdBack: (chain: ChainName, transactionHash: string) => boolean;
	priceOffBps: number;
	/** The answers of the workers' nodes of EVM chains. */
	workerNodes: Lie;
	/** Workers that die as soon as a node has taken a transaction from them. */
	dieAtBroadcast: Set<string>;
};

export type World = {
	scheduler: Scheduler;
	startMs: number;
	chains: Readonly<Record<ChainName, SimChain>>;
	evm: Readonly<Record<"east" | "west", SimEvmChain>>;
	solana: SimSolanaChain;
	relayers: Readonly<Record<"east" | "west", ReturnType<typeof privateKeyToAccount>[]>>;
	config: ReturnType<typeof simConfig>;
	database: WorldDatabase;
	engine: SimEngine;
	wallets: SimWallets;
	troubles: Troubles;
	random: SeededRandom;
	workers: Map<WorkerName, SimProcess>;
	startWorker: (name: WorkerName) => void;
	/** Returns a connection to a chain that is never wrong, for observers outside the world. */
	truth: (chain: ChainName) => SimNode;
	/** Signatures of attesters by order, each as `<attester> Release` or `<attester> Refund`. */
	signed: Map<string, Set<string>>;
	tell: (who: string, what: string) => void;
	figures: { calls: number; wallMs: number };
	trace: string[];
	record: WorldRecord;
	noteReorg: () => void;
	noteRestore: () => void;
	eventCount: () => number;
	/** True if strangers act in the world. Escrows and vaults may then hold more than anyone owns. */
	hasStrangers: boolean;
};

/** The time at which every world begins. */
export const worldStartMs = Date.UTC(2030, 0, 1, 12);

export const relayersPerChain = 2;

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
	const troubles: Troubles = {
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

	// Keys are the same in every world. Only what happens differs.
	const keys = seededRandom("keys");
	const newAccount = () => privateKeyToAccount(bytesToHex(keys.bytes(32)));
	const attesterAccounts = attesterNames.map(newAccount);
	const set = {
		threshold: 2,
		attesters: attesterAccounts
			.map(({ address }) => address)
			.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)),
	};
	const attesterSet = { ...set, hash: attesterSetHash(set) };
	const relayers = { east: accounts(), west: accounts() };
	function accounts() {
		return Array.from({ length: relayersPerChain }, newAccount);
	}
	const evmChain = (name: "east" | "west", chainId: number) =>
		createSimEvmChain({
			chainId,
			name,
			startMs: worldStartMs,
			finalityBlocks: pace.evm.finalityBlocks,
			attesterSet,
			relayers: relayers[name].map(({ address }) => address),
		});
	const evm = { east: await evmChain("east", 31_337), west: await evmChain("west", 31_338) };
	const solana = await scheduler.during(
		createSimSolanaChain({
			startMs: worldStartMs,
			random: random.fork("solana"),
			finalitySlots: pace.solana.finalitySlots,
			attesterSet,
		}),
	);
	const chains: Record<ChainName, SimChain> = { ...evm, solana };
	const config = simConfig({ chains: [evm.east.deployment, evm.west.deployment], solana: solana.deployment });

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
	const nodeRandom = random.fork("nodes");
	/**
	 * Each attester has one provider, and only the first attester's lies. Solana's first provider never lies to workers.
	 */
	const lieOf = (
		name: ChainName,
		of: "workers" | "attesters",
		process: SimProcess | undefined,
		provider: ProviderName,
	): Lie => {
		if (of === "attesters" && process?.name !== attesterNames[0]) return honest;
		if (of === "attesters" || provider === "second") return hideDeposits(name === "solana" ? name : "evm");
		return name === "solana" ? honest : misplaceDeposits(() => wallets.swaps);
	};
	const nodeOf = (
		name: ChainName,
		of: "workers" | "attesters",
		process: SimProcess | undefined,
		provider: ProviderName = "first",
	) =>
		createSimNode({
			chain: chains[name],
			process,
			scheduler,
			random: nodeRandom,
			// An attester has one provider, regardless of which of the two the fault is for.
			faultOf: () =>
				troubles.rpc(name, of, provider) ??
				(of === "attesters" ? troubles.rpc(name, of, "second") : undefined),
			lie: lieOf(name, of, process, provider),
			twist: (...call) => (of === "workers" && name !== "solana" ? troubles.workerNodes : honest)(...call),
			figures,
			onBroadcast: (params) => {
				if (process) noteSent({ name, chain: chains[name], process: process.name, params });
				if (!process || !troubles.dieAtBroadcast.delete(process.name)) return;
				tell(process.name, "dies after a broadcast");
				process.die();
			},
		});
	const rpcUrl = "http://node.invalid";
	const bothOf = <T>(make: (name: "east" | "west") => T) => ({ east: make("east"), west: make("west") });
	const connectAll = (
		process: SimProcess | undefined,
		of: "workers" | "attesters",
		provider?: ProviderName,
	) => ({
		evm: bothOf((name) => {
			const { chainId, deployment } = evm[name];
			const transport = nodeOf(name, of, process, provider).evm;
			return connectChain({ chainId, rpcUrl, deployment, transport });
		}),
		solana: connectSolana({
			rpcUrl,
			deployment: solana.deployment,
			transport: nodeOf("solana", of, process, provider).solana,
		}),
	});
	const clockOf = (name: ProcessName) => () => scheduler.nowMs() + (troubles.skewMs.get(name) ?? 0);

	const priceCache = createPriceCache({
		...config.price,
		solana: solanaChain(config),
		chains: evmChains(config).map(({ deployment }) => deployment),
	});
	const uuids = random.fork("uuids");
	const desk = createDesk({
		config,
		priceCache,
		nowMs: scheduler.nowMs,
		random: (size) => uuids.bytes(size),
	});
	const pricedChains = deskChains(config);
	const updatePrices = () => {
		for (const chain of Object.values(evm)) {
			priceCache.update(
				simPrices({
					deployment: chain.deployment,
					solana: solana.deployment,
					nowMs: scheduler.nowMs(),
					blockNumber: chain.heights().latest,
					offBps: troubles.priceOffBps,
				}),
				{ nowMs: scheduler.nowMs() },
			);
		}
	};

	/** Refers to a swap by its place in the plan, as readers of a trace know it. */
	const nameOf = (uuid: unknown) => {
		const swap = wallets.swaps.find((candidate) => candidate.uuid === uuid);
		return swap ? `#${swap.index}` : uuid;
	};
	const signed: World["signed"] = new Map();
	const attesters = attesterNames.map((name, i) => {
		const process = createSimProcess({ name });
		const account = attesterAccounts[i] as ReturnType<typeof newAccount>;
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
	type Connected = ReturnType<typeof connectAll>;
	const workerChains = (first: Connected, second: Connected): WorkerChain[] =>
		config.chains.map((terms) => {
			if (terms.kind === "solana") {
				const { keys } = solana;
				return solanaWorkerChain({
					config: terms,
					chain: first.solana,
					keys,
					agreeing: [
						{ host: "first", chain: first.solana },
						{ host: "second", chain: second.solana },
					],
				});
			}
			const name = terms.chainId === evm.east.chainId ? "east" : "west";
			return evmWorkerChain({
				config: terms,
				chain: first.evm[name],
				accounts: relayers[name],
				agreeing: [
					{ host: "first", chain: first.evm[name] },
					{ host: "second", chain: second.evm[name] },
				],
			});
		});
	function startWorker(name: WorkerName): void {
		const process = createSimProcess({ name });
		workers.set(name, process);
		tell(name, "starts");
		startSimWorker({
			process,
			config,
			chains: workerChains(connectAll(process, "workers"), connectAll(process, "workers", "second")),
			pool: worldDatabase.poolOf(process, "worker"),
			engine,
			attesters: attesters.map((attester) => attester(process)),
			worthOf: (order) => refundWorth(order, { chains: pricedChains, priceCache, nowMs: scheduler.nowMs() }),
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
