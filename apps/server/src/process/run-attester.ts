import { readAttesterConfig } from "../attester/attester-config.ts";
import { startAttester } from "../attester/start-attester.ts";
import { accountOfKey } from "../chain/evm/secp256k1.ts";
import { parsePrivateKey, readSecret } from "../config/secrets.ts";
import { expectChainIds } from "../operate/preflight/expect-chain-ids.ts";
import { expectGenesisHash } from "../operate/preflight/expect-genesis-hash.ts";
import { refuseDevelopmentKeys } from "../operate/preflight/refuse-development-keys.ts";
import { refuseSolanaDevelopmentKeys } from "../operate/preflight/refuse-solana-development-keys.ts";
import { createLog } from "../telemetry/log.ts";
import { catchHangups } from "./catch-hangups.ts";
import { runUntilStopped } from "./run-until-stopped.ts";

/** Runs the process that signs what it saw final. It has no database and no engine, and trusts nobody. */
export async function runAttester(configPath: string): Promise<void> {
	const hangups = catchHangups();
	const config = readAttesterConfig(configPath);
	if (config.solana) refuseSolanaDevelopmentKeys(config.solana.deployment);
	const key = parsePrivateKey("GEOSWAP_ATTESTER_KEY", readSecret("GEOSWAP_ATTESTER_KEY"));
	refuseDevelopmentKeys(
		[key],
		config.chains.map((chain) => chain.chainId),
	);
	await Promise.all([expectChainIds(config.chains), config.solana && expectGenesisHash(config.solana)]);
	const log = createLog({ level: config.logLevel, process: "attester" });
	hangups.listen(() => log.warn("an attester does not reload its configuration; restart it"));
	const attester = await startAttester({
		config,
		account: accountOfKey(key),
		nowMs: Date.now,
		log,
	});
	log.info({ url: attester.url }, "listening");
	await runUntilStopped({ stopping: new AbortController(), close: [() => attester.close()], log });
}
