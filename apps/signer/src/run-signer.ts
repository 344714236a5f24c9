import { refuseSolanaDevelopmentKeys } from "@geoswap/keys/development/refuse-solana-development-keys";
import { openSigners } from "@geoswap/keys/open-signers";
import { warnOfPlainKeys } from "@geoswap/keys/warn-of-plain-keys";
import { createKeyOpener } from "./create-key-opener.ts";
import { plainVariables, readSignerConfig } from "./signer-config.ts";
import { startRemoteSigner } from "./start-remote-signer.ts";
import { createLog, type Log } from "./telemetry/log.ts";
import { startMetrics } from "./telemetry/start-metrics.ts";

/** Milliseconds that requests in flight may take before the process ends anyway. */
const patienceMs = 20_000;

/** Runs the remote signer, which holds keys for other processes and judges what they request to sign. */
export async function runSigner(configPath: string): Promise<void> {
	const config = readSignerConfig(configPath);
	const { deployment, backends } = config;
	if (deployment.solana) refuseSolanaDevelopmentKeys(deployment.solana);
	const log = createLog({ level: config.logLevel });
	const signers = openSigners({ settings: backends, secretNames: plainVariables(config), nowMs: Date.now });
	const metrics = config.metrics && (await startMetrics({ ...config.metrics, log }));
	const signer = await startRemoteSigner({
		config,
		opener: createKeyOpener(config, signers),
		meter: metrics?.meter,
		nowMs: Date.now,
		log,
	});
	log.info({ url: signer.url, ...(metrics && { metricsUrl: metrics.url }) }, "listening");
	const stopping = new AbortController();
	warnOfPlainKeys(signers, { signal: stopping.signal, log });
	log.info({ signal: await untilSignal() }, "stopping");
	setTimeout(() => process.exit(1), patienceMs).unref();
	stopping.abort();
	await closeAll([() => signer.close(), () => signers.close(), () => metrics?.stop()], log);
	log.info("stopped");
}

/** Waits for SIGINT or SIGTERM. A second one ends the process immediately. */
function untilSignal(): Promise<string> {
	// A process continues when its terminal closes.
	process.on("SIGHUP", () => {});
	const { promise, resolve } = Promise.withResolvers<string>();
	let isStopping = false;
	for (const signal of ["SIGINT", "SIGTERM"] as const) {
		process.on(signal, () => {
			if (isStopping) process.exit(1);
			isStopping = true;
			resolve(signal);
		});
	}
	return promise;
}

async function closeAll(parts: readonly (() => unknown)[], log: Log): Promise<void> {
	for (const close of parts) {
		try {
			await close();
		} catch (error) {
			log.error({ err: error }, "a part could not be closed");
			process.exitCode = 1;
		}
	}
}
