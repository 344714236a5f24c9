import type { Hex } from "viem";
import type { DevnetKeys } from "../devnet-keys.ts";

/** The endpoint of a chain, and of a second provider if there is one. */
export type StackEndpoint = { chainId: number; rpcUrl: string; secondRpcUrl?: string };
export type StackSolanaEndpoint = { rpcUrl: string; secondRpcUrl?: string };

/** The server's configuration file. A caller may change any of it. */
export type StackConfig = {
	chains: Record<string, Record<string, unknown>>;
	solana?: Record<string, unknown>;
	audit: Record<string, unknown>;
	[key: string]: unknown;
};

/** What each vault of the devnet holds of its settlement token at the start. */
const inventoryTargetUsd = 5_000_000;

/** On chains with a block per second, steps that take minutes on real ones take seconds. */
const chainPace = {
	pollMs: 250,
	depths: [{ upToUsd: 1_000_000, blocks: 1 }],
	finalitySeconds: 5,
	openSeconds: 75,
	fillSeconds: 45,
	refundSeconds: 30,
	inventoryTargetUsd,
};

/** For slots of 200 ms, finality after 32 slots, and blockhashes that live for 150. */
const solanaPace = {
	pollMs: 200,
	depths: [{ upToUsd: 1_000_000, blocks: 0 }],
	finalitySeconds: 8,
	openSeconds: 75,
	fillSeconds: 60,
	refundSeconds: 30,
	blockhashSeconds: { least: 20, most: 35 },
	inventoryTargetUsd,
};

/**
 * Tiers of the token of which the devnet's wallets hold increasing amounts. The short cache makes changes show soon.
 */
const discountTiers = {
	cacheSeconds: 5,
	tiers: [
		{ name: "bronze", minimum: "1000", discountPercent: 10 },
		{ name: "silver", minimum: "10000", discountPercent: 25 },
		{ name: "gold", minimum: "100000", discountPercent: 50 },
	],
};

/** Low enough that the larger swaps of the tests need the second provider. */
const agreeAboveUsd = 50;

function endpoint({ rpcUrl, secondRpcUrl }: StackSolanaEndpoint) {
	if (!secondRpcUrl) return { nodes: [{ url: rpcUrl }] };
	return { nodes: [{ url: rpcUrl }, { url: secondRpcUrl, roles: ["agree"] }], agreeAboveUsd };
}

export function stackConfig({
	endpoints,
	solana,
	ports,
	restate,
	attesterUrls,
	irisUrl,
	roles,
}: {
	endpoints: readonly StackEndpoint[];
	solana?: StackSolanaEndpoint | undefined;
	ports: {
		api: number;
		worker: number;
		console?: number;
		metrics: { api: number; worker: number; audit: number };
	};
	restate: { ingressUrl: string; adminUrl: string; identityKey: string };
	attesterUrls: string[];
	/** The model of Circle's attestation service, if there is one. */
	irisUrl?: string | undefined;
	roles: Record<string, string>;
}): StackConfig {
	return {
		deployment: "deployment.json",
		chains: Object.fromEntries(endpoints.map((at) => [at.chainId, { ...endpoint(at), ...chainPace }])),
		...(solana && { solana: { ...endpoint(solana), ...solanaPace } }),
		...(endpoints[0] && { feeDiscount: { chainId: endpoints[0].chainId, ...discountTiers } }),
		api: { port: ports.api, metrics: { port: ports.metrics.api } },
		worker: { port: ports.worker, metrics: { port: ports.metrics.worker } },
		audit: { metrics: { port: ports.metrics.audit } },
		...(ports.console !== undefined && { console: { port: ports.console } }),
		database: { roles },
		restate: {
			ingressUrl: restate.ingressUrl,
			adminUrl: restate.adminUrl,
			identityKeys: [restate.identityKey],
		},
		attesters: attesterUrls.map((url) => ({ url })),
		...(irisUrl !== undefined && { treasury: { iris: { url: irisUrl } } }),
		// Longer than a busy machine stalls.
		heartbeatSeconds: 30,
	};
}

export function attesterConfig({
	endpoints,
	solana,
	port,
	logLevel,
}: {
	endpoints: readonly StackEndpoint[];
	solana?: StackSolanaEndpoint | undefined;
	port: number;
	/** Undefined for the default. */
	logLevel?: unknown;
}) {
	return {
		deployment: "deployment.json",
		chains: Object.fromEntries(endpoints.map(({ chainId, rpcUrl }) => [chainId, { rpcUrl }])),
		...(solana && { solana: { rpcUrl: solana.rpcUrl } }),
		host: "127.0.0.1",
		port,
		logLevel,
	};
}

/**
 * Returns two relayers on each chain. The devnet's other relayers are left to tests that act as a third party with gas.
 */
export function relayerKeys(endpoints: readonly StackEndpoint[], keys: DevnetKeys): string {
	const ours: Hex[] = keys.relayers.slice(0, 2);
	return endpoints.flatMap(({ chainId }) => ours.map((key) => `${chainId}:${key}`)).join(",");
}

/** Returns the same treasurer on each chain. */
export function treasurerKeys(endpoints: readonly StackEndpoint[], { treasurer }: DevnetKeys): string {
	return endpoints.map(({ chainId }) => `${chainId}:${treasurer}`).join(",");
}
