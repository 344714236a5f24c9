import { readFileSync } from "node:fs";
import { parseUnits } from "viem";
import { beforeAll, expect, test, vi } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import type { Environment } from "../environment/environment.ts";
import { type MetricFamily, parseMetrics } from "../measure/parse-metrics.ts";
import { sharedEnvironment } from "../shared-environment.ts";

type Metrics = Map<string, MetricFamily>;

let environment: Environment;
beforeAll(() => {
	environment = sharedEnvironment();
});

async function scrape(process: "api" | "worker" | "audit"): Promise<Metrics> {
	const response = await fetch(environment.metricsUrls[process]);
	expect(response.status).toBe(200);
	return parseMetrics(await response.text());
}

/** Returns the sum of the series that have these labels. */
function total(metrics: Metrics, name: string, labels: Record<string, string> = {}): number {
	const family = metrics.get(name) ?? [...metrics].find(([base]) => name === `${base}_count`)?.[1];
	return (family?.samples ?? [])
		.filter((sample) => sample.name === name)
		.filter((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
		.reduce((sum, { value }) => sum + value, 0);
}

// The remote signer is another process, which this stack does not have.
const [document = "", ofRemoteSigner = ""] = readFileSync(
	new URL("../../docs/metrics.md", import.meta.url),
	"utf8",
).split("## The remote signer");
const alerts = readFileSync(new URL("../../deploy/alerts.yml", import.meta.url), "utf8");
const namesIn = (text: string) =>
	new Set([...text.matchAll(/\bgeoswap_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, "")));

test("counters grow with a swap, and the metrics are exactly those that the documentation names", async () => {
	const { origin, destination, client, deployment: pins } = environment;
	const [apiBefore, workerBefore] = [await scrape("api"), await scrape("worker")];

	const amount = parseUnits("10", 6);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const { swap } = await doSwap(
		{ client, pins, account },
		swapIntent({
			from: { chain: origin, token: "USDC", amount },
			to: { chain: destination, token: "USDC" },
			account,
		}),
	);
	expect(swap.status).toBe("settled");
	await callApi(environment, "/swap/quote", { body: {} });
	await callApi({ baseUrl: environment.baseUrl, apiKey: "wrong" }, "/swap/quote", { body: {} });

	const [api, worker] = [await scrape("api"), await scrape("worker")];
	const grown = (name: string, labels?: Record<string, string>) =>
		total(api, name, labels) - total(apiBefore, name, labels);
	const requests = "geoswap_http_requests_total";
	expect(grown(requests, { route: "/swap/quote", code: "OK", status: "200" })).toBeGreaterThanOrEqual(1);
	expect(grown(requests, { route: "/swap/quote", code: "INVALID_REQUEST" })).toBeGreaterThanOrEqual(1);
	expect(
		grown(requests, { route: "/swap/quote", code: "UNAUTHORIZED", status: "401" }),
	).toBeGreaterThanOrEqual(1);
	expect(grown(requests, { route: "/swap/submit", code: "OK" })).toBeGreaterThanOrEqual(1);
	expect(
		grown("geoswap_http_request_duration_seconds_count", { route: "/swap/submit" }),
	).toBeGreaterThanOrEqual(1);

	const route = { origin: String(origin.chainId), destination: String(destination.chainId) };
	const done = (name: string, labels: Record<string, string>) =>
		total(worker, name, { ...route, ...labels }) - total(workerBefore, name, { ...route, ...labels });
	for (const to of ["deposited", "delivering", "settled"]) {
		expect(done("geoswap_swap_moves_total", { to }), to).toBeGreaterThanOrEqual(1);
	}
	expect(done("geoswap_swap_duration_seconds_count", { status: "settled" })).toBeGreaterThanOrEqual(1);
	// A reading that takes too long on a busy machine is missing from one scrape, and present in another.
	await vi.waitFor(
		async () =>
			expectEverything(environment, {
				api: await scrape("api"),
				worker: await scrape("worker"),
				audit: await scrape("audit"),
			}),
		{ timeout: 60_000, interval: 1_000 },
	);
});

function expectEverything(
	{ origin, destination, solana }: Environment,
	{ api, worker, audit }: { api: Metrics; worker: Metrics; audit: Metrics },
): void {
	for (const chain of [origin, destination, solana]) {
		const labels = { chain: String(chain.chainId) };
		expect(total(worker, "geoswap_rpc_calls_total", { ...labels, outcome: "ok" })).toBeGreaterThan(0);
		expect(total(worker, "geoswap_inventory_tokens", { ...labels, token: "USDC" })).toBeGreaterThan(0);
		expect(total(worker, "geoswap_relayer_balance_native", labels)).toBeGreaterThan(0);
		expect(total(worker, "geoswap_follower_update_age_seconds", labels)).toBeLessThan(60);
	}
	const shown = new Set([...api.keys(), ...worker.keys(), ...audit.keys()]);
	expect([...shown].toSorted()).toEqual([...namesIn(document)].toSorted());
	const elsewhere = namesIn(ofRemoteSigner);
	for (const name of namesIn(alerts)) expect([...shown, ...elsewhere], name).toContain(name);
}

test("a held call counts as in flight, and no label contains a swap id, a UUID or the wallet", async () => {
	const { origin, destination, deployment: pins } = environment;
	const client = await environment.newClient();
	const amount = parseUnits("10", 6);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const swapping = doSwap(
		{ client, pins, account },
		swapIntent({
			from: { chain: origin, token: "USDC", amount },
			to: { chain: destination, token: "USDC" },
			account,
		}),
	);
	await vi.waitFor(
		async () => {
			const held = total(await scrape("api"), "geoswap_http_requests_in_flight", {
				route: "/swap/status/:swapId",
			});
			expect(held).toBeGreaterThanOrEqual(1);
		},
		{ timeout: 30_000, interval: 50 },
	);
	await swapping;
	for (const process of ["api", "worker", "audit"] as const) {
		for (const [name, { samples }] of await scrape(process)) {
			const values = samples.flatMap(({ labels }) => Object.values(labels));
			expect(
				values.filter((value) => /swp_|geosk_|geo_|[0-9a-f]{8}-[0-9a-f]{4}-/.test(value)),
				name,
			).toEqual([]);
			expect(values, name).not.toContain(account.address);
			// The longest lists are those of the routes and of a chain's methods, each with its buckets.
			expect(samples.length, name).toBeLessThan(1_000);
		}
	}
});
