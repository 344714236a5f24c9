import { toSolanaWord } from "@geoswap/protocol";
import type { Hex } from "viem";
import { connectChain } from "../chain/evm/chain-client.ts";
import { accountOfKey } from "../chain/evm/secp256k1.ts";
import type { OnChainCall } from "../chain/on-chain-call.ts";
import { connectSolana } from "../chain/solana/connect-solana.ts";
import type { ChainConfig, Config, SolanaConfig } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { readSolanaKeys } from "../config/secrets.ts";
import { expectChainIds } from "../operate/preflight/expect-chain-ids.ts";
import { expectGenesisHash } from "../operate/preflight/expect-genesis-hash.ts";
import { expectOwnAccounts } from "../operate/preflight/expect-own-accounts.ts";
import { refuseDevelopmentKeys } from "../operate/preflight/refuse-development-keys.ts";
import { refuseSolanaDevelopmentKeys } from "../operate/preflight/refuse-solana-development-keys.ts";
import type { WorkerChain, WorkerSolana } from "./create-pumps.ts";

/**
 * Connects all configured chains, with the keys to send there, and checks that they are what a worker needs. Throws a
 * message that a person can act on.
 */
export async function connectWorkerChains(
	config: Pick<Config, "chains" | "solana">,
	{
		relayerKeys,
		onCall,
	}: { relayerKeys: ReadonlyMap<number, readonly Hex[]>; onCall: OnChainCall | undefined },
): Promise<{ chains: WorkerChain[]; solana: WorkerSolana | undefined }> {
	const chains = config.chains.map((chain) => ({
		config: chain,
		chain: connectChain({ ...chain, onCall }),
		accounts: relayersOf(chain, relayerKeys),
	}));
	const solana = config.solana && (await solanaOf(config.solana, onCall));
	await Promise.all([
		expectChainIds(chains.map(({ chain }) => chain)),
		solana && expectGenesisHash(solana.chain),
	]);
	if (solana) await expectOwnAccounts(solana.chain);
	await Promise.all(chains.map(refuseDelegatedRelayers));
	return { chains, solana };
}

function relayersOf({ chainId }: ChainConfig, relayerKeys: ReadonlyMap<number, readonly Hex[]>) {
	const keys = relayerKeys.get(chainId) ?? [];
	if (keys.length === 0) throw new ConfigError("GEOSWAP_RELAYER_KEYS", `has no key for chain ${chainId}`);
	refuseDevelopmentKeys(keys, [chainId]);
	return keys.map((key) => accountOfKey(key));
}

async function solanaOf(config: SolanaConfig, onCall: OnChainCall | undefined): Promise<WorkerSolana> {
	const keys = await readSolanaKeys(config.deployment);
	refuseSolanaDevelopmentKeys(config.deployment);
	const relayers = keys.feePayers.map(({ address }) => toSolanaWord(address));
	return { config, chain: connectSolana({ ...config, onCall }), keys, relayers };
}

/** Throws if a relayer has code: the EntryPoint takes bundles only from an account without. */
async function refuseDelegatedRelayers({
	chain: { chainId, client },
	accounts,
}: Pick<WorkerChain, "chain" | "accounts">): Promise<void> {
	for (const { address } of accounts) {
		if (await client.getCode({ address })) {
			throw new ConfigError(
				"GEOSWAP_RELAYER_KEYS",
				`${address} has code on chain ${chainId} and cannot bundle`,
			);
		}
	}
}
