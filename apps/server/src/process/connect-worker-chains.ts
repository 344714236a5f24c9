import { accountOfSigner } from "@geoswap/keys/account-of-signer";
import { refuseDevelopmentKeys } from "@geoswap/keys/development/refuse-development-keys";
import { refuseSolanaDevelopmentKeys } from "@geoswap/keys/development/refuse-solana-development-keys";
import type { Hex } from "viem";
import { connectChain, type EvmChain } from "../chain/evm/connect-chain.ts";
import { connectSolana } from "../chain/solana/connect-solana.ts";
import { type EvmChainConfig, hostsThatAgree, type SolanaChainConfig } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { expectChainIds } from "../preflight/expect-chain-ids.ts";
import { expectGenesisHash } from "../preflight/expect-genesis-hash.ts";
import { expectOwnAccounts } from "../preflight/expect-own-accounts.ts";
import { refuseOtherChains } from "../preflight/refuse-other-chains.ts";
import { openRelayers, relayersField } from "../signer/open-relayers.ts";
import type { Signers } from "../signer/open-signers.ts";
import { openSolanaKeys } from "../signer/open-solana-keys.ts";
import { connectEvmNodes, connectSolanaNodes, type NodeWatching } from "./connect-nodes.ts";
import { evmWorkerChain } from "./evm-worker-chain.ts";
import { solanaWorkerChain } from "./solana-worker-chain.ts";
import type { WorkerChain } from "./worker-chain.ts";

/** A provider's timeout for the cross-check of a deposit. A provider that is down delays only the calls to itself. */
const agreeTimeoutMs = 3_000;

type Connecting = NodeWatching & { keys: Config["keys"]; signers: Signers };
/** A connected chain, and the checks that it must pass before a worker starts. */
type Connected = {
	chain: WorkerChain;
	evm?: EvmChain;
	/** Throws if the endpoint is of another chain or does not answer. */
	identify: () => Promise<void>;
	check: () => Promise<void>;
};

/**
 * Connects all configured chains, with the keys to send there, and checks that they are what a worker needs. Throws a
 * message that an operator can act on. `evm` has the connections from which prices are read.
 */
export async function connectWorkerChains(
	config: Pick<Config, "chains" | "keys">,
	watching: Omit<Connecting, "keys">,
): Promise<{ chains: WorkerChain[]; evm: EvmChain[] }> {
	const connecting = { ...watching, keys: config.keys };
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
	{ keys, signers, ...watching }: Connecting,
): Promise<Connected> {
	const { chainId } = config;
	const relayers = await openRelayers(chainId, { keys, signers });
	refuseDevelopmentKeys(
		relayers.map(({ address }) => address),
		[chainId],
	);
	const evm = connectEvmNodes(config, watching);
	const agreeing = hostsThatAgree(config).map(({ host, url }) => ({
		host,
		chain: connectChain({ ...config, rpcUrl: url, timeoutMs: agreeTimeoutMs }),
	}));
	const chain = evmWorkerChain({ config, chain: evm, accounts: relayers.map(accountOfSigner), agreeing });
	return {
		chain,
		evm,
		identify: () => expectChainIds([evm]),
		check: () => refuseDelegatedRelayers(evm, { relayers: chain.relayers, field: relayersField(keys) }),
	};
}

async function connectToSolana(
	config: SolanaChainConfig,
	{ keys: named, signers, ...watching }: Connecting,
): Promise<Connected> {
	const { deployment } = config;
	const keys = await openSolanaKeys({ keys: named, signers, deployment });
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

/**
 * Throws if a relayer has code, because its funds could be spent without its key, and its nonce could change without
 * its lane.
 */
async function refuseDelegatedRelayers(
	{ chainId, client }: EvmChain,
	{ relayers, field }: { relayers: readonly Hex[]; field: string },
): Promise<void> {
	for (const address of relayers) {
		if (await client.getCode({ address })) {
			throw new ConfigError(
				field,
				`${address} has code on chain ${chainId}, which could spend its funds; use an account without code`,
			);
		}
	}
}
