import type { Hex } from "viem";
import type { DevnetKeys } from "../devnet-keys.ts";

export type StackEndpoint = { chainId: number; rpcUrl: string };

/** What the server's configuration file says here; a caller may change any of it. */
export type StackConfig = { chains: Record<string, Record<string, unknown>>; [key: string]: unknown };

/** On chains with a block a second, what takes minutes on real ones takes seconds. */
const chainPace = {
	pollMs: 250,
	depths: [{ upToUsd: 1_000_000, blocks: 1 }],
	finalitySeconds: 5,
	openSeconds: 75,
	fillSeconds: 45,
	refundSeconds: 30,
};

export function stackConfig({
	endpoints,
	ports,
	restate,
	attesterUrls,
}: {
	endpoints: readonly StackEndpoint[];
	ports: { api: number; worker: number };
	restate: { ingressUrl: string; adminUrl: string };
	attesterUrls: string[];
}): StackConfig {
	return {
		deployment: "deployment.json",
		chains: Object.fromEntries(endpoints.map(({ chainId, rpcUrl }) => [chainId, { rpcUrl, ...chainPace }])),
		api: { port: ports.api },
		worker: { port: ports.worker },
		restate: { ingressUrl: restate.ingressUrl, adminUrl: restate.adminUrl },
		attesters: attesterUrls.map((url) => ({ url })),
		heartbeatSeconds: 10,
	};
}

export function attesterConfig({ endpoints, port }: { endpoints: readonly StackEndpoint[]; port: number }) {
	return {
		deployment: "deployment.json",
		chains: Object.fromEntries(endpoints.map(({ chainId, rpcUrl }) => [chainId, { rpcUrl }])),
		host: "127.0.0.1",
		port,
	};
}

/** Two on each chain; the others of the devnet are left to whoever wants to act as a stranger with gas. */
export function relayerKeys(endpoints: readonly StackEndpoint[], keys: DevnetKeys): string {
	const ours: Hex[] = keys.relayers.slice(0, 2);
	return endpoints.flatMap(({ chainId }) => ours.map((key) => `${chainId}:${key}`)).join(",");
}
