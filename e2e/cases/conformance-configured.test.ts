import { portSource } from "@geoswap/devnet";
import { getStatus, waitForSwap } from "@geoswap/sdk";
import { parseUnits } from "viem";
import { onTestFinished, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { doSwap, signSwap, swapIntent } from "../caller/do-swap.ts";
import { apiBeside } from "../environment/api-beside.ts";
import type { Environment } from "../environment/environment.ts";
import { readRpcCounts, startRpcCounter } from "../measure/rpc-counter.ts";
import { sharedEnvironment } from "../shared-environment.ts";

const origin = "https://ours.example";
const ten = parseUnits("10", 6);
const reads = 50;

test("by configuration a quote warns of a small impact, an op expires 90 seconds after its quote, and pages of an origin are allowed [D-build-16, D-conventions-32, D-quote-response-13]", async ({
	expect,
}) => {
	const environment = sharedEnvironment();
	const { baseUrl } = await startBeside(environment, {
		name: "api-configured",
		configure: (config) => {
			config.api.corsOrigins = [origin];
			config.price = { highImpactBps: -1 };
			for (const chain of Object.values(config.chains)) chain.openSeconds = 300;
		},
	});
	const client = { ...(await environment.newClient()), baseUrl };
	const { origin: chain, destination, deployment: pins } = environment;
	const account = await environment.newWallet({ chain, token: "USDC", amount: ten });
	const from = { chain, token: "USDC", amount: ten };
	const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
	const { quote, build } = await signSwap({ client, pins, account }, intent);
	expect(quote.warnings).toMatchObject([{ code: "HIGH_PRICE_IMPACT" }]);
	expect(quote.priceImpactBps).toBeGreaterThan(-300);
	const issuedMs = Date.parse(quote.expiresAt) - 30_000;
	expect(Date.parse(build.expiresAt)).toBe(issuedMs + 90_000);

	const preflight = await callApi({ baseUrl }, "/swap/quote", {
		method: "OPTIONS",
		headers: { origin, "access-control-request-method": "POST" },
	});
	expect(preflight.status).toBe(200);
	expect(preflight.headers).toMatchObject({ "access-control-allow-origin": origin });
	expect(preflight.headers["access-control-allow-headers"]).toContain("x-api-key");
});

test("a status is read from the database, and fifty reads of a swap make no call to a chain [I4-32]", async ({
	expect,
}) => {
	const environment = sharedEnvironment();
	const counters = await Promise.all(
		[...environment.chains, environment.solana].map(({ rpcUrl }) => startRpcCounter(rpcUrl)),
	);
	onTestFinished(async () => {
		await Promise.all(counters.map((counter) => counter.stop()));
	});
	// The process polls the chains rarely enough to leave a pause.
	const pollMs = 12_000;
	const { baseUrl } = await startBeside(environment, {
		name: "api-counted",
		configure: (config) => {
			for (const [i, { chainId }] of environment.chains.entries()) {
				const nodes = [{ url: counters[i]?.url }];
				Object.assign(config.chains[chainId] ?? {}, { nodes, agreeAboveUsd: undefined, pollMs });
			}
			const nodes = [{ url: counters.at(-1)?.url }];
			Object.assign(config.solana, { nodes, agreeAboveUsd: undefined, pollMs });
		},
	});
	const { origin: chain, destination, deployment: pins, client: shared } = environment;
	const account = await environment.newWallet({ chain, token: "USDC", amount: ten });
	const from = { chain, token: "USDC", amount: ten };
	const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
	const { swap } = await doSwap({ client: shared, pins, account }, intent);
	const client = { ...shared, baseUrl };
	await waitForSwap(client, swap.swapId);
	const counts = () => Promise.all(counters.map(({ url }) => readRpcCounts(url)));
	// One of its polls may come in between, but not each time.
	await expect
		.poll(
			async () => {
				const before = await counts();
				const answers = await Promise.all(
					Array.from({ length: reads }, () => getStatus(client, swap.swapId)),
				);
				for (const answer of answers) expect(answer).toEqual(swap);
				return JSON.stringify(await counts()) === JSON.stringify(before);
			},
			{ timeout: 2 * pollMs, interval: 1_000 },
		)
		.toBe(true);
});

/** Starts an API process beside the shared one, until the test is over. */
async function startBeside(
	environment: Environment,
	options: Omit<Parameters<typeof apiBeside>[1], "port">,
): Promise<{ baseUrl: string }> {
	const api = apiBeside(environment, { ...options, port: await portSource()() });
	onTestFinished(() => api.stop());
	await api.start();
	return api;
}
