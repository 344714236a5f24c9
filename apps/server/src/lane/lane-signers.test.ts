import { type Kms, type KmsMood, startKms } from "@geoswap/devnet";
import { accountOfSigner } from "@geoswap/keys/account-of-signer";
import { keySettingsSchema } from "@geoswap/keys/config/key-settings";
import { guardSigner } from "@geoswap/keys/guard-signer";
import { SignerError } from "@geoswap/keys/signer-error";
import { geoVaultAbi, type Order, orderId, toWord } from "@geoswap/protocol";
import { hexToBytes, type LocalAccount } from "viem";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import {
	assetOf,
	createLaneScene,
	followHead,
	type LaneScene,
	queueFill as queueFillOf,
	readJob,
} from "../../test/lane/lane-scene.ts";
import { startLane } from "../../test/lane/start-lane.ts";
import { noCap, startTestSigner } from "../../test/signer/start-test-signer.ts";
import { openSigners } from "../signer/open-signers.ts";

const amount = 9_950_000n;

let scene: LaneScene;
let kms: Kms;
beforeAll(async () => {
	scene = await createLaneScene();
	const [first, second] = scene.chains.keys.relayers;
	if (!first || !second) throw new Error("the devnet has two relayers");
	kms = await startKms({
		keys: [
			{ name: "first", curve: "secp256k1", secret: hexToBytes(first) },
			{ name: "second", curve: "secp256k1", secret: hexToBytes(second) },
		],
	});
	for (const [name, value] of Object.entries(kms.awsEnvironment)) vi.stubEnv(name, value);
	await followHead(scene.pool, scene.origin);
});
beforeEach(async () => {
	kms.mood = "fine";
	await scene.owner.query("truncate jobs");
	await scene.pool.query("update lane_transactions set state = 'final'");
});
afterAll(async () => {
	vi.unstubAllEnvs();
	await kms?.stop();
	await scene?.stop();
});

/** A process whose relayers' keys are in a key service. */
async function startLanes({ timeoutMs = 20_000, names = ["first", "second"], sends = true } = {}) {
	const settings = keySettingsSchema.parse({ awskms: { endpoint: kms.url }, timeoutMs });
	const signers = openSigners({ settings, nowMs: Date.now });
	const open = async (name: string): Promise<LocalAccount> =>
		accountOfSigner(await signers.openEvm(kms.awsReference(name)));
	return lanesOf(await Promise.all(names.map(open)), { sends });
}

function lanesOf(accounts: LocalAccount[], { sends = true } = {}) {
	const { client } = scene.destination;
	const request = (call: { method: string }) => {
		if (!sends && call.method === "eth_sendRawTransaction")
			throw new Error("the process died before it sent");
		return client.request(call as never);
	};
	const chain = { ...scene.destination, client: { ...client, request } as typeof client };
	return startLane(scene, chain, { policy: { bundleSize: 3 }, accounts });
}

test.each<[string, KmsMood]>([
	["hangs", "hung"],
	["is down", "failing"],
	["signs with another key", "lying"],
])("while a lane's signer %s its jobs stay queued, and afterwards each is done once", async (_, mood) => {
	const { order, swapId } = await queueFill();
	await followHead(scene.pool, scene.destination);
	const run = await startLanes({ timeoutMs: 500 });
	kms.mood = mood;
	await expect(run()).rejects.toThrow(SignerError);
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "queued" });
	expect(await journalledCount()).toBe(0);
	kms.mood = "fine";
	await expect
		.poll(async () => {
			await run().catch(() => {});
			return (await readJob(scene.pool, swapId, "fill")).state;
		})
		.toBe("sent");
	await expect.poll(() => vaultState(order)).toBe(1);
	expect(await journalledCount()).toBe(1);
});

test("no database transaction is open while a signer is awaited, and the other lane continues", async () => {
	await queueFill();
	await followHead(scene.pool, scene.destination);
	const run = await startLanes({ timeoutMs: 8_000 });
	const asked = kms.signed;
	kms.mood = "hung";
	const waiting = run(0).catch((error: unknown) => error);
	await expect.poll(() => kms.signed, { interval: 5 }).toBe(asked + 1);
	const { rows } = await scene.owner.query(
		"select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
	);
	expect(rows).toEqual([]);
	kms.mood = "fine";
	const other = await queueFill();
	await run(1);
	expect(await readJob(scene.pool, other.swapId, "fill")).toMatchObject({ state: "sent" });
	expect(await waiting).toBeInstanceOf(SignerError);
});

test("with a signer that takes 300 ms, one run sends all queued jobs", async () => {
	const fills = [await queueFill(), await queueFill(), await queueFill(), await queueFill()];
	await followHead(scene.pool, scene.destination);
	const run = await startLanes();
	kms.mood = { slowMs: 300 };
	await expect
		.poll(async () => {
			await run();
			const jobs = await Promise.all(fills.map(({ swapId }) => readJob(scene.pool, swapId, "fill")));
			return jobs.map(({ state }) => state);
		})
		.toEqual(fills.map(() => "sent"));
	await expect.poll(() => Promise.all(fills.map(({ order }) => vaultState(order)))).toEqual([1, 1, 1, 1]);
	// A bundle has at most three jobs.
	expect(await journalledCount()).toBe(2);
});

test("payments above the remote signer's cap wait, and do not delay the chain's other work", async () => {
	const { chainId, deployment } = scene.destination;
	const outflowOf = (token: string) => ({ ...(token === "USDC" ? usdcCap : noCap), unproven: noCap });
	const usdcCap = { perHour: String(amount), perDay: String(amount) };
	const signer = await startTestSigner({
		deployment: { chains: [scene.origin.deployment, deployment] },
		secrets: { FIRST: hexToBytes(scene.chains.keys.relayers[0] ?? "0x") },
		config: {
			chains: {
				[chainId]: {
					outflow: Object.fromEntries(
						deployment.assets.map(({ address, symbol }) => [address, outflowOf(symbol)]),
					),
					finalitySeconds: 5,
					maxFeePerGasWei: String(500n * 10n ** 9n),
					maxTransactionFeeWei: String(10n ** 19n),
				},
			},
			keys: {
				first: {
					use: "relayer",
					reference: "env:FIRST",
					clients: ["worker"],
					chainId,
					signaturesPerHour: 1_000,
					feesWei: noCap,
					firstNonce: 64,
				},
			},
		},
	});
	onTestFinished(() => signer.stop());
	const key = { name: { reference: "remote:first", backend: "remote" }, rest: "first" } as const;
	const remote = await signer.backendOf("worker").openEvm(key);
	const run = lanesOf([accountOfSigner(guardSigner(remote, { timeoutMs: 20_000, nowMs: Date.now }))]);
	const capped = [await queueFill(), await queueFill(), await queueFill()];
	const other = await queueFill({ token: "USDT" });
	await followHead(scene.pool, scene.destination);
	await run();
	const states = async () =>
		(await Promise.all(capped.map(({ swapId }) => readJob(scene.pool, swapId, "fill")))).map(
			({ state }) => state,
		);
	expect((await states()).toSorted()).toEqual(["queued", "queued", "sent"]);
	expect(await readJob(scene.pool, other.swapId, "fill")).toMatchObject({ state: "sent" });
	await expect.poll(() => vaultState(other.order)).toBe(1);
	expect(signer.lines.filter(({ msg }) => msg === "refused")).toEqual(
		Array.from({ length: 3 }, () => expect.objectContaining({ reason: "above-cap" })),
	);
	// A waiting job counts no failure, and is tried again later.
	for (const { swapId } of capped)
		expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ failures: 0 });
});

test("while a relayer's key is replaced, each order in flight is paid once, and the old key's unfinished work is done when it is back", async () => {
	const sent = await queueFill();
	await followHead(scene.pool, scene.destination);
	await (await startLanes({ names: ["first"] }))();
	// The old key has signed a transaction that was never sent when its process ended.
	const left = await queueFill();
	await (await startLanes({ names: ["first"], sends: false }))().catch(() => {});
	// The new key works beside the old one, and then alone.
	const later = await queueFill();
	const alone = await startLanes({ names: ["second"] });
	await alone();
	await expect.poll(() => vaultState(later.order)).toBe(1);
	await expect.poll(() => vaultState(sent.order)).toBe(1);
	expect(await readJob(scene.pool, left.swapId, "fill")).toMatchObject({ state: "sent" });
	expect(await vaultState(left.order)).toBe(0);
	// The query of the procedure finds the transaction, so the old key is added again.
	expect(await openOf(0)).toBeGreaterThan(0);
	const both = await startLanes();
	await both(0);
	await expect.poll(() => vaultState(left.order)).toBe(1);
	expect(await journalledCount()).toBe(3);
});

/** Returns how many transactions of a relayer are not settled, by the query in docs/signers.md. */
async function openOf(relayer: number): Promise<number> {
	const { rows } = await scene.pool.query(
		"select count(*) from lane_transactions where relayer = decode($1, 'hex') and state in ('signed', 'broadcast')",
		[scene.relayers[relayer]?.address.slice(2)],
	);
	return Number(rows[0]?.count);
}

/** Queues a fill. Nothing makes blocks on the origin, so an order's times count from the start of the test. */
function queueFill({ token = "USDC" } = {}): ReturnType<typeof queueFillOf> {
	const outputToken = toWord(assetOf(scene.chains.destination, token));
	return queueFillOf(scene, { amount, fillSeconds: 3_600n, outputToken });
}

async function journalledCount(): Promise<number> {
	const { rows } = await scene.pool.query(
		"select 1 from lane_transactions where chain_id = $1 and state <> 'final'",
		[scene.destination.chainId],
	);
	return rows.length;
}

function vaultState(order: Order): Promise<number> {
	return scene.destination.client.readContract({
		address: scene.destination.deployment.contracts.vault,
		abi: geoVaultAbi,
		functionName: "orderState",
		args: [orderId(order)],
	});
}
