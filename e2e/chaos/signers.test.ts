import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeSoftHsm, startKms } from "@geoswap/devnet";
import { afterAll, expect, test } from "vitest";
import { countStatuses } from "../caller/mixed-swaps.ts";
import { swapWhileTroubled } from "../caller/swap-while-troubled.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { evmSecrets, feePayerNames, solanaSecrets } from "../leak/devnet-secrets.ts";
import { dumpingInto, expectNoKeys } from "../leak/expect-no-keys.ts";
import { childrenOf } from "../leak/find-key-material.ts";
import { ownEnvironment } from "../own-environment.ts";

const swapCount = Number(process.env.GEOSWAP_SIGNER_SWAPS ?? 200);
/** Time until the last deadline of a swap that no process could work on is final, with some time to report it. */
const decidedWithinMs = 240_000;

const folder = mkdtempSync(join(tmpdir(), "geoswap-signers-"));
const dumps = join(folder, "dumps");
mkdirSync(dumps);

const hsm = await makeSoftHsm(join(folder, "hsm"));
/** Relayers and attesters are in a security module, Solana's keys in a key service. */
for (const { name, bytes } of evmSecrets) await hsm.bring(name, { curve: "secp256k1", secret: bytes });
const kms = await startKms({
	keys: solanaSecrets.map(({ name, bytes }) => ({ name, curve: "ed25519" as const, secret: bytes })),
});
afterAll(async () => {
	await kms.stop();
	rmSync(folder, { recursive: true, force: true });
});

const pkcs11 = { module: hsm.module, pinFile: hsm.pinFile };
const dumping = dumpingInto(dumps);
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
			treasurers: Object.fromEntries(
				Object.keys(config.chains).map((chainId) => [chainId, hsm.reference("treasurer")]),
			),
			solana: {
				feePayers: feePayerNames.map((name) => kms.awsReference(name)),
				operator: kms.gcpReference("operator"),
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
	const { worker, attesters } = environment.stack.processes;
	const moods = [{ slowMs: 300 }, "hung", "fine", "failing", "lying", "fine"] as const;
	const swaps = await swapWhileTroubled(environment, {
		swapCount,
		trouble: (round) => {
			kms.mood = moods[round % moods.length] ?? "fine";
			const modules = [worker, ...attesters].flatMap(({ pid }) => (pid === undefined ? [] : modulesOf(pid)));
			const victim = modules[round % modules.length];
			if (victim !== undefined) process.kill(victim, round % 2 === 0 ? "SIGKILL" : "SIGSTOP");
		},
	});
	kms.mood = "fine";
	console.log(
		`${swaps.length} swaps with failing signers:`,
		countStatuses(swaps),
		`${kms.signed} calls to the key service`,
	);
	expect(swaps).toHaveLength(swapCount);
	await expectNoKeys([...evmSecrets, ...solanaSecrets], {
		dumping: [worker, ...attesters],
		dumps,
		logDir: environment.logDir,
	});
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
});

/** Returns the processes that have loaded the security module. */
function modulesOf(pid: number): number[] {
	return childrenOf(pid).filter((child) =>
		readFileSync(`/proc/${child}/cmdline`, "utf8").includes("pkcs11-process"),
	);
}
