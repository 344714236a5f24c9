import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { connectDevnetChain, fundWallet, portSource } from "@geoswap/devnet";
import { createClient } from "@geoswap/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { countingClient } from "../caller/counting-client.ts";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import {
	buildImage,
	buildStandIns,
	compose,
	hasContainers,
	imageEnvironment,
} from "../image/local-images.ts";
import { runCommand } from "../image/run-command.ts";
import { startSmallHost } from "../image/small-host.ts";
import { assetAddress } from "../wallet/make-order.ts";

// Builds the images and starts them as docs/install.md says. Needs root and Debian's podman, and takes half an hour.

const firstTryWithinMs = 600_000;
const upgradeWithinMs = 900_000;
/** Swaps that are in flight at any time, and swaps that must have ended before and after the upgrade. */
const streamCount = 4;
const swapsEach = 8;
const amount = 10_000_000n;

describe.skipIf(!(await hasContainers()))("the image", () => {
	beforeAll(async () => {
		await buildStandIns();
		await buildImage({ target: "devnet", tag: imageEnvironment.GEOSWAP_DEVNET_IMAGE });
		await buildImage({ target: "geoswapd", tag: imageEnvironment.GEOSWAP_IMAGE });
	}, 3_600_000);

	test("has no shell, no package manager and no compiler, and geoswapd is all that it starts", async () => {
		const run = (...args: string[]) =>
			runCommand(["podman", "run", "--rm", "--no-healthcheck", "--network", "none", "--read-only", ...args]);
		expect(await run(imageEnvironment.GEOSWAP_IMAGE, "--help")).toMatch(/^Usage: geoswapd /);
		for (const program of ["sh", "bash", "apt-get", "dpkg", "npm", "pnpm", "cc", "perl"]) {
			await expect(run("--entrypoint", program, imageEnvironment.GEOSWAP_IMAGE), program).rejects.toThrow(
				/not found in \$PATH/,
			);
		}
	});

	test("a first try is two commands, and its swap settles within ten minutes", async () => {
		const firstTry = { file: "first-try.yaml", project: "geoswap-first-try" };
		const startedAt = Date.now();
		onTestFinished(async () => void (await compose(firstTry, ["down", "--volumes"])));
		await compose(firstTry, ["up", "-d"]);
		const isUp = () =>
			runCommand(["podman", "healthcheck", "run", `${firstTry.project}_devnet_1`]).then(
				() => true,
				() => false,
			);
		await expect.poll(isUp, { timeout: firstTryWithinMs, interval: 2_000 }).toBe(true);
		const upAfterMs = Date.now() - startedAt;
		const said = await runCommand(["podman", "exec", `${firstTry.project}_devnet_1`, "first-swap", "--json"]);
		expect(JSON.parse(said).swap.status).toBe("settled");
		const settledAfterMs = Date.now() - startedAt;
		console.log(`first try: up after ${upAfterMs} ms, a swap settled after ${settledAfterMs} ms`);
		expect(settledAfterMs).toBeLessThan(firstTryWithinMs);
	}, 1_200_000);

	test("an upgrade of every process under load fails no call and loses no swap", async () => {
		const folder = mkdtempSync(join(tmpdir(), "geoswap-small-host-"));
		onTestFinished(() => rmSync(folder, { recursive: true }));
		const newImage = "localhost/geoswap:next";
		await buildImage({ target: "geoswapd", tag: newImage, version: "0.0.1" });
		const startedAt = Date.now();
		const host = await startSmallHost({ folder, port: await portSource()() });
		onTestFinished(host.stop);
		console.log(`small host: every process is well after ${Date.now() - startedAt} ms`);
		setDefaultCACertificates([...getCACertificates(), host.certificate]);

		const { baseUrl, apiKey, deployment: pins } = host;
		const { client, counts } = countingClient(createClient({ baseUrl, apiKey }));
		const [origin, destination] = host.chains.map((endpoint) => {
			const deployment = pins.chains.find(({ chainId }) => chainId === endpoint.chainId);
			if (!deployment) throw new Error(`the deployment has no chain ${endpoint.chainId}`);
			return { ...connectDevnetChain(endpoint), deployment };
		});
		if (!origin || !destination) throw new Error("the devnet has two chains");
		let isOver = false;
		const ended: string[] = [];
		const streams = Promise.all(
			Array.from({ length: streamCount }, async () => {
				while (!isOver) {
					const account = privateKeyToAccount(generatePrivateKey());
					const { deployment } = origin;
					const token = assetAddress(origin, "USDC");
					await fundWallet(origin, { deployment, wallet: account.address, token, amount });
					const from = { chain: origin, token: "USDC", amount };
					const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
					const { swap } = await doSwap({ client, pins, account }, intent);
					ended.push(swap.status);
				}
			}),
		);
		const pass = async (goal: number) => {
			while (ended.length < goal) await sleep(200);
		};
		await Promise.race([streams, pass(swapsEach)]);
		const upgradeAt = Date.now();
		await Promise.race([host.upgrade(newImage), streams]);
		const upgradeMs = Date.now() - upgradeAt;
		await Promise.race([streams, pass(ended.length + swapsEach)]);
		isOver = true;
		await streams;
		console.log(
			`upgrade took ${upgradeMs} ms; ${ended.length} swaps ended, ${counts.calls} calls, ${counts.failed.length} not answered with 200`,
		);
		expect(counts.failed).toEqual([]);
		expect(new Set(ended)).toEqual(new Set(["settled"]));
		const running = await runCommand(["podman", "ps", "--format", "{{.Names}} {{.Image}}"]);
		for (const name of ["attester", "worker-1", "worker-2", "api-1", "api-2"]) {
			expect(running).toContain(`geoswap_${name}_1 ${newImage}`);
		}
		const report = () => host.geoswapd(["reconcile", "--json"]).then(JSON.parse, () => undefined);
		await expect.poll(report, { timeout: upgradeWithinMs, interval: 5_000 }).toBeDefined();
	}, 3_600_000);
});
