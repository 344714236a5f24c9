import { recoverAddress } from "@geoswap/keys/signature/recover-address";
import { heartbeatTypedData, type Milliseconds } from "@geoswap/protocol";
import { type Address, hashTypedData } from "viem";
import type { Config } from "../../config/config.ts";
import type { Database } from "../../database/database.ts";
import { storeHeartbeats } from "../../job/heartbeats.ts";
import type { Log } from "../../telemetry/log.ts";
import type { AttesterClient } from "./attester-client.ts";

/** Seconds that an attester's clock may be ahead of the local one. */
const skewSeconds = 60;

/** Requests heartbeats from every attester, and stores those that are signed by an attester of a known set. */
export async function pollHeartbeats({
	config,
	attesters,
	db,
	nowMs,
	log,
}: {
	config: Pick<Config, "deployment" | "earlierAttesterSets">;
	attesters: readonly AttesterClient[];
	db: Database;
	nowMs: Milliseconds;
	log: Log;
}): Promise<void> {
	const current = config.deployment.chains.map((chain) => chain.attesterSet);
	const known = new Set<Address>([...current, ...config.earlierAttesterSets].flatMap((set) => set.attesters));
	const heard = await Promise.all(
		attesters.map(async ({ url, heartbeats }) => {
			try {
				return (await heartbeats()).flatMap(({ signature, ...heartbeat }) => {
					const attester = recoverAddress({ hash: hashTypedData(heartbeatTypedData(heartbeat)), signature });
					// A heartbeat from the future would count long after its attester died.
					const isEarly = heartbeat.signedAtUnixSeconds > nowMs / 1_000 + skewSeconds;
					if (!isEarly && attester && known.has(attester)) return [{ ...heartbeat, attester }];
					log.error({ attester: url, heartbeat }, "heartbeat ignored");
					return [];
				});
			} catch (error) {
				log.warn({ attester: url, problem: (error as Error).message }, "attester did not answer");
				return [];
			}
		}),
	);
	await storeHeartbeats(db, heard.flat());
}
