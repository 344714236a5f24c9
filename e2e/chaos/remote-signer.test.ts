import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { countStatuses } from "../caller/mixed-swaps.ts";
import { swapWhileTroubled } from "../caller/swap-while-troubled.ts";
import { prepareRemoteSigning } from "../environment/remote-signing.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { evmSecrets, solanaSecrets } from "../leak/devnet-secrets.ts";
import { dumpingInto, expectNoKeys } from "../leak/expect-no-keys.ts";
import { percentile } from "../measure/percentile.ts";
import { ownEnvironment } from "../own-environment.ts";

const swapCount = Number(process.env.GEOSWAP_SIGNER_SWAPS ?? (process.env.GEOSWAP_FULL ? 200 : 12));
/** Time until the last deadline of a swap that no process could work on is final, with some time to report it. */
const decidedWithinMs = 240_000;
/** Longer than a client waits for an answer. */
const frozenMs = 6_000;

const folder = mkdtempSync(join(tmpdir(), "geoswap-remote-signer-"));
const dumps = join(folder, "dumps");
mkdirSync(dumps);
const remote = await prepareRemoteSigning({ folder, variables: dumpingInto(dumps) });
afterAll(async () => {
	await remote.stop();
	rmSync(folder, { recursive: true, force: true });
});

const environmentOf = ownEnvironment({
	configure: (config) => ({ ...config, keys: remote.keysFor(config) }),
	signing: remote.signing,
});

test("with all keys at a remote signer that is killed, frozen, hung and slow, no swap is lost, and no other process holds a key", async () => {
	const environment = environmentOf();
	const { api, worker, attesters } = environment.stack.processes;
	const { link } = remote;
	const signer = remote.signer();
	const counts = { killed: 0, frozen: 0, hung: 0, slow: 0 };
	const troubles = [
		async () => {
			counts.killed++;
			const exited = signer.exited();
			signer.kill("SIGKILL");
			await exited;
			await signer.start();
		},
		async () => {
			counts.slow++;
			link.mood = { slowMs: 300 };
		},
		async () => {
			counts.frozen++;
			signer.kill("SIGSTOP");
			await sleep(frozenMs);
			signer.kill("SIGCONT");
		},
		async () => {
			counts.hung++;
			link.mood = "hung";
			await sleep(frozenMs);
			link.mood = "fine";
		},
	];
	const swaps = await swapWhileTroubled(environment, {
		swapCount,
		trouble: (round) => troubles[round % troubles.length]?.(),
	});
	link.mood = "fine";
	const times = swaps.map(({ decidedMs }) => Math.round(decidedMs));
	console.log(`${swaps.length} swaps with a failing remote signer:`, countStatuses(swaps), counts, {
		p50Ms: percentile(times, 50),
		p95Ms: percentile(times, 95),
	});
	for (const { swap, from, to } of swaps) {
		if (swap.status !== "settled")
			console.log(from.token, from.chain.chainId, to.token, to.chain.chainId, swap);
	}
	expect(swaps).toHaveLength(swapCount);
	await expectNoKeys([...evmSecrets, ...solanaSecrets], {
		dumping: [worker, ...attesters],
		others: [api],
		dumps,
		logDir: environment.logDir,
	});
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, swaps);
});
