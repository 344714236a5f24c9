import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deriveDevnetKeys, deriveSolanaDevnetKeys, makeSoftHsm, startKms } from "@geoswap/devnet";
import { hexToBytes } from "viem";
import { afterAll, expect, test } from "vitest";
import { countStatuses, planMixedSwap } from "../caller/mixed-swaps.ts";
import { newWalletSwapsThrough, type TimedSwap } from "../caller/swap-through.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import {
	childrenOf,
	findInFolder,
	findInMemory,
	findInProcess,
	type SecretKey,
} from "../leak/find-key-material.ts";
import { ownEnvironment } from "../own-environment.ts";

const swapCount = Number(process.env.GEOSWAP_SIGNER_SWAPS ?? 200);
/** Time for a swap that nobody could work on: until its last deadline is final, with some time to report it. */
const decidedWithinMs = 240_000;
const streamCount = Math.min(swapCount, 10);

const folder = mkdtempSync(join(tmpdir(), "geoswap-signers-"));
const dumps = join(folder, "dumps");
mkdirSync(dumps);

const evm = deriveDevnetKeys();
const solana = deriveSolanaDevnetKeys();
/** Relayers and attesters are in a security module, Solana's keys in a key service. */
const inModule: SecretKey[] = [
	...evm.relayers.slice(0, 2).map((key, i) => ({ name: `relayer-${i}`, bytes: hexToBytes(key) })),
	...evm.attesters.slice(0, 3).map((key, i) => ({ name: `attester-${i}`, bytes: hexToBytes(key) })),
];
const inService: SecretKey[] = [
	...solana.feePayers.map((key, i) => ({ name: `fee-payer-${i}`, bytes: key.slice(0, 32) })),
	{ name: "escrow", bytes: solana.escrow.slice(0, 32) },
	{ name: "vault", bytes: solana.vault.slice(0, 32) },
];
const secrets = [...inModule, ...inService];

const hsm = await makeSoftHsm(join(folder, "hsm"));
for (const { name, bytes } of inModule) await hsm.bring(name, { curve: "secp256k1", secret: bytes });
const kms = await startKms({
	keys: inService.map(({ name, bytes }) => ({ name, curve: "ed25519" as const, secret: bytes })),
});
afterAll(async () => {
	await kms.stop();
	rmSync(folder, { recursive: true, force: true });
});

const pkcs11 = { module: hsm.module, pinFile: hsm.pinFile };
/** On this signal a process writes all that is on its heap. */
const dumping = { NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${dumps}` };
const environmentOf = ownEnvironment({
	configure: (config) => ({
		...config,
		keys: {
			relayers: Object.fromEntries(
				Object.keys(config.chains).map((chainId) => [
					chainId,
					["relayer-0", "relayer-1"].map((name) => hsm.reference(name)),
				]),
			),
			solana: {
				feePayers: solana.feePayers.map((_, i) => kms.awsReference(`fee-payer-${i}`)),
				escrow: kms.awsReference("escrow"),
				vault: kms.gcpReference("vault"),
			},
			pkcs11,
			awskms: { endpoint: kms.url },
			gcpkms: { endpoint: kms.url },
		},
	}),
	signing: {
		attesterKeys: (i) => ({ attester: hsm.reference(`attester-${i}`), pkcs11 }),
		workerEnvironment: { ...hsm.environment, ...kms.awsEnvironment, ...kms.gcpEnvironment, ...dumping },
		attesterEnvironment: { ...hsm.environment, ...dumping },
	},
});

test("with keys in a security module and a key service, signers that die, hang and are slow lose no swap, and no process holds a key", async () => {
	const environment = environmentOf();
	const client = await environment.newClient();
	const { worker, attesters } = environment.stack.processes;
	let planned = 0;
	let isOver = false;
	const swapping = Array.from({ length: streamCount }, async () => {
		const ended: TimedSwap[] = [];
		while (planned < swapCount) {
			const plan = await planMixedSwap(environment, planned++);
			ended.push(await newWalletSwapsThrough(environment, client, plan));
		}
		return ended;
	});
	const troubling = (async () => {
		const moods = [{ slowMs: 300 }, "hung", "fine", "failing", "lying", "fine"] as const;
		for (let round = 0; !isOver; round++) {
			kms.mood = moods[round % moods.length] ?? "fine";
			const modules = [worker, ...attesters].flatMap(({ pid }) => (pid === undefined ? [] : modulesOf(pid)));
			const victim = modules[round % modules.length];
			if (victim !== undefined) process.kill(victim, round % 2 === 0 ? "SIGKILL" : "SIGSTOP");
			await new Promise((resolve) => setTimeout(resolve, 3_000));
		}
		kms.mood = "fine";
	})();
	const swaps = (
		await Promise.all(swapping).finally(() => {
			isOver = true;
		})
	).flat();
	await troubling;
	console.log(
		`${swaps.length} swaps with failing signers:`,
		countStatuses(swaps),
		`${kms.signed} calls to the key service`,
	);
	expect(swaps).toHaveLength(swapCount);

	// The search finds keys where there are some: this process has them all.
	const own = secrets.map(({ name }) => `${name} in the memory of ${process.pid}`);
	expect((await findInMemory(secrets, process.pid)).toSorted()).toEqual(own.toSorted());
	const pids = [worker, ...attesters].flatMap(({ pid }) => pid ?? []);
	for (const pid of pids) {
		expect(findInProcess(secrets, pid)).toEqual([]);
		expect(await findInMemory(secrets, pid)).toEqual([]);
		process.kill(pid, "SIGUSR2");
	}
	await expect.poll(() => writtenDumps().length, { timeout: 120_000 }).toBe(pids.length);
	expect(findInFolder(secrets, dumps)).toEqual([]);
	expect(findInFolder(secrets, environment.logDir)).toEqual([]);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
});

/** Returns the processes that have loaded the security module. */
function modulesOf(pid: number): number[] {
	return childrenOf(pid).filter((child) =>
		readFileSync(`/proc/${child}/cmdline`, "utf8").includes("pkcs11-process"),
	);
}

/** Returns the dumps that are complete: they are JSON. */
function writtenDumps(): string[] {
	return readdirSync(dumps).filter((file) =>
		readFileSync(join(dumps, file), "latin1").trimEnd().endsWith("}"),
	);
}
