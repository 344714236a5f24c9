import { dirname, resolve } from "node:path";
import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import { urlSchema } from "@geoswap/keys/config/url-schema";
import {
	attesterSetHash,
	attesterSetSchema,
	contractAddressSchema,
	deploymentSchema,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import * as z from "zod";
import { connectChain, type EvmChain } from "../chain/evm/connect-chain.ts";
import type { EarlierImmutables } from "../chain/evm/read/find-code-problems.ts";
import { connectSolana, type SolanaChain } from "../chain/solana/connect-solana.ts";
import { ConfigError } from "../config/config-error.ts";
import { type AttesterKeys, attesterKeysSchema } from "../config/role-keys.ts";

const attesterConfigSchema = z.strictObject({
	/** Path of the deployment file, relative to this one: a copy of the attester's own. */
	deployment: z.string(),
	/**
	 * Chains by id. The endpoints are the attester's own, not the service's, because it must read the chains
	 * independently.
	 */
	chains: z.record(z.string().regex(/^[1-9]\d*$/), z.strictObject({ rpcUrl: urlSchema })),
	/** Solana, if this attester watches it too. */
	solana: z.strictObject({ rpcUrl: urlSchema }).exactOptional(),
	/** Retired attester sets that open orders still reference. */
	earlierAttesterSets: z.array(attesterSetSchema).default([]),
	/** Routers of earlier vaults, if the deployment file names another one by now. */
	earlierRouters: z.array(contractAddressSchema).default([]),
	/** Settlement tokens of earlier vaults that the deployment file no longer lists as stables. */
	earlierSettlementTokens: z.array(contractAddressSchema).default([]),
	/** The key that it signs with. Only its name is here. */
	keys: attesterKeysSchema.prefault({}),
	host: z.string().default("127.0.0.1"),
	port: z.int().min(0).max(65_535),
	logLevel: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
});

/** An attester's configuration: the contracts it signs for, and the endpoints it reads. */
export type AttesterConfig = EarlierImmutables & {
	/** The EVM chains. */
	chains: readonly EvmChain[];
	solana?: SolanaChain;
	/** Hashes of the retired attester sets. */
	earlierAttesterSets: readonly Hex[];
	keys: AttesterKeys;
	host: string;
	port: number;
	logLevel: string;
};

/** Reads a configuration file and the deployment file that it names. Throws a message that an operator can act on. */
export function readAttesterConfig(path: string): AttesterConfig {
	const file = parseJsonFile(attesterConfigSchema, path);
	const deploymentPath = resolve(dirname(path), file.deployment);
	const deployment = parseJsonFile(deploymentSchema, deploymentPath);
	const config: AttesterConfig = {
		chains: Object.entries(file.chains).map(([id, { rpcUrl }]) => {
			const deployed = deployment.chains.find(({ chainId }) => chainId === Number(id));
			if (!deployed) throw new ConfigError(path, `chains.${id}: ${deploymentPath} has no such chain`);
			return connectChain({ chainId: deployed.chainId, rpcUrl, deployment: deployed });
		}),
		earlierAttesterSets: file.earlierAttesterSets.map(attesterSetHash),
		earlierRouters: file.earlierRouters,
		earlierSettlementTokens: file.earlierSettlementTokens,
		keys: file.keys,
		host: file.host,
		port: file.port,
		logLevel: file.logLevel,
	};
	if (file.solana) {
		if (!deployment.solana) throw new ConfigError(path, `solana: ${deploymentPath} has no such chain`);
		config.solana = connectSolana({ rpcUrl: file.solana.rpcUrl, deployment: deployment.solana });
	}
	return config;
}
