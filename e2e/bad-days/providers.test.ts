import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, onTestFinished, test } from "vitest";
import { type FaultyProvider, startFaultyProvider } from "../trouble/faulty-provider.ts";
import { badDaysStack } from "./bad-days-stack.ts";
import { liveThrough } from "./live-through.ts";

const stackOf = badDaysStack();

/** A provider that is not in the configuration at first. */
let spare: FaultyProvider;
beforeAll(async () => {
	spare = await startFaultyProvider();
	spare.setTarget(stackOf().environment.destination.rpcUrl);
});
afterAll(() => spare?.stop());

const always = async () => true;

type Fault = NonNullable<Parameters<FaultyProvider["setFault"]>[0]>;

test("when one of three providers is down, swaps continue without it", async () => {
	const { stack, faulty, setFault, chain } = day({ fault: "is down", count: 1 });
	await liveThrough(stack, {
		name: "A provider is down",
		how: "one of three providers of a chain breaks every connection",
		alert: "GeoswapNodeFails",
		labels: { chain },
		break: setFault,
		follow: async (page) => {
			await page.run("curl", { RPC_URL: faulty[0]?.url ?? "" }, { exitCode: 52 });
			await page.step("replace the node in `nodes` of the chain", replaceNodes);
		},
		isOver: always,
	});
});

test("when all providers of a chain are down, swaps wait or are refunded, and another provider ends the incident", async () => {
	const { stack, faulty, setFault, chain } = day({ fault: "is down", count: 3 });
	await liveThrough(stack, {
		name: "All providers of a chain are down",
		how: "all providers of a chain break every connection",
		alert: "GeoswapNodesDown",
		labels: { chain },
		break: setFault,
		follow: async (page) => {
			await page.run("geoswapd config check", {}, { exitCode: 1 });
			await page.run("curl", { RPC_URL: faulty[0]?.url ?? "" }, { exitCode: 52 });
			await page.step("Add a node of another provider to `nodes`", replaceNodes);
		},
		isOver: always,
	});
});

test("when a provider returns a false receipt, nothing is paid because of it", async () => {
	const { stack, setFault, chain } = day({ fault: "lies about a receipt", count: 1 });
	await liveThrough(stack, {
		name: "A provider lies",
		how: "one of three providers denies a transaction of ours: no events, and a receipt that says it failed",
		alert: "GeoswapNodeContradicts",
		labels: { chain },
		break: setFault,
		follow: async (page) => {
			await page.run("promtool query instant");
			await page.step("Take the node out of `nodes` of the chain", replaceNodes);
			await page.run("geoswapd reconcile");
		},
		isOver: always,
	});
});

test("when a provider limits the service's calls, swaps continue through the others", async () => {
	const { stack, setFault, chain } = day({ fault: "limits", count: 1 });
	await liveThrough(stack, {
		name: "A provider limits",
		how: "one of three providers answers 429 with `retry-after: 1`",
		alert: "GeoswapNodeLimits",
		labels: { chain },
		break: setFault,
		follow: async (page) => {
			await page.run("promtool query instant");
			await page.step("Raise the plan with the provider", async () => heal());
		},
		isOver: always,
	});
});

/** Prepares a day on which the first providers of the destination chain are faulty. */
function day({ fault, count }: { fault: Fault; count: number }) {
	const stack = stackOf();
	const faulty = stack.providers.destination.slice(0, count);
	onTestFinished(restore);
	return {
		stack,
		faulty,
		chain: String(stack.environment.destination.chainId),
		setFault: async () => {
			for (const provider of faulty) provider.setFault(fault);
		},
	};
}

function heal(): void {
	for (const provider of stackOf().providers.destination) provider.setFault(undefined);
}

/** Replaces the faulty providers by two others, and makes the processes use these. */
async function replaceNodes(): Promise<void> {
	const { environment, providers } = stackOf();
	const isFaulty = (url: string) =>
		providers.destination.some((provider) => provider.url === url && provider.fault() !== undefined);
	await useNodes((nodes) => [
		...nodes.filter(({ url }) => !isFaulty(url)),
		{ url: environment.destination.rpcUrl },
		{ url: spare.url },
	]);
}

/** Ends all faults, and goes back to the original providers. */
async function restore(): Promise<void> {
	heal();
	const { providers } = stackOf();
	await useNodes(() =>
		providers.destination.map(({ url }) => ({ url, webSocketUrl: url.replace("http", "ws") })),
	);
}

type ConfiguredNode = { url: string; webSocketUrl?: string };

async function useNodes(change: (nodes: ConfiguredNode[]) => ConfiguredNode[]): Promise<void> {
	const { environment } = stackOf();
	const { api, worker } = environment.stack.processes;
	const file = environment.serverEnvironment.GEOSWAP_CONFIG ?? "";
	const config = JSON.parse(readFileSync(file, "utf8"));
	const chain = config.chains[environment.destination.chainId];
	chain.nodes = change(chain.nodes);
	writeFileSync(file, JSON.stringify(config, null, "\t"));
	for (const process of [api, worker]) {
		await process.stop();
		await process.start();
	}
}
