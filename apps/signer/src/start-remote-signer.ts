import type { Milliseconds } from "@geoswap/protocol";
import { createSigning } from "./create-signing.ts";
import { type KeyOpener, openSigningKeys } from "./open-signing-keys.ts";
import { createClosings } from "./proof/create-closings.ts";
import { createFeedPrices } from "./proof/create-feed-prices.ts";
import { createProofs } from "./proof/create-proofs.ts";
import { connectEvmNode, type EvmNode } from "./read/evm-node.ts";
import { connectSolanaNode, type SolanaNode } from "./read/solana-node.ts";
import { remoteSignerMetrics } from "./remote-signer-metrics.ts";
import { followCertificates } from "./server/follow-certificates.ts";
import { readCertificates } from "./server/read-certificates.ts";
import { type SignerServer, startSignerServer } from "./server/start-signer-server.ts";
import type { SignerConfig } from "./signer-config.ts";
import { openSignerState } from "./state/open-signer-state.ts";
import type { Log } from "./telemetry/log.ts";
import type { Meter } from "./telemetry/meter.ts";

export type RemoteSigner = {
	url: string;
	close: () => Promise<void>;
};

/** Starts the remote signer. It checks each payload by its own files, and signs what its policy allows. */
export async function startRemoteSigner({
	config,
	opener,
	meter,
	rereadCertificatesMs = 2_000,
	nowMs,
	log,
}: {
	config: SignerConfig;
	opener: KeyOpener;
	/** Undefined if metrics are not used. */
	meter?: Meter | undefined;
	rereadCertificatesMs?: Milliseconds;
	nowMs: () => number;
	log: Log;
}): Promise<RemoteSigner> {
	const { deployment, caps, payoutMarginBps: marginBps, host, port } = config;
	let certificates = readCertificates(config.tls);
	let clientExpiries: SignerServer["clientExpiries"] = () => [];
	const keys = await openSigningKeys(config, { opener, nowMs });
	const state = openSignerState({ path: config.state, caps, nowMs });
	try {
		const chains = chainsOf(config);
		const solana = solanaOf(config);
		const worthE18 = createFeedPrices({ deployment, chains, nowMs });
		const readClosing = createClosings({ chains, solana });
		const prove = createProofs({ chains, solana, worthE18, marginBps, nowMs });
		const metrics =
			meter &&
			remoteSignerMetrics(meter, {
				keys: keys.map(({ name }) => name),
				report: state.report,
				certificates: () => [...certificates.expiries, ...clientExpiries()],
				nowMs,
			});
		const signing = createSigning({ keys, state, prove, readClosing, nowMs, metrics, log });
		const server = await startSignerServer({ signing, certificates, host, port, nowMs, log });
		clientExpiries = server.clientExpiries;
		const following = followCertificates({
			first: certificates,
			read: () => readCertificates(config.tls),
			use: (fresh) => {
				server.useCertificates(fresh);
				certificates = fresh;
			},
			everyMs: rereadCertificatesMs,
			log,
		});
		return {
			url: server.url,
			close: async () => {
				following.stop();
				await server.close();
				state.close();
			},
		};
	} catch (error) {
		state.close();
		throw error;
	}
}

function chainsOf({ chains }: SignerConfig): Map<number, EvmNode> {
	return new Map(
		Object.entries(chains).flatMap(([id, { rpcUrl }]) => {
			const chainId = Number(id);
			return rpcUrl === undefined ? [] : [[chainId, connectEvmNode({ chainId, rpcUrl })] as const];
		}),
	);
}

function solanaOf({ solana, deployment: { solana: deployment } }: SignerConfig): SolanaNode | undefined {
	if (solana?.rpcUrl === undefined || !deployment) return undefined;
	return connectSolanaNode({ rpcUrl: solana.rpcUrl, deployment });
}
