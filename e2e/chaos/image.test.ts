import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { attesterConfig, connectDevnetChain, fundWallet, portSource, startTestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { createClient } from "@geoswap/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { countingClient } from "../caller/counting-client.ts";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import {
	buildImage,
	buildNextImage,
	buildStandIns,
	compose,
	hasContainers,
	imageEnvironment,
} from "../image/local-images.ts";
import { playAttester } from "../image/play-attester.ts";
import { runCommand } from "../image/run-command.ts";
import { smallHostServices, startSmallHost } from "../image/small-host.ts";
import { startSignerHost } from "../image/start-signer-host.ts";
import { useContainerSettings } from "../image/use-container-settings.ts";
import { assetAddress } from "../wallet/make-order.ts";

// Builds the images and starts them by docs/install.md. Needs root and Debian's podman, and takes half an hour.

const firstTryWithinMs = 600_000;
const upgradeWithinMs = 900_000;
/** Swaps that are in flight at any time, and swaps that must have ended before and after the upgrade. */
const streamCount = 4;
const swapsEach = 8;
const amount = 10_000_000n;

describe("the image", () => {
	afterAll(useContainerSettings());
	beforeAll(async () => {
		if (!(await hasContainers()))
			throw new Error(
				"needs root, and what `bash .ci/run full image` installs: podman, buildah, debootstrap",
			);
		await buildStandIns();
		await buildImage({ target: "devnet", tag: imageEnvironment.GEOSWAP_DEVNET_IMAGE });
		await buildImage({ target: "geoswapd", tag: imageEnvironment.GEOSWAP_IMAGE });
		await buildImage({ target: "geoswap-signer", tag: imageEnvironment.GEOSWAP_SIGNER_IMAGE });
	}, 3_600_000);

	test("has no shell, no package manager and no compiler, and starts only geoswapd", async () => {
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
		const devnet = `${firstTry.project}_devnet_1`;
		// The command waits until the stack is up.
		const said = await runCommand(["podman", "exec", devnet, "first-swap", "--json"]);
		expect(JSON.parse(said).swap.status).toBe("settled");
		const settledAfterMs = Date.now() - startedAt;
		console.log(`first try: a swap settled after ${settledAfterMs} ms`);
		expect(settledAfterMs).toBeLessThan(firstTryWithinMs);
		await runCommand(["podman", "healthcheck", "run", devnet]);
		// A stack that was killed leaves its files behind.
		await runCommand(["podman", "restart", "--time", "0", devnet]);
		const again = await runCommand(["podman", "exec", devnet, "first-swap", "--solana", "--json"]);
		expect(JSON.parse(again).back.status).toBe("settled");
	}, 1_200_000);

	test("a remote signer in a container signs for its client, and for no other", async () => {
		const folder = mkdtempSync(join(tmpdir(), "geoswap-signer-host-"));
		onTestFinished(() => rmSync(folder, { recursive: true }));
		const { deployment, stop } = await startTestChains();
		await stop();
		const port = await portSource()();
		const host = await startSignerHost({ folder, port, deployment, clients: ["attester-1", "attester-2"] });
		onTestFinished(host.stop);
		await expect.poll(() => host.health().catch(String), { timeout: 120_000 }).toMatch(/signer at .*: ok/);
		const check = ["signers", "check", "--for", "attester"];
		expect(await host.geoswapdAs("attester-1", check)).toMatch(/^ok .* remote:attester/);
		await expect(host.geoswapdAs("attester-2", check)).rejects.toThrow(/exited with 1.*FAIL/s);
	}, 600_000);

	test("an attester's manifest of Kubernetes runs under podman, passes its check and becomes healthy", async () => {
		const folder = mkdtempSync(join(tmpdir(), "geoswap-manifest-"));
		onTestFinished(() => rmSync(folder, { recursive: true }));
		const { deployment, keys, origin, destination, stop } = await startTestChains();
		onTestFinished(stop);
		const endpoints = [origin, destination].map(({ chainId, rpcUrl }) => ({ chainId, rpcUrl }));
		const file = attesterConfig({ endpoints, port: await portSource()() });
		const config = {
			"attester.json": JSON.stringify(file),
			"deployment.json": formatDeployment(deployment),
		};
		const [key = ""] = keys.attesters;
		const attester = await playAttester({ folder, config, key });
		onTestFinished(attester.stop);
		await expect
			.poll(() => attester.health().catch(String), { timeout: 120_000 })
			.toMatch(/attester at .*: ok/);
	}, 600_000);

	test("an upgrade of every process under load fails no call and loses no swap", async () => {
		const folder = mkdtempSync(join(tmpdir(), "geoswap-small-host-"));
		onTestFinished(() => rmSync(folder, { recursive: true }));
		const newImage = "localhost/geoswap:next";
		await buildNextImage(newImage);
		const startedAt = Date.now();
		const nextPort = portSource();
		const host = await startSmallHost({ folder, port: await nextPort(), consolePort: await nextPort() });
		onTestFinished(host.stop);
		console.log(`small host: every process is well after ${Date.now() - startedAt} ms`);
		expect((await fetch(`${host.consoleUrl}/health`)).status).toBe(200);
		expect(await host.geoswapd(["config", "check", "--for", "console", "--json"])).not.toContain(
			'"result":"warn"',
		);
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
					// A failed call is counted, and must not hide how the upgrade goes on.
					const end = await doSwap({ client, pins, account }, intent).then(({ swap }) => swap.status, String);
					ended.push(end);
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
		const failed = await Promise.all(
			counts.failed.map(async (call) => {
				const requestId = /"requestId":"([^"]+)"/.exec(call)?.[1] ?? "no id";
				const logs = await Promise.all(["api-1", "api-2"].map((name) => host.logs(name)));
				return [
					call,
					...logs
						.join("\n")
						.split("\n")
						.filter((line) => line.includes(requestId)),
				];
			}),
		);
		expect(failed).toEqual([]);
		expect(new Set(ended)).toEqual(new Set(["settled"]));
		const running = await runCommand(["podman", "ps", "--format", "{{.Names}} {{.Image}}"]);
		for (const name of smallHostServices) {
			expect(running).toContain(`geoswap_${name}_1 ${newImage}`);
		}
		const report = () => host.geoswapd(["reconcile", "--json"]).then(JSON.parse, () => undefined);
		await expect.poll(report, { timeout: upgradeWithinMs, interval: 5_000 }).toBeDefined();
	}, 3_600_000);
});
