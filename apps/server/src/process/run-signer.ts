import { createKeyOpener } from "../preflight/create-key-opener.ts";
import { refuseSolanaDevelopmentKeys } from "../preflight/refuse-solana-development-keys.ts";
import { openSigners } from "../signer/open-signers.ts";
import { readSignerConfig } from "../signer/remote/signer-config.ts";
import { startRemoteSigner } from "../signer/remote/start-remote-signer.ts";
import { createLog } from "../telemetry/log.ts";
import { startMetrics } from "../telemetry/start-metrics.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { warnOfPlainKeys } from "./warn-of-plain-keys.ts";

/** Runs the remote signer, which holds keys for other processes and judges what they request to sign. */
export async function runSigner(configPath: string): Promise<void> {
	const config = readSignerConfig(configPath);
	const { deployment, backends } = config;
	if (deployment.solana) refuseSolanaDevelopmentKeys(deployment.solana);
	const log = createLog({ level: config.logLevel, process: "signer" });
	const signers = openSigners({ settings: backends, nowMs: Date.now });
	const metrics = config.metrics && (await startMetrics({ ...config.metrics, nowMs: Date.now, log }));
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
	await runUntilStopped({
		stopping,
		close: [() => signer.close(), () => signers.close(), () => metrics?.stop()],
		log,
	});
}
