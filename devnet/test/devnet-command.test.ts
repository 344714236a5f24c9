import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { deploymentSchema, type SolanaAddress, solanaNativeToken, tokenAccountOf } from "@geoswap/protocol";
import { createSolanaRpc } from "@solana/kit";
import { type Address, erc20Abi, zeroAddress } from "viem";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { expectFreePort } from "../src/chain-process.ts";
import { connectDevnetChain, readFeeds } from "../src/index.ts";
import { commandsInFolder } from "./commands-in-folder.ts";

const { folder, command } = commandsInFolder(join(import.meta.dirname, "../src/main.ts"));

type Up = {
	pid: number;
	chains: { chainId: number; rpcUrl: string }[];
	solana: { chainId: number; rpcUrl: string; wsUrl: string };
	files: { deployment: string; keys: string; running: string };
};

type SolanaKey = { address: SolanaAddress; keypair: string };

async function start(port: number) {
	const dataDir = join(folder, String(port));
	const startedAt = performance.now();
	const run = command(["--json", "--port", String(port), "--data-dir", dataDir]);
	await Promise.race([once(run.child.stdout, "data"), run.finished]);
	if (run.child.exitCode !== null) throw new Error((await run.finished).stderr);
	await vi.waitUntil(() => run.stdout().endsWith("\n"));
	const up: Up = JSON.parse(run.stdout());
	const load = (loadavg()[0] ?? 0) / availableParallelism();
	return { ...run, up, dataDir, port, upAfterMs: performance.now() - startedAt, load };
}

/** Returns the chains on this port, and their watchdog readers. */
function processesOn(port: number): string[] {
	const processes = execFileSync("ps", ["-axo", "pid=,args="], { encoding: "utf8" }).split("\n");
	return processes.filter(
		(line) => /anvil|solana/.test(line) && [0, 1, 2].some((i) => line.split(" ").includes(String(port + i))),
	);
}

/** Returns a free port whose next three are free as well. */
async function freePort(): Promise<number> {
	for (;;) {
		const server = createServer().listen(0, "127.0.0.1");
		await once(server, "listening");
		const { port } = server.address() as AddressInfo;
		server.close();
		await once(server, "close");
		const areNextFree = await Promise.all([port + 1, port + 2, port + 3].map(expectFreePort)).then(
			() => true,
			() => false,
		);
		if (areNextFree) return port;
	}
}

describe("a running devnet", () => {
	let devnet: Awaited<ReturnType<typeof start>>;
	let second: Awaited<ReturnType<typeof start>>;
	beforeAll(async () => {
		devnet = await start(await freePort());
		second = await start(await freePort());
	});

	test("is up within ten seconds, or within a longer limit in proportion to the machine's other load", () => {
		expect(devnet.upAfterMs).toBeLessThan(10_000 * Math.max(1, devnet.load));
	});

	test("shares no chain with a second devnet on other ports", async () => {
		const [one, two] = [devnet, second].map(({ up }) =>
			connectDevnetChain(up.chains[0] ?? { chainId: 0, rpcUrl: "" }),
		);
		const address = "0x00000000000000000000000000000000000000aa";
		await one?.testClient.setBalance({ address, value: 5n });
		expect(await one?.publicClient.getBalance({ address })).toBe(5n);
		expect(await two?.publicClient.getBalance({ address })).toBe(0n);
	});

	test("writes a deployment that passes its schema and holds no key", () => {
		const text = readFileSync(devnet.up.files.deployment, "utf8");
		expect(deploymentSchema.parse(JSON.parse(text)).chains.map(({ chainId }) => chainId)).toEqual([
			31337, 31338,
		]);
		const keys: string[] = readFileSync(devnet.up.files.keys, "utf8").match(/0x[0-9a-f]{64}/g) ?? [];
		expect(keys.length).toBeGreaterThan(10);
		for (const key of keys) expect(text).not.toContain(key);
		const { solana } = files(devnet.up).keys;
		for (const { keypair } of [solana.operator, solana.vaultOwner, ...solana.feePayers]) {
			expect(text).not.toContain(keypair);
		}
	});

	test("has wallets with tokens and 0 wei, relayers with gas, and a vault with inventory of every asset", async () => {
		const { deployment, keys } = files(devnet.up);
		for (const chain of deployment.chains) {
			const { publicClient } = connectDevnetChain(endpoint(devnet.up, chain.chainId));
			const balance = (token: Address, owner: Address) =>
				token === zeroAddress
					? publicClient.getBalance({ address: owner })
					: publicClient.readContract({
							address: token,
							abi: erc20Abi,
							functionName: "balanceOf",
							args: [owner],
						});
			for (const { address } of keys.wallets) {
				expect(await balance(zeroAddress, address)).toBe(0n);
				expect(await balance(chain.settlementToken, address)).toBeGreaterThan(0n);
				expect(await balance(chain.wrappedNative, address)).toBeGreaterThan(0n);
			}
			for (const { address } of keys.relayers)
				expect(await balance(zeroAddress, address)).toBeGreaterThan(0n);
			for (const asset of chain.assets) {
				expect(await balance(asset.address, chain.contracts.vault)).toBeGreaterThan(0n);
			}
		}
	});

	test("has a Solana chain with wallets that hold tokens and no lamports, fee payers with SOL, and a vault with inventory of every asset", async () => {
		const { deployment, keys } = files(devnet.up);
		const { solana } = deployment;
		if (!solana) throw new Error("no Solana");
		expect(devnet.up.solana).toMatchObject({ chainId: solana.chainId, wsUrl: expect.stringMatching(/^ws:/) });
		const rpc = createSolanaRpc(devnet.up.solana.rpcUrl);
		expect(await rpc.getGenesisHash().send()).toBe(solana.genesisHash);
		const lamports = async (address: SolanaAddress) => (await rpc.getBalance(address).send()).value;
		const balance = async (token: SolanaAddress, owner: SolanaAddress) => {
			if (token === solanaNativeToken) return lamports(owner);
			const account = await tokenAccountOf({ owner, token });
			return BigInt((await rpc.getTokenAccountBalance(account).send()).value.amount);
		};
		expect(solana.program.operator).toBe(keys.solana.operator.address);
		expect(keys.solana.wallets.length).toBeGreaterThan(0);
		for (const { address } of keys.solana.wallets) {
			expect(await lamports(address)).toBe(0n);
			expect(await balance(solana.settlementToken, address)).toBeGreaterThan(0n);
		}
		for (const address of solana.feePayers) expect(await lamports(address)).toBeGreaterThan(0n);
		for (const { address } of solana.assets)
			expect(await balance(address, solana.program.vault)).toBeGreaterThan(0n);
	});

	test("prices Solana's assets with fresh feeds on the first chain", async () => {
		const { deployment } = files(devnet.up);
		const [chain] = deployment.chains;
		if (!chain) throw new Error("no chain");
		const readings = await readFeeds(connectDevnetChain(endpoint(devnet.up, chain.chainId)), chain);
		const prices = deployment.solana?.assets.map(({ symbol, feed }) => {
			const reading = readings.find((one) => one.feed === feed.address);
			const isFresh = reading !== undefined && reading.ageSeconds < feed.heartbeatSeconds;
			return { symbol, chainId: feed.chainId, answer: reading?.answer, isFresh };
		});
		const { chainId } = chain;
		expect(prices).toEqual([
			{ symbol: "USDC", chainId, answer: 100_000_000n, isFresh: true },
			{ symbol: "USDT", chainId, answer: 100_000_000n, isFresh: true },
			{ symbol: "SOL", chainId, answer: 15_000_000_000n, isFresh: true },
		]);
	});

	test("refreshes its feeds after the chain's time jumps by an hour", async () => {
		const { deployment } = files(devnet.up);
		const chain = deployment.chains[0];
		if (!chain) throw new Error("no chain");
		const connected = connectDevnetChain(endpoint(devnet.up, chain.chainId));
		const { timestamp } = await connected.publicClient.getBlock();
		await connected.testClient.increaseTime({ seconds: 3_600 });
		const isFresh = async () => {
			const { timestamp: now } = await connected.publicClient.getBlock();
			const feeds = await readFeeds(connected, chain);
			return now >= timestamp + 3_600n && feeds.every((feed) => feed.ageSeconds < feed.heartbeatSeconds);
		};
		await expect.poll(isFresh, { timeout: 10_000, interval: 200 }).toBe(true);
	});

	test("accepts price changes from another terminal, up and down", async () => {
		const at = ["--data-dir", devnet.dataDir];
		const up = await command(["price", "ETH", "+5", "--json", ...at]).finished;
		expect(JSON.parse(up.stdout)).toMatchObject([
			{ chainId: 31337, feed: { before: "3000", after: "3150" } },
			{ chainId: 31338, feed: { before: "3000", after: "3150" } },
		]);
		const down = await command(["price", "ETH", "-50%", "--chain", "31338", ...at]).finished;
		expect(down.stdout).toContain("3150 -> 1575 USD");
		expect(down.stdout).not.toContain("31337");
		const sol = await command(["price", "sol", "-10", "--json", ...at]).finished;
		expect(JSON.parse(sol.stdout)).toMatchObject([
			{ chainId: 31337, symbol: "SOL", feed: { before: "150", after: "135" }, pools: [] },
		]);
		const elsewhere = await command(["price", "SOL", "-10", "--chain", "31338", ...at]).finished;
		expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining("no feed on chain 31338") });
		const unknown = await command(["price", "DOGE", "+5", ...at]).finished;
		expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("choose one of ETH, USDC") });
	});

	test("makes a second devnet on its port fail with one line that names a solution", async () => {
		const { code, stdout, stderr } = await command(["--port", String(devnet.port)]).finished;
		expect(code).toBe(1);
		expect(stdout).toBe("");
		expect(stderr).toBe(
			`error: port ${devnet.port} is taken; stop what listens there, or choose another with \`pnpm devnet --port ${devnet.port + 1000}\`\n`,
		);
	});

	test("leaves no process behind after Ctrl-C", async () => {
		expect(processesOn(devnet.port)).not.toEqual([]);
		devnet.child.kill("SIGINT");
		expect((await devnet.finished).code).toBe(0);
		await expect.poll(() => processesOn(devnet.port)).toEqual([]);
		expect(existsSync(devnet.up.files.running)).toBe(false);
	});

	test("leaves no process behind after kill -9", async () => {
		expect(processesOn(second.port)).not.toEqual([]);
		second.child.kill("SIGKILL");
		await second.finished;
		await expect.poll(() => processesOn(second.port)).toEqual([]);
		const late = await command(["price", "ETH", "-5", "--data-dir", second.dataDir]).finished;
		expect(late.stderr).toContain("start one with `pnpm devnet`");
	});
});

test("a devnet that is stopped while it starts leaves no process behind", async () => {
	const port = await freePort();
	const run = command(["--port", String(port), "--data-dir", join(folder, "early")]);
	await once(run.child.stdout, "data");
	run.child.kill("SIGTERM");
	await run.finished;
	await expect.poll(() => processesOn(port)).toEqual([]);
});

test("a price change without a devnet explains how to start one", async () => {
	const { code, stderr } = await command(["price", "ETH", "-5", "--data-dir", join(folder, "none")]).finished;
	expect(code).toBe(1);
	expect(stderr).toContain("start one with `pnpm devnet`");
});

function files(up: Up) {
	return {
		deployment: deploymentSchema.parse(JSON.parse(readFileSync(up.files.deployment, "utf8"))),
		keys: JSON.parse(readFileSync(up.files.keys, "utf8")) as Record<
			"wallets" | "relayers",
			{ address: Address }[]
		> & {
			solana: Record<"vaultOwner" | "operator", SolanaKey> & Record<"feePayers" | "wallets", SolanaKey[]>;
		},
	};
}

function endpoint({ chains }: Up, chainId: number): { chainId: number; rpcUrl: string } {
	const found = chains.find((chain) => chain.chainId === chainId);
	if (!found) throw new Error(`no chain ${chainId}`);
	return found;
}
