import type { Hex } from "viem";
import { connectChain, type EvmChain } from "../chain/evm/chain-client.ts";
import { accountOfKey } from "../chain/evm/secp256k1.ts";
import { connectSolana } from "../chain/solana/connect-solana.ts";
import { type EvmChainConfig, hostsThatAgree, type SolanaChainConfig } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { readSolanaKeys } from "../config/secrets.ts";
import { expectChainIds } from "../operate/preflight/expect-chain-ids.ts";
import { expectGenesisHash } from "../operate/preflight/expect-genesis-hash.ts";
import { expectOwnAccounts } from "../operate/preflight/expect-own-accounts.ts";
import { refuseDevelopmentKeys } from "../operate/preflight/refuse-development-keys.ts";
import { refuseOtherChains } from "../operate/preflight/refuse-other-chains.ts";
import { refuseSolanaDevelopmentKeys } from "../operate/preflight/refuse-solana-development-keys.ts";
import { connectEvmNodes, connectSolanaNodes, type NodeWatching } from "./connect-nodes.ts";
import { evmWorkerChain } from "./evm-worker-chain.ts";
import { solanaWorkerChain } from "./solana-worker-chain.ts";
import type { WorkerChain } from "./worker-chain.ts";

/** How long a provider may take to say whether it has a deposit. One that is down holds up only the calls to it. */
const agreeTimeoutMs = 3_000;

type Connecting = NodeWatching & { relayerKeys: ReadonlyMap<number, readonly Hex[]> };
/** A chain that is connected, and the checks that it must pass before a worker starts. */
type Connected = {
	chain: WorkerChain;
	evm?: EvmChain;
	/** Throws if the endpoint is another chain's or does not answer. */
	identify: () => Promise<void>;
	check: () => Promise<void>;
};

/**
 * Connects all configured chains, with the keys to send there, and checks that they are what a worker needs. Throws a
 * message that a person can act on. `evm` has the connections from which prices are read.
 */
export async function connectWorkerChains(
	config: Pick<Config, "chains">,
	connecting: Connecting,
): Promise<{ chains: WorkerChain[]; evm: EvmChain[] }> {
	const connected = await Promise.all(
		config.chains.map((chain) =>
			chain.kind === "evm" ? connectEvm(chain, connecting) : connectToSolana(chain, connecting),
		),
	);
	await Promise.all([
		...connected.map(({ identify }) => identify()),
		...config.chains.map(refuseOtherChains),
	]);
	await Promise.all(connected.map(({ check }) => check()));
	return { chains: connected.map(({ chain }) => chain), evm: connected.flatMap(({ evm }) => evm ?? []) };
}

async function connectEvm(
	config: EvmChainConfig,
	{ relayerKeys, ...watching }: Connecting,
): Promise<Connected> {
	const { chainId } = config;
	const keys = relayerKeys.get(chainId) ?? [];
	if (keys.length === 0) throw new ConfigError("GEOSWAP_RELAYER_KEYS", `has no key for chain ${chainId}`);
	refuseDevelopmentKeys(keys, [chainId]);
	const evm = connectEvmNodes(config, watching);
	const agreeing = hostsThatAgree(config).map(({ host, url }) => ({
		host,
		chain: connectChain({ ...config, rpcUrl: url, timeoutMs: agreeTimeoutMs }),
	}));
	const chain = evmWorkerChain({ config, chain: evm, accounts: keys.map(accountOfKey), agreeing });
	return {
		chain,
		evm,
		identify: () => expectChainIds([evm]),
		check: () => refuseDelegatedRelayers(evm, chain.relayers),
	};
}

async function connectToSolana(config: SolanaChainConfig, watching: Connecting): Promise<Connected> {
	const { deployment } = config;
	const keys = await readSolanaKeys(deployment);
	refuseSolanaDevelopmentKeys(deployment);
	const chain = connectSolanaNodes(config, watching);
	const agreeing = hostsThatAgree(config).map(({ host, url }) => ({
		host,
		chain: connectSolana({ ...config, rpcUrl: url, timeoutMs: agreeTimeoutMs }),
	}));
	return {
		chain: solanaWorkerChain({ config, chain, keys, agreeing }),
		identify: () => expectGenesisHash(chain),
		check: () => expectOwnAccounts(chain),
	};
}

/** Throws if a relayer has code: the EntryPoint takes bundles only from an account without. */
async function refuseDelegatedRelayers(
	{ chainId, client }: EvmChain,
	relayers: readonly Hex[],
): Promise<void> {
	for (const address of relayers) {
		if (await client.getCode({ address })) {
			throw new ConfigError(
				"GEOSWAP_RELAYER_KEYS",
				`${address} has code on chain ${chainId} and cannot send bundles: use an account without code`,
			);
		}
	}
}
