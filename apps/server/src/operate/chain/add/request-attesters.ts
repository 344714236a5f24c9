import { connectAttester } from "../../../round/attestation/attester-client.ts";
import { type Adding, type Outcome, readConfigured } from "./adding.ts";

const attesterTimeoutMs = 4_000;

/** Asks whether enough attesters see the chain. */
export async function requestAttesters(adding: Adding): Promise<Outcome> {
	const { chainId } = adding.preset;
	const { isDryRun } = adding.options;
	const found = readConfigured(adding);
	if (!found) return { state: "would do", lines: ["ask the attesters whether they see the chain"] };
	const { attesters: listed = [] } = found.file;
	const { threshold } = found.chain.deployment.attesterSet;
	const seen = await Promise.all(
		listed.map(async ({ url }) => {
			const heartbeats = await connectAttester({ url, timeoutMs: attesterTimeoutMs })
				.heartbeats()
				.catch(() => []);
			return heartbeats.some((heartbeat) => heartbeat.chainId === chainId);
		}),
	);
	const count = seen.filter(Boolean).length;
	const line = `${count} of ${listed.length} attesters see the chain; ${threshold} are needed`;
	if (count >= threshold) return { state: "done", lines: [line] };
	if (isDryRun) return { state: "would do", lines: [line] };
	const next = `give each attester the new deployment file, an endpoint of its own under chains.${chainId}, and a restart; then run again`;
	return { state: "waiting", lines: [line, next] };
}
