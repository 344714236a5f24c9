import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
	portSource,
	type ServiceProcess,
	serverCommand,
	startAddedChain,
	type TestChain,
} from "@geoswap/devnet";
import { type Deployment, formatDeployment, withChainDeployment } from "@geoswap/protocol";
import { type Client, getChains, getQuote, getTokens } from "@geoswap/sdk";
import { parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { countingClient } from "../caller/counting-client.ts";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import { apiBeside } from "../environment/api-beside.ts";
import type { OwnEnvironment } from "../environment/environment.ts";
import { startBalancer } from "../environment/start-balancer.ts";
import { newestWorker, startWorkerBeside } from "../environment/start-worker-beside.ts";
import { ownEnvironment } from "../own-environment.ts";

const streamCount = 50;
const addedChainId = 31339;
const addedToken = "ORB";
const amount = parseUnits("45", 6);
/** A worker reads a new chain from the first block of its contracts, beside the load, before it quotes it. */
const patienceMs = 300_000;

let whole: Deployment | undefined;
/** Longer than the balancer takes to notice that a process stops. */
const drain = { seconds: 2, checkMs: 400 };

const environmentOf = ownEnvironment({
	publish: (deployment) => {
		whole = deployment;
		return withoutToken(deployment);
	},
	configure: (config) => ({
		...config,
		api: { ...(config.api as object), drainSeconds: drain.seconds, trustedProxies: ["127.0.0.1"] },
	}),
});

test("no call fails while a token and a third chain are added with 50 swaps in flight, and the chain is removed again", async () => {
	const environment = environmentOf();
	const { origin, destination, stack, deployment: before } = environment;
	if (!whole) throw new Error("the environment has a deployment");
	const { chain: added, stop } = await startAddedChain(addedChainId);
	onTestFinished(stop);
	const after = withChainDeployment(whole, added.deployment);
	const originAfter = chainAfter(origin, after);

	let successor: ServiceProcess | undefined;
	onTestFinished(() => successor?.stop());
	const apis = await startApis(environment);
	const { client, counts } = countingClient({
		...(await environment.newClient()),
		baseUrl: apis.baseUrl,
	});
	const streams = startStreams(environment, { client, pins: before });
	onTestFinished(async () => {
		await streams.end().catch(() => {});
	});
	await expect.poll(streams.inFlight, { timeout: patienceMs }).toBe(streamCount);

	// The wrong order. The API has the new chain and token before any other process, lists them and quotes neither.
	const files = writeFiles(environment, { after, added });
	await apis.restart();
	const entryOf = async () =>
		(await getChains(client)).chains.find(({ chainId }) => chainId === addedChainId);
	await expect
		.poll(entryOf, { timeout: patienceMs })
		.toMatchObject({ live: false, paused: "no worker has followed the chain yet" });
	const tokenOf = async () =>
		(await getTokens(client, { chainId: origin.chainId })).tokens.find(({ symbol }) => symbol === addedToken);
	expect(await tokenOf()).toMatchObject({ live: false, paused: "no worker has followed this token yet" });
	const account = { address: privateKeyToAddress(generatePrivateKey()) };
	const usdc = { chain: origin, token: "USDC", amount };
	for (const intent of [
		swapIntent({ from: usdc, to: { chain: added, token: "USDC" }, account }),
		swapIntent({ from: usdc, to: { chain: originAfter, token: addedToken }, account }),
	]) {
		await expect(getQuote({ ...client, fetch }, intent)).rejects.toMatchObject({
			code: "NO_ROUTE",
			details: { reason: "paused" },
		});
	}

	for (const attester of stack.processes.attesters) {
		files.writeAttester(attester.name);
		await attester.stop();
		await attester.start();
	}
	successor = await startWorkerBeside(files.environment, { name: "worker-2" });
	const { worker: first } = stack.processes;
	await leave(first);
	await expect.poll(entryOf, { timeout: patienceMs }).toMatchObject({ live: true });
	await expect.poll(tokenOf, { timeout: patienceMs }).toMatchObject({ live: true });

	/** Returns what the command prints, even if it fails because the operator has to wait first. */
	const runCommand = (args: string[]) =>
		serverCommand(files.environment.serverEnvironment, args).catch((error: Error) => error.message);
	const orbs = parseUnits("18", 18);
	const swapNew = async (
		from: Parameters<typeof swapIntent>[0]["from"],
		to: { chain: TestChain; token: string },
	) => {
		const holder = await environment.newWallet({ ...from, chain: from.chain as TestChain });
		const caller = { client, pins: after, account: holder };
		return (await doSwap(caller, swapIntent({ from, to, account: holder }))).swap.status;
	};
	const statuses = await Promise.all([
		swapNew({ chain: originAfter, token: addedToken, amount: orbs }, { chain: added, token: "USDC" }),
		swapNew({ chain: added, token: "USDC", amount }, { chain: destination, token: "USDC" }),
		swapNew({ chain: added, token: "USDC", amount }, { chain: added, token: addedToken }),
		swapNew(usdc, { chain: originAfter, token: addedToken }),
	]);
	expect(statuses).toEqual(statuses.map(() => "settled"));

	// The chain is removed again while the swaps go on. First it is no longer quoted, and it is taken out once none of its
	// swaps is open.
	const remove = () => runCommand(["chain", "remove", String(addedChainId)]);
	expect(await remove()).toContain("is not quoted any more");
	await apis.restart();
	expect(await entryOf()).toBeUndefined();
	// It waits for every API to be restarted, and until no order that was quoted before can be opened.
	await expect.poll(remove, { timeout: 2 * patienceMs, interval: 5_000 }).toMatch(/^removed$/m);
	await apis.restart();
	// The engine sends swaps to the worker that started last.
	const successorUrl = await newestWorker(environment.adminUrl);
	await first.start();
	await expect.poll(() => newestWorker(environment.adminUrl), { timeout: patienceMs }).not.toBe(successorUrl);
	await leave(successor);

	const ended = await streams.end();
	console.log(
		`${ended.length} swaps, ${streamCount} in flight when the APIs were restarted, ${counts.calls} calls of which ${counts.failed.length} failed`,
	);
	expect(counts.failed).toEqual([]);
	expect(ended).toEqual(ended.map(() => "settled"));
	expect(JSON.parse(await runCommand(["reconcile", "--json"]))).toMatchObject({ ok: true, breaches: [] });
});

/** Sends SIGTERM once, and waits until the process has ended by itself. */
async function leave(process: ServiceProcess): Promise<void> {
	const exited = process.exited();
	process.kill("SIGTERM");
	expect(await exited).toBe("exit code 0");
}

/** Starts a second API process, and a balancer in front of both. */
async function startApis(
	environment: OwnEnvironment,
): Promise<{ baseUrl: string; restart: () => Promise<void> }> {
	const { api: first } = environment.stack.processes;
	const freePort = portSource();
	const name = "api-2";
	const port = await freePort();
	const second = apiBeside(environment, { name, port });
	onTestFinished(() => second.stop());
	await second.start();
	const apiPorts = [Number(new URL(environment.baseUrl).port), port];
	const balancer = await startBalancer(environment, {
		port: await freePort(),
		apiPorts,
		checkMs: drain.checkMs,
	});
	onTestFinished(() => balancer.stop());
	const configFile = environment.serverEnvironment.GEOSWAP_CONFIG ?? "";
	const secondFile = join(dirname(configFile), `${name}.json`);
	return {
		baseUrl: balancer.baseUrl,
		/** Restarts both, one after the other, with the current configuration. */
		restart: async () => {
			const { chains } = JSON.parse(readFileSync(configFile, "utf8"));
			const own = JSON.parse(readFileSync(secondFile, "utf8"));
			writeFileSync(secondFile, JSON.stringify({ ...own, chains }));
			for (const api of [first, second]) {
				await leave(api);
				await api.start();
			}
		},
	};
}

/** Swaps between the earlier chains, over and over, until `end` is called. Nothing is tried again. */
function startStreams(
	environment: OwnEnvironment,
	{ client, pins }: { client: Client; pins: Deployment },
): { inFlight: () => number; end: () => Promise<string[]> } {
	const { origin, destination, solana } = environment;
	let isOver = false;
	let inFlight = 0;
	const ways = [
		[origin, destination],
		[destination, origin],
		[origin, solana],
		[origin, origin],
	] as const;
	const streams = Array.from({ length: streamCount }, async (_, i) => {
		const [from, to] = ways[i % ways.length] ?? ways[0];
		const ended: string[] = [];
		while (!isOver) {
			const account = await environment.newWallet({ chain: from, token: "USDC", amount });
			const recipient = to === solana ? (await solana.newWallet({})).address : undefined;
			const intent = swapIntent({
				from: { chain: from, token: "USDC", amount },
				to: { chain: to, token: to === from ? "USDT" : "USDC" },
				account,
				...(recipient && { recipient }),
			});
			inFlight += 1;
			ended.push((await doSwap({ client, pins, account }, intent)).swap.status);
			inFlight -= 1;
			// All are in flight at the first restart. Later the starting processes take the machine's time, and prices must stay
			// fresh.
			await sleep(i * 200);
		}
		return ended;
	});
	const all = Promise.all(streams);
	// A stream that fails makes the test fail where it waits for all of them.
	all.catch(() => {});
	return {
		inFlight: () => inFlight,
		end: async () => {
			isOver = true;
			return (await all).flat();
		},
	};
}

/** Writes the files of the API and the worker, which share them, with the new chain. */
function writeFiles(
	environment: OwnEnvironment,
	{ after, added }: { after: Deployment; added: TestChain },
): { environment: OwnEnvironment; writeAttester: (name: string) => void } {
	const configFile = environment.serverEnvironment.GEOSWAP_CONFIG ?? "";
	const folder = dirname(configFile);
	const config = JSON.parse(readFileSync(configFile, "utf8"));
	const { agreeAboveUsd: _, ...terms } = config.chains[environment.destination.chainId];
	config.chains[added.chainId] = { ...terms, nodes: [{ url: added.rpcUrl }] };
	writeFileSync(join(folder, "deployment.json"), formatDeployment(after));
	writeFileSync(configFile, JSON.stringify(config));
	const keys = environment.keys.relayers.slice(0, 2).map((key) => `${added.chainId}:${key}`);
	const { GEOSWAP_RELAYER_KEYS: known, ...serverEnvironment } = environment.serverEnvironment;
	return {
		environment: {
			...environment,
			serverEnvironment: { ...serverEnvironment, GEOSWAP_RELAYER_KEYS: [known, ...keys].join(",") },
		},
		writeAttester: (name) => {
			const file = join(folder, `${name}.json`);
			const own = JSON.parse(readFileSync(file, "utf8"));
			const [other] = Object.values<Record<string, unknown>>(own.chains);
			const { rpcUrl } = added;
			const endpoint = other && "nodes" in other ? { nodes: [{ url: rpcUrl }] } : { rpcUrl };
			own.chains[added.chainId] = endpoint;
			writeFileSync(file, JSON.stringify(own));
		},
	};
}

function withoutToken(deployment: Deployment): Deployment {
	const [first, ...others] = deployment.chains;
	if (!first) throw new Error("a deployment has a chain");
	const assets = first.assets.filter(({ symbol }) => symbol !== addedToken);
	return { ...deployment, chains: [{ ...first, assets }, ...others] };
}

function chainAfter(chain: TestChain, { chains }: Deployment): TestChain {
	const deployment = chains.find(({ chainId }) => chainId === chain.chainId);
	if (!deployment) throw new Error(`the deployment has no chain ${chain.chainId}`);
	return { ...chain, deployment };
}
