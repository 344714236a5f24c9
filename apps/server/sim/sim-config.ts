import type { ChainDeployment, SolanaDeployment } from "@geoswap/protocol";
import { type Config, configSchema } from "../src/config/config.ts";
import { configProblems } from "../src/config/config-problems.ts";
import { joinDeployment } from "../src/config/read-config.ts";

/** The speed of the world's chains. */
export const pace = {
	evm: { blockMs: 3_000, finalityBlocks: 6, replaceAfterBlocks: 5 },
	solana: { slotMs: 400, finalitySlots: 32 },
};

const nodes = [{ url: "http://node.invalid" }, { url: "http://second.invalid", roles: ["agree"] }];

const evm = {
	pollMs: 1_500,
	depths: [
		{ upToUsd: 1_000, blocks: 1 },
		{ upToUsd: 5_000, blocks: 3 },
	],
	nodes,
	agreeAboveUsd: 500,
	finalitySeconds: 20,
	openSeconds: 75,
	fillSeconds: 60,
	refundSeconds: 60,
	replaceAfterBlocks: pace.evm.replaceAfterBlocks,
	unfinalCapUsd: 20_000,
	unreleasedCapUsd: 60_000,
};

const solana = {
	pollMs: 2_000,
	depths: [{ upToUsd: 1_000, blocks: 2 }],
	nodes,
	agreeAboveUsd: 500,
	finalitySeconds: 16,
	openSeconds: 110,
	fillSeconds: 120,
	refundSeconds: 60,
	blockhashSeconds: { least: 45, most: 80 },
	unfinalCapUsd: 20_000,
	unreleasedCapUsd: 60_000,
};

/** Returns the service's configuration for the world. A swap takes less than a minute without faults. */
export function simConfig({
	chains: deployments,
	solana: onSolana,
}: {
	chains: readonly ChainDeployment[];
	solana: SolanaDeployment;
}): Config {
	const file = configSchema.parse({
		deployment: "",
		chains: Object.fromEntries(deployments.map(({ chainId }) => [chainId, evm])),
		solana,
		api: { port: 0 },
		worker: { port: 0 },
		restate: { ingressUrl: "http://engine.invalid", adminUrl: "http://engine.invalid" },
		attesters: [1, 2, 3].map((n) => ({ url: `http://attester-${n}.invalid` })),
		heartbeatSeconds: 60,
		price: { maximumUsd: 50_000 },
		limits: { unsettledGasUsdPerDay: 1_000_000_000, refusedRecipientsPerDay: 1_000_000_000 },
	});
	const config = joinDeployment("the world", file, { chains: [...deployments], solana: onSolana });
	const problems = configProblems(config);
	if (problems.length > 0) throw new Error(problems.join("\n"));
	return config;
}
