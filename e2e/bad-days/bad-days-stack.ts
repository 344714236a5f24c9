import { dirname } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { OwnEnvironment } from "../environment/environment.ts";
import { ownEnvironment } from "../own-environment.ts";
import { type FaultyProvider, startFaultyProvider } from "../trouble/faulty-provider.ts";
import { type Prometheus, startPrometheus } from "./start-prometheus.ts";

/** A stack that Prometheus scrapes, and whose chains have providers that can fail. */
export type BadDaysStack = {
	environment: OwnEnvironment;
	prometheus: Prometheus;
	/** The providers of the first and of the second EVM chain. */
	providers: { origin: FaultyProvider[]; destination: FaultyProvider[] };
	/** The folder with configuration, logs and data. */
	dataDir: string;
};

const providersPerChain = 3;
const agreeAboveUsd = 50;
/** Half a block. The nodes announce new blocks by websocket, too. */
const pollMs = 500;

/** Starts a stack for the days of one file. */
export function badDaysStack(options: Parameters<typeof ownEnvironment>[0] = {}): () => BadDaysStack {
	const { configure = (config) => config } = options;
	const providers: FaultyProvider[][] = [];
	beforeAll(async () => {
		for (const _ of ["origin", "destination"]) {
			providers.push(await Promise.all(Array.from({ length: providersPerChain }, startFaultyProvider)));
		}
	});
	const environmentOf = ownEnvironment({
		...options,
		configure: ({ chains, ...config }) =>
			configure({
				...config,
				// Operators run it like this. Logging and tracing everything takes processor time, and the days are timed.
				logLevel: "info",
				telemetry: {},
				audit: { ...config.audit, everySeconds: 20, confirmSeconds: 2 },
				chains: Object.fromEntries(
					Object.entries(chains).map(([chainId, chain], i) => {
						const [{ url: target }] = chain.nodes as [{ url: string }];
						const nodes = (providers[i] ?? []).map(({ url, setTarget }) => {
							setTarget(target);
							return { url, webSocketUrl: url.replace("http", "ws") };
						});
						return [chainId, { ...chain, nodes, agreeAboveUsd, pollMs }];
					}),
				),
			}),
	});
	let stack: BadDaysStack | undefined;
	beforeAll(async () => {
		const environment = environmentOf();
		const { logDir, metricsUrls } = environment;
		const dataDir = dirname(logDir);
		const prometheus = await startPrometheus({ dataDir, logDir, metricsUrls });
		const [origin = [], destination = []] = providers;
		stack = { environment, prometheus, providers: { origin, destination }, dataDir };
	});
	afterAll(async () => {
		await stack?.prometheus.stop();
		await Promise.all(providers.flat().map((provider) => provider.stop()));
	});
	return () => {
		if (!stack) throw new Error("the stack is not up");
		return stack;
	};
}
