import { refuseDevelopmentKeys } from "@geoswap/keys/development/refuse-development-keys";
import { refuseSolanaDevelopmentKeys } from "@geoswap/keys/development/refuse-solana-development-keys";
import { warnOfPlainKeys } from "@geoswap/keys/warn-of-plain-keys";
import { readAttesterConfig } from "../attester/attester-config.ts";
import { startAttester } from "../attester/start-attester.ts";
import { expectChainIds } from "../preflight/expect-chain-ids.ts";
import { expectGenesisHash } from "../preflight/expect-genesis-hash.ts";
import { openAttesterKey } from "../signer/open-attester-key.ts";
import { openSigners } from "../signer/open-signers.ts";
import { createLog } from "../telemetry/log.ts";
import { runUntilStopped } from "./run-until-stopped.ts";

/**
 * Runs the process that signs what it has itself read at finality. It has no database and no engine, and trusts no
 * other process.
 */
export async function runAttester(configPath: string): Promise<void> {
	const config = readAttesterConfig(configPath);
	if (config.solana) refuseSolanaDevelopmentKeys(config.solana.deployment);
	const chainIds = config.chains.map((chain) => chain.chainId);
	const signers = openSigners({ settings: config.keys, nowMs: Date.now });
	const signer = await openAttesterKey(chainIds, { keys: config.keys, signers });
	refuseDevelopmentKeys([signer.address], chainIds);
	await Promise.all([expectChainIds(config.chains), config.solana && expectGenesisHash(config.solana)]);
	const log = createLog({ level: config.logLevel, process: "attester" });
	const attester = await startAttester({
		config,
		signer,
		nowMs: Date.now,
		log,
	});
	log.info({ url: attester.url }, "listening");
	const stopping = new AbortController();
	warnOfPlainKeys(signers, { signal: stopping.signal, log });
	await runUntilStopped({
		stopping,
		close: [() => attester.close(), () => signers.close()],
		log,
	});
}
