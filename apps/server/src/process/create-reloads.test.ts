import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Config } from "../config/config.ts";
import { createReloads } from "./create-reloads.ts";
import type { Generation } from "./start-generation.ts";

const addresses = {
	typedDelegate: "0xe0",
	delegate: "0xd0",
	earlierDelegates: [],
	escrow: "0xe1",
	earlierEscrows: [],
	vault: "0xf0",
	earlierVaults: [],
};

/** Returns a configuration with these chains, each with these tokens. */
function configOf(tokens: Record<number, readonly string[]>, { port = 1 } = {}): Config {
	const chains = Object.entries(tokens).map(([chainId, symbols]) => ({
		kind: "evm",
		chainId: Number(chainId),
		deployment: {
			contracts: addresses,
			attesterSet: { hash: "0xa0" },
			assets: symbols.map((symbol) => ({ symbol, address: `0x${symbol}` })),
		},
	}));
	return { api: { port }, chains, earlierAttesterSets: [] } as unknown as Config;
}

type Fake = Generation & { isEnded: boolean };

function setUp(first: Config, { deadTokens = new Set<string>(), patienceMs = 60_000 } = {}) {
	const started: Fake[] = [];
	const start = (config: Config): Fake => {
		const generation = {
			config,
			desk: { isLive: ({ token }: { token: string }) => isFirst(config) || !deadTokens.has(token) },
			isEnded: false,
			end: async () => {
				generation.isEnded = true;
			},
		} as unknown as Fake;
		started.push(generation);
		return generation;
	};
	const isFirst = (config: Config) => config === first;
	const file = { config: first };
	const stopping = new AbortController();
	const answered = Promise.withResolvers<void>();
	const served: Generation[] = [];
	const lines: { level: number; msg: string; err?: { message: string } }[] = [];
	const reloads = createReloads({
		path: "geoswap.json",
		first: start(first),
		read: () => file.config,
		start: async (config) => start(config),
		switchTo: (next) => {
			served.push(next);
			return answered.promise;
		},
		patienceMs,
		nowMs: Date.now,
		signal: stopping.signal,
		log: pino({ level: "info" }, { write: (line) => void lines.push(JSON.parse(line)) }),
	});
	onTestFinished(() => stopping.abort());
	const said = (text: string) => vi.waitUntil(() => lines.find(({ msg }) => msg.includes(text)));
	return { reloads, file, started, served, answered, deadTokens, stopping, said };
}

test("a reload waits for the prices of new assets, switches, and ends the generation before once it has answered", async () => {
	const deadTokens = new Set(["0xORB"]);
	const scene = setUp(configOf({ 1: ["USDC"] }), { deadTokens });
	scene.file.config = configOf({ 1: ["USDC", "ORB"], 2: ["USDC"] });
	scene.reloads.reload();
	await vi.waitUntil(() => scene.started.length === 2);
	expect(scene.served).toEqual([]);
	deadTokens.clear();
	await scene.said("the configuration was reloaded");
	expect(scene.reloads.current()).toBe(scene.started[1]);
	expect(scene.served).toEqual([scene.started[1]]);
	expect(scene.started[0]?.isEnded).toBe(false);
	scene.answered.resolve();
	await vi.waitUntil(() => scene.started[0]?.isEnded);
	expect(scene.reloads.problem()).toBeUndefined();
});

test("a field that needs a restart is refused by its name, and the configuration before stays in use", async () => {
	const scene = setUp(configOf({ 1: ["USDC"] }));
	scene.file.config = configOf({ 1: ["USDC", "ORB"] }, { port: 2 });
	scene.reloads.reload();
	const refused = await scene.said("was not reloaded");
	expect(refused?.err?.message).toContain("api.port: has changed, and needs a restart");
	expect([scene.started.length, scene.served.length]).toEqual([1, 0]);
	expect(scene.reloads.problem()).toMatch(/the last reload was refused/);
	scene.file.config = configOf({ 1: ["USDC", "ORB"] });
	scene.reloads.reload();
	await scene.said("the configuration was reloaded");
	expect(scene.reloads.problem()).toBeUndefined();
});

test("a configuration with which an asset would no longer be quoted is refused, and its generation ends", async () => {
	const scene = setUp(configOf({ 1: ["USDC"] }), { deadTokens: new Set(["0xUSDC"]), patienceMs: 100 });
	scene.file.config = configOf({ 1: ["USDC", "ORB"] });
	scene.reloads.reload();
	const refused = await scene.said("was not reloaded");
	expect(refused?.err?.message).toContain("there is no price of USDC on 1");
	expect(scene.reloads.current()).toBe(scene.started[0]);
	expect(scene.started.map(({ isEnded }) => isEnded)).toEqual([false, true]);
});

test("a new asset that gets no price holds up nothing but itself", async () => {
	const scene = setUp(configOf({ 1: ["USDC"] }), { deadTokens: new Set(["0xORB"]), patienceMs: 100 });
	scene.file.config = configOf({ 1: ["USDC", "ORB"] });
	scene.reloads.reload();
	await scene.said("new assets have no price yet");
	await scene.said("the configuration was reloaded");
});

test("a signal during a reload reads the file once more after it; one that stops ends what was begun", async () => {
	const deadTokens = new Set(["0xORB"]);
	const scene = setUp(configOf({ 1: ["USDC"] }), { deadTokens });
	scene.file.config = configOf({ 1: ["USDC", "ORB"] });
	for (let i = 0; i < 3; i++) scene.reloads.reload();
	await vi.waitUntil(() => scene.started.length === 2);
	deadTokens.clear();
	await vi.waitUntil(() => scene.served.length === 2);
	expect(scene.started).toHaveLength(3);

	deadTokens.add("0xNEW");
	scene.file.config = configOf({ 1: ["USDC", "ORB", "NEW"] });
	scene.reloads.reload();
	await vi.waitUntil(() => scene.started.length === 4);
	scene.answered.resolve();
	scene.stopping.abort();
	await scene.reloads.end();
	expect(scene.started.map(({ isEnded }) => isEnded)).toEqual([true, true, true, true]);
	expect(scene.served).toHaveLength(2);
});
