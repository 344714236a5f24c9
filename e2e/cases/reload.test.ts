import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { portSource, type ServiceProcess } from "@geoswap/devnet";
import { type Deployment, formatDeployment } from "@geoswap/protocol";
import {
	buildOp,
	getChains,
	getQuote,
	getTokens,
	signDelegation,
	submitOp,
	verifyAndSign,
	waitForSwap,
} from "@geoswap/sdk";
import { parseUnits } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { countingClient } from "../caller/counting-client.ts";
import { doSwap, signSwap, swapIntent } from "../caller/do-swap.ts";
import { apiBeside } from "../environment/api-beside.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";

/** Swaps in flight when the configuration is reloaded. */
const streamCount = process.env.GEOSWAP_FULL ? 50 : 6;
const hundred = parseUnits("100", 6);

test("a token and a chain are added while swaps are in flight: no call fails, and the pins of before hold", async () => {
	const environment = sharedEnvironment();
	const { origin, destination, solana, deployment } = environment;
	const before = withoutChainAndToken(deployment, { chainId: destination.chainId, symbol: "ORB" });
	const { api, files } = await startOlder(environment, { chainId: destination.chainId, deployment: before });
	const { client, counts } = countingClient({ ...(await environment.newClient()), baseUrl: api.baseUrl });
	const newWallet = (token: string, amount: bigint) =>
		environment.newWallet({ chain: origin, token, amount });
	const usdcHere = { chain: origin, token: "USDC", amount: hundred };
	const usdtHere = { chain: origin, token: "USDT" };

	const known = async () => (await getChains(client)).chains.map(({ chainId }) => chainId);
	expect(await known()).toEqual([origin.chainId, solana.chainId]);
	const asked = await newWallet("USDC", hundred);
	const there = swapIntent({ from: usdcHere, to: { chain: destination, token: "ORB" }, account: asked });
	await expect(getQuote({ ...client, fetch }, there)).rejects.toMatchObject({ code: "NO_ROUTE" });

	// The callers have only the deployment file of before.
	let isOver = false;
	let inFlight = 0;
	const streams = Array.from({ length: streamCount }, async (_, i) => {
		const ended = [];
		do {
			const account = await newWallet("USDC", hundred);
			const to = i % 2 === 0 ? usdtHere : { chain: solana, token: "USDC" };
			const recipient = i % 2 === 0 ? undefined : (await solana.newWallet({})).address;
			const intent = swapIntent({ from: usdcHere, to, account, ...(recipient && { recipient }) });
			inFlight += 1;
			ended.push((await doSwap({ client, pins: before, account }, intent)).swap.status);
			inFlight -= 1;
		} while (!isOver);
		return ended;
	});
	onTestFinished(() => {
		isOver = true;
	});
	const swapping = Promise.all(streams);
	const spanning = await Promise.all([newWallet("USDC", hundred), newWallet("USDC", hundred)]);
	const intents = spanning.map((account) => swapIntent({ from: usdcHere, to: usdtHere, account }));
	const [builtAfter, submittedAfter] = spanning.map((account) => ({ client, pins: before, account }));
	if (!builtAfter || !submittedAfter || !intents[0] || !intents[1]) throw new Error("there are two wallets");
	await expect.poll(() => inFlight).toBe(streamCount);

	// One swap is quoted before the switch and built after it, another is built before it and submitted after it.
	const signed = await signSwap(submittedAfter, intents[1]);
	const quote = await getQuote(client, intents[0]);
	files.write(deployment, (config) => config);
	api.kill("SIGHUP");
	await expect.poll(known).toEqual([origin.chainId, destination.chainId, solana.chainId]);

	const { account } = builtAfter;
	const authorization = await signDelegation(client, { chainId: origin.chainId, account, pins: before });
	const build = await buildOp(client, { geoQuoteToken: quote.geoQuoteToken, authorization });
	const signature = await verifyAndSign({ intent: intents[0], quote, build, pins: before, account });
	const submits = [
		submitOp(client, { geoOpToken: build.geoOpToken, signature }),
		submitOp(client, { geoOpToken: signed.build.geoOpToken, signature: signed.signature }),
	];
	const spanned = await Promise.all(submits.map(async (one) => waitForSwap(client, (await one).swapId)));
	expect(spanned.map(({ status }) => status)).toEqual(["settled", "settled"]);

	const added = (await getTokens(client, { chainId: origin.chainId })).tokens.find(
		({ symbol }) => symbol === "ORB",
	);
	expect(added).toMatchObject({ live: true });
	const orbs = parseUnits("4", 18);
	const holder = await newWallet("ORB", orbs);
	const { swap } = await doSwap(
		{ client, pins: deployment, account: holder },
		swapIntent({
			from: { chain: origin, token: "ORB", amount: orbs },
			to: { chain: destination, token: "USDC" },
			account: holder,
		}),
	);
	expect(swap.status).toBe("settled");
	isOver = true;
	const ended = (await swapping).flat();
	expect(ended).toEqual(ended.map(() => "settled"));
	expect(counts.failed).toEqual([]);
	console.log(
		`${ended.length + 3} swaps, ${streamCount} in flight at the switch, ${counts.calls} calls, none failed`,
	);

	// A file that needs a restart is refused, and what is served stays.
	files.write(deployment, (config) => ({ ...config, logLevel: "warn" }));
	api.kill("SIGHUP");
	const configuration = async () =>
		((await (await fetch(`${api.baseUrl}/ready`)).json()) as Ready).checks.find(
			({ name }) => name === "configuration",
		);
	await expect
		.poll(configuration)
		.toMatchObject({ ready: false, problem: expect.stringContaining("refused") });
	expect(readFileSync(api.logFile, "utf8")).toContain("logLevel: has changed, and needs a restart");
	expect(await known()).toContain(destination.chainId);

	// A chain that was removed is not quoted any more, and the status of its swaps is answered as before.
	files.write(before, withoutChain(destination.chainId));
	api.kill("SIGHUP");
	await expect.poll(known).toEqual([origin.chainId, solana.chainId]);
	expect(await configuration()).toEqual({ name: "configuration", ready: true });
	expect(await waitForSwap(client, swap.swapId)).toMatchObject({ status: "settled", funds: swap.funds });
	await expect(getQuote({ ...client, fetch }, there)).rejects.toMatchObject({ code: "NO_ROUTE" });
});

type Ready = { checks: { name: string; ready: boolean; problem?: string }[] };
type ConfigText = Parameters<NonNullable<Parameters<typeof apiBeside>[1]["configure"]>>[0];

/** Starts an API that does not know the chain yet, with configuration and deployment files of its own. */
async function startOlder(
	environment: Environment,
	{ chainId, deployment }: { chainId: number; deployment: Deployment },
): Promise<{
	api: ServiceProcess & { baseUrl: string };
	files: { write: (deployment: Deployment, configure: (config: ConfigText) => ConfigText) => void };
}> {
	const folder = dirname(environment.serverEnvironment.GEOSWAP_CONFIG ?? "");
	const name = "api-reloaded";
	let whole: ConfigText | undefined;
	const write = (deployed: Deployment, config: ConfigText) => {
		writeFileSync(join(folder, "reload-deployment.json"), formatDeployment(deployed));
		writeFileSync(join(folder, `${name}.json`), JSON.stringify(config));
	};
	const api = apiBeside(environment, {
		name,
		port: await portSource()(),
		configure: (config) => {
			config.deployment = "reload-deployment.json";
			whole = structuredClone(config);
		},
	});
	if (!whole) throw new Error("an API has a configuration");
	const all = whole;
	write(deployment, withoutChain(chainId)(all));
	onTestFinished(() => api.stop());
	await api.start();
	return { api, files: { write: (deployed, configure) => write(deployed, configure(all)) } };
}

function withoutChain(chainId: number): (config: ConfigText) => ConfigText {
	return (config) => {
		const { [chainId]: _, ...chains } = config.chains;
		return { ...config, chains };
	};
}

function withoutChainAndToken(
	deployment: Deployment,
	{ chainId, symbol }: { chainId: number; symbol: string },
): Deployment {
	const others = deployment.chains.filter((chain) => chain.chainId !== chainId);
	return {
		...deployment,
		chains: others.map((chain) => ({
			...chain,
			assets: chain.assets.filter((asset) => asset.symbol !== symbol),
		})),
	};
}
