import { access } from "node:fs/promises";
import { getChains } from "@geoswap/sdk";
import { expect, onTestFinished, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { badDaysStack } from "./bad-days-stack.ts";
import { liveThrough } from "./live-through.ts";
import { startInstead } from "./start-instead.ts";

const stackOf = badDaysStack();

const always = async () => true;

test("when Redis is down, limits are looser, swaps continue, and starting it ends the incident", async () => {
	const stack = stackOf();
	const { redis } = stack.environment.stack.processes;
	if (!redis) throw new Error("the stack has its own Redis");
	await liveThrough(stack, {
		name: "Redis is gone",
		how: "kill -9 of Redis",
		alert: "GeoswapRedisSilent",
		break: async () => {
			redis.kill("SIGKILL");
			await redis.exited();
		},
		follow: async (page) => {
			await page.run("redis-cli", {}, { exitCode: 1 });
			await page.step("Start it if it is down", () => redis.start());
		},
		isOver: always,
	});
});

test("when the engine is down, workers run due work themselves, and starting it ends the incident", async () => {
	const stack = stackOf();
	const { adminUrl } = stack.environment;
	const { restate } = stack.environment.stack.processes;
	const couldNotConnect = 7;
	await liveThrough(stack, {
		name: "The engine is gone",
		how: "kill -9 of Restate",
		alert: "GeoswapEngineDoesNotRun",
		break: async () => {
			restate.kill("SIGKILL");
			await restate.exited();
		},
		follow: async (page) => {
			await page.run("curl", { RESTATE_ADMIN_URL: adminUrl }, { exitCode: couldNotConnect });
			await page.step("Start Restate", () => restate.start());
		},
		isOver: always,
	});
});

test("when too few attesters are left, nothing that needs them is delivered, and starting them ends the incident", async () => {
	const stack = stackOf();
	const [, ...gone] = stack.environment.stack.processes.attesters;
	await liveThrough(stack, {
		name: "Too few attesters are left",
		how: "kill -9 of two of three attesters",
		alert: "GeoswapAttestersTooFew",
		break: async () => {
			for (const attester of gone) attester.kill("SIGKILL");
			await Promise.all(gone.map((attester) => attester.exited()));
		},
		follow: async (page) => {
			await page.run("psql");
			await page.step("Start those that do not answer", () =>
				Promise.all(gone.map((attester) => attester.start())),
			);
		},
		isOver: always,
	});
});

test("when a worker's clock is 30 s ahead, swaps continue, and a worker with the right time ends the incident", async () => {
	const stack = stackOf();
	const { environment } = stack;
	const { worker } = environment.stack.processes;
	const library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
	await access(library);
	let skewed: Awaited<ReturnType<typeof startInstead>> | undefined;
	onTestFinished(() => skewed?.stop());
	await liveThrough(stack, {
		name: "A worker's clock is 30 s ahead",
		how: "the worker runs under libfaketime",
		alert: "GeoswapClockSkewed",
		break: async () => {
			skewed = await startInstead(environment, {
				command: "worker",
				variables: { LD_PRELOAD: library, FAKETIME: "+30s", FAKETIME_DONT_FAKE_MONOTONIC: "1" },
			});
		},
		follow: async (page) => {
			await page.run("promtool query instant");
			await page.step("Restart the worker on it", async () => {
				await skewed?.stop();
				await worker.start();
			});
		},
		isOver: always,
	});
});

test("when an API key leaks, revoking it stops the third parties, and no other caller is affected", async () => {
	const stack = stackOf();
	const { environment } = stack;
	const { baseUrl } = environment;
	const apiKey = await environment.newKey();
	const statusFrom = async (network: number) => {
		const localAddress = `127.${network}.0.1`;
		return (await callApi({ baseUrl, apiKey }, "/chains", { localAddress })).status;
	};
	await liveThrough(stack, {
		name: "An API key leaks",
		how: "a key is used from 20 networks",
		alert: "GeoswapApiKeyShared",
		// The metric counts the networks of an hour.
		lingers: true,
		break: async () => {
			for (let network = 1; network <= 20; network++) expect(await statusFrom(network)).toBe(200);
		},
		follow: async (page) => {
			await page.run("geoswapd keys list");
			await page.run("geoswapd keys revoke", { KEY_ID: apiKey });
		},
		isOver: async () => (await statusFrom(1)) === 401,
	});
	expect((await getChains(environment.client)).chains.length).toBeGreaterThan(0);
});
