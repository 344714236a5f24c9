import { setTimeout as sleep } from "node:timers/promises";
import { type ServiceProcess, serverCommand } from "@geoswap/devnet";
import { geoVaultAbi } from "@geoswap/protocol";
import {
	type Address,
	encodeFunctionData,
	formatUnits,
	type Hex,
	parseAbi,
	parseUnits,
	zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { tokenBalance } from "../chain/token-balance.ts";
import { parseMetrics } from "../measure/parse-metrics.ts";
import { assetAddress, makeOrder } from "../wallet/make-order.ts";
import { badDaysStack } from "./bad-days-stack.ts";
import { callAs } from "./call-as.ts";
import { liveThrough } from "./live-through.ts";
import { startInstead } from "./start-instead.ts";

const stackOf = badDaysStack();

const daySeconds = 86_400;

/** The kind of a cap on fills, as the vault numbers the kinds. */
const fillCap = 0;

test("when a seal key is rotated immediately, no token that a caller holds is refused", async () => {
	const stack = stackOf();
	const { environment } = stack;
	const { serverEnvironment, metricsUrls } = environment;
	const { api } = environment.stack.processes;
	const [sealing = "", ...others] = (serverEnvironment.GEOSWAP_SEAL_KEYS ?? "").split(",");
	const [key] = sealing.split("@");
	const since = timeText(Date.now() - 100 * daySeconds * 1_000);
	const old = [`${key}@${since}`, ...others].join(",");
	let current: ServiceProcess | undefined;
	const useKeys = async (GEOSWAP_SEAL_KEYS: string) => {
		await current?.stop();
		current = await startInstead(environment, { command: "api", variables: { GEOSWAP_SEAL_KEYS } });
	};
	onTestFinished(async () => {
		await current?.stop();
		await api.start();
	});
	await liveThrough(stack, {
		name: "A seal key is rotated in a hurry",
		how: "the sealing key is 100 days old; the next one seals 30 seconds after it is made",
		alert: "GeoswapSealKeyOld",
		break: () => useKeys(old),
		follow: async (page) => {
			const next = await page.run("geoswapd seal-keys --from", {
				GEOSWAP_SEAL_KEYS: old,
				TIME: timeText(Date.now() + 30_000),
			});
			await page.step("Put the value where the API processes read it, and restart them", () =>
				useKeys(next.trim()),
			);
		},
		isOver: async () => {
			const metrics = parseMetrics(await (await fetch(metricsUrls.api)).text());
			const { samples = [] } = metrics.get("geoswap_seal_key_age_seconds") ?? {};
			return samples.length > 0 && samples.every(({ value }) => value < daySeconds);
		},
	});
});

test("when a relayer's key is stolen, the thief gets at most the vault's cap, until the key is revoked", async () => {
	const stack = stackOf();
	const { environment } = stack;
	const { origin, destination, keys, serverEnvironment } = environment;
	const { worker } = environment.stack.processes;
	const chain = String(destination.chainId);
	const token = assetAddress<Address>(destination, "USDC");
	const { vault, accessManager } = destination.deployment.contracts;
	const [stolenKey = "0x"] = keys.relayers;
	const stolenAddress = privateKeyToAddress(stolenKey);
	const thief = privateKeyToAddress(generatePrivateKey());
	const cap = parseUnits("3000", 6);
	const asAdmin = (data: Hex, to: Address = vault) => callAs(destination, keys.deployer, { to, data });
	const onVault = (functionName: "pause" | "unpause") =>
		encodeFunctionData({ abi: geoVaultAbi, functionName });
	const setCap = (perHour: bigint) =>
		asAdmin(
			encodeFunctionData({
				abi: geoVaultAbi,
				functionName: "setCap",
				args: [fillCap, token, zeroAddress, perHour],
			}),
		);
	const [usualCap] = await destination.publicClient.readContract({
		address: vault,
		abi: geoVaultAbi,
		functionName: "capOf",
		args: [fillCap, token, zeroAddress],
	});
	await setCap(cap);
	const thieving = new AbortController();
	let thiefIsDone: Promise<void> | undefined;
	let startedAt = 0;
	let pausedAt = 0;
	let replaced: ServiceProcess | undefined;
	onTestFinished(async () => {
		thieving.abort();
		await thiefIsDone;
		await replaced?.stop();
		await worker.start();
	});
	await liveThrough(stack, {
		name: "A relayer's key is stolen",
		how: "the thief fills invented orders to itself with the key, again and again; the cap is 3,000 USDC an hour",
		alert: "GeoswapBooksBreached",
		labels: { chain },
		// The breach stays in the books, and the operator accepts it.
		lingers: true,
		acceptedLossUsd: async () => {
			const stolen = await tokenBalance(destination, token, thief);
			const refilled = (cap * BigInt(Math.ceil((pausedAt - startedAt) / 1_000))) / 3_600n;
			expect(stolen).toBeGreaterThan(0n);
			expect(stolen).toBeLessThanOrEqual(cap + refilled);
			expect(await foundByAudit()).toBe(stolen);
			return Number(formatUnits(stolen, 6));
		},
		break: async () => {
			startedAt = Date.now();
			thiefIsDone = steal();
			await expect
				.poll(() => tokenBalance(destination, token, thief), { timeout: 60_000 })
				.toBeGreaterThan(0n);
		},
		follow: async (page) => {
			const report = await page.run("geoswapd reconcile", {}, { exitCode: 1 });
			await page.step("have the guardian pause the vault at once", () =>
				callAs(destination, keys.guardian, { to: vault, data: onVault("pause") }),
			);
			pausedAt = Date.now();
			expect(report).toContain("for an order that the service does not have");
			const listed = await page.run("psql", { CHAIN: chain });
			const [TRANSACTION = ""] = /0x[0-9a-f]{64}/.exec(listed) ?? [];
			const sender = await page.run("cast tx", { RPC_URL: destination.rpcUrl, TRANSACTION });
			expect(sender.trim().toLowerCase()).toBe(stolenAddress.toLowerCase());
			await page.step("have the admin revoke the OPERATOR role of this address", () => {
				const abi = parseAbi(["function revokeRole(uint64 roleId, address account)"]);
				const args = [1n, stolenAddress] as const;
				return asAdmin(encodeFunctionData({ abi, functionName: "revokeRole", args }), accessManager);
			});
			await page.step("take the key out of `GEOSWAP_RELAYER_KEYS`", async () => {
				replaced = await startInstead(environment, {
					command: "worker",
					variables: { GEOSWAP_RELAYER_KEYS: withoutStolen() },
				});
			});
			await page.step("have a member of RESUME call `unpause`", () => asAdmin(onVault("unpause")));
			await page.step("have a member of CONFIG raise it by `setCap`", () => setCap(usualCap));
			await page.run("geoswapd pauses lift", { CHAIN: chain, REASON: "the key is revoked" });
			await page.run("geoswapd pauses list");
		},
		isOver: async () => {
			const before = await tokenBalance(destination, token, thief);
			await sleep(2_000);
			return (await tokenBalance(destination, token, thief)) === before;
		},
	});

	/** Returns the amount that the audit reports as delivered for unknown orders. Expects it to find nothing else. */
	async function foundByAudit(): Promise<bigint> {
		const printed = await serverCommand(serverEnvironment, ["reconcile", "--json"], { exitCode: 1 });
		const { breaches, unchecked, lostUsdCents } = JSON.parse(printed) as {
			breaches: { invariant: string; chainIds: number[]; message: string; amount: string }[];
			unchecked: unknown[];
			lostUsdCents: object;
		};
		expect({ unchecked, lostUsdCents }).toEqual({ unchecked: [], lostUsdCents: {} });
		// The thief pays its gas from the relayer, whose balance then is short too.
		const thefts = breaches.filter(({ invariant }) => invariant !== "T3");
		for (const breach of thefts) {
			expect(breach).toMatchObject({
				invariant: "I6",
				chainIds: [destination.chainId],
				message: expect.stringContaining("for an order that the service does not have"),
			});
		}
		return thefts.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
	}

	/** Takes the whole cap, as soon as the cap allows anything worth the gas. */
	async function steal(): Promise<void> {
		while (!thieving.signal.aborted) {
			const [, amount] = await destination.publicClient.readContract({
				address: vault,
				abi: geoVaultAbi,
				functionName: "capOf",
				args: [fillCap, token, zeroAddress],
			});
			const order = await makeOrder({
				chains: { origin, destination },
				wallet: thief,
				inputToken: assetAddress(origin, "USDC"),
				outputToken: token,
				minOutput: 1n,
			});
			const item = { order, amount, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
			const data = encodeFunctionData({ abi: geoVaultAbi, functionName: "fill", args: [item] });
			// The worker uses the same nonces, and its own fill may have used the cap.
			if (amount > 0n) await callAs(destination, stolenKey, { to: vault, data }).catch(() => {});
			await sleep(1_000, undefined, { signal: thieving.signal }).catch(() => {});
		}
	}

	function withoutStolen(): string {
		const entries = (serverEnvironment.GEOSWAP_RELAYER_KEYS ?? "").split(",");
		return entries.filter((entry) => entry !== `${chain}:${stolenKey}`).join(",");
	}
});

function timeText(atMs: number): string {
	return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
