import { writeFileSync } from "node:fs";
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
import { doSwap, signSwap, swapIntent } from "../caller/do-swap.ts";
import { apiBeside } from "../environment/api-beside.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";

const hundred = parseUnits("100", 6);

test("when an API restarts with another token and another chain, earlier quotes and builds continue, and earlier pins remain valid", async () => {
	const environment = sharedEnvironment();
	const { origin, destination, solana, deployment } = environment;
	const before = withoutChainAndToken(deployment, { chainId: destination.chainId, symbol: "ORB" });
	const { api, files } = await startOlder(environment, { chainId: destination.chainId, deployment: before });
	const client = { ...(await environment.newClient()), baseUrl: api.baseUrl };
	const newWallet = (token: string, amount: bigint) =>
		environment.newWallet({ chain: origin, token, amount });
	const usdcHere = { chain: origin, token: "USDC", amount: hundred };
	const usdtHere = { chain: origin, token: "USDT" };

	const known = async () => (await getChains(client)).chains.map(({ chainId }) => chainId);
	expect(await known()).toEqual([origin.chainId, solana.chainId]);
	const asked = await newWallet("USDC", hundred);
	const there = swapIntent({ from: usdcHere, to: { chain: destination, token: "ORB" }, account: asked });
	await expect(getQuote({ ...client, fetch }, there)).rejects.toMatchObject({ code: "NO_ROUTE" });

	// One swap is quoted before the restart and built after it, another is built before it and submitted after it. Their
	// callers have only the earlier deployment file.
	const spanning = await Promise.all([newWallet("USDC", hundred), newWallet("USDC", hundred)]);
	const intents = spanning.map((account) => swapIntent({ from: usdcHere, to: usdtHere, account }));
	const [builtAfter, submittedAfter] = spanning.map((account) => ({ client, pins: before, account }));
	if (!builtAfter || !submittedAfter || !intents[0] || !intents[1]) throw new Error("there are two wallets");
	const signed = await signSwap(submittedAfter, intents[1]);
	const quote = await getQuote(client, intents[0]);
	files.write(deployment, (config) => config);
	await restart(api);
	expect(await known()).toEqual([origin.chainId, destination.chainId, solana.chainId]);

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

	const orbOf = async () =>
		(await getTokens(client, { chainId: origin.chainId })).tokens.find(({ symbol }) => symbol === "ORB");
	await expect.poll(orbOf).toMatchObject({ live: true });
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

	// A removed chain is no longer quoted, and the status of its swaps is still answered.
	files.write(before, withoutChain(destination.chainId));
	await restart(api);
	expect(await known()).toEqual([origin.chainId, solana.chainId]);
	expect(await waitForSwap(client, swap.swapId)).toMatchObject({ status: "settled", funds: swap.funds });
	await expect(getQuote({ ...client, fetch }, there)).rejects.toMatchObject({ code: "NO_ROUTE" });
});

async function restart(api: ServiceProcess): Promise<void> {
	await api.stop();
	await api.start();
}

type ConfigText = Parameters<NonNullable<Parameters<typeof apiBeside>[1]["configure"]>>[0];

/** Starts an API that does not have the chain yet, with its own configuration and deployment files. */
async function startOlder(
	environment: Environment,
	{ chainId, deployment }: { chainId: number; deployment: Deployment },
): Promise<{
	api: ServiceProcess & { baseUrl: string };
	files: { write: (deployment: Deployment, configure: (config: ConfigText) => ConfigText) => void };
}> {
	const folder = dirname(environment.serverEnvironment.GEOSWAP_CONFIG ?? "");
	const name = "api-changed";
	let whole: ConfigText | undefined;
	const write = (deployed: Deployment, config: ConfigText) => {
		writeFileSync(join(folder, "changed-deployment.json"), formatDeployment(deployed));
		writeFileSync(join(folder, `${name}.json`), JSON.stringify(config));
	};
	const api = apiBeside(environment, {
		name,
		port: await portSource()(),
		configure: (config) => {
			config.deployment = "changed-deployment.json";
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
