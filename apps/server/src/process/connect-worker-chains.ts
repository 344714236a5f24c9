import { accountOfSigner } from "@geoswap/keys/account-of-signer";
import { refuseSolanaDevelopmentKeys } from "@geoswap/keys/development/refuse-solana-development-keys";
import { formatAddress, geoVaultAbi, type Milliseconds, toSolanaWord } from "@geoswap/protocol";
import type { Address, Hex, LocalAccount } from "viem";
import type { DepositSight, ToldDeposit } from "../chain/deposit-sight.ts";
import { connectChain, type EvmChain } from "../chain/evm/connect-chain.ts";
import { readDeposit } from "../chain/evm/read/read-deposit.ts";
import type { HeadNews } from "../chain/node-pool/watch-heads.ts";
import { type NeededDepth, requestTwoHosts } from "../chain/request-two-hosts.ts";
import { connectSolana, type SolanaChain } from "../chain/solana/connect-solana.ts";
import { readRecords } from "../chain/solana/program/read-orders.ts";
import { checkOwnAccounts } from "../chain/solana/read/check-own-accounts.ts";
import { readSolanaDeposit } from "../chain/solana/read/read-solana-deposit.ts";
import type { SolanaKeys } from "../chain/solana/send/sign-instructions.ts";
import {
	type ChainConfig,
	type EvmChainConfig,
	hostsThatAgree,
	type SolanaChainConfig,
} from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import type { DatabasePool } from "../database/database.ts";
import type { Engine, Handler } from "../durable/engine.ts";
import { evmFollower } from "../follow/evm/evm-follower.ts";
import type { Follower } from "../follow/keep-following.ts";
import { solanaFollower } from "../follow/solana/solana-follower.ts";
import { createLane } from "../lane/evm/create-lane.ts";
import type { LaneDeps } from "../lane/evm/lane.ts";
import { createSolanaLane } from "../lane/solana/create-solana-lane.ts";
import { expectChainIds } from "../preflight/expect-chain-ids.ts";
import { expectGenesisHash } from "../preflight/expect-genesis-hash.ts";
import { expectOwnAccounts } from "../preflight/expect-own-accounts.ts";
import { refuseOtherChains } from "../preflight/refuse-other-chains.ts";
import { createLostOrderSearch, type LostOrderSearch } from "../round/rebuild/find-lost-orders.ts";
import type { SolanaOutcome } from "../round/rebuild/rebuild-orders.ts";
import { openRelayers, relayersField } from "../signer/open-relayers.ts";
import type { Signers } from "../signer/open-signers.ts";
import { openSolanaKeys } from "../signer/open-solana-keys.ts";
import { openTreasurer, refuseSharedTreasurer, treasurersField } from "../signer/open-treasurer.ts";
import type { Log } from "../telemetry/log.ts";
import { connectEvmNodes, connectSolanaNodes, type NodeWatching } from "./connect-nodes.ts";

/** A provider's timeout for the cross-check of a deposit. A provider that is down delays only the calls to itself. */
const agreeTimeoutMs = 3_000;

type Connecting = NodeWatching & {
	keys: Config["keys"];
	signers: Signers;
	/** Whether the treasury acts, which needs a treasurer's key on each EVM chain. */
	isActing: boolean;
};
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
	config: Pick<Config, "chains" | "keys" | "treasury">,
	watching: Omit<Connecting, "keys" | "isActing">,
): Promise<{ chains: WorkerChain[]; evm: EvmChain[] }> {
	const connecting = { ...watching, keys: config.keys, isActing: config.treasury.mode === "act" };
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
	{ keys, signers, isActing, ...watching }: Connecting,
): Promise<Connected> {
	const { chainId } = config;
	const relayers = await openRelayers(chainId, { keys, signers });
	const treasurer = isActing ? await openTreasurer(chainId, { keys, signers }) : undefined;
	if (treasurer) {
		refuseSharedTreasurer(treasurer.address, {
			chainId,
			relayers: relayers.map(({ address }) => address),
			attesters: config.deployment.attesterSet.attesters,
			field: treasurersField(keys),
		});
	}
	const evm = connectEvmNodes(config, watching);
	const agreeing = hostsThatAgree(config).map(({ host, url }) => ({
		host,
		chain: connectChain({ ...config, rpcUrl: url, timeoutMs: agreeTimeoutMs }),
	}));
	const chain = evmWorkerChain({
		config,
		chain: evm,
		accounts: relayers.map(accountOfSigner),
		treasurer: treasurer && accountOfSigner(treasurer),
		agreeing,
	});
	return {
		chain,
		evm,
		identify: () => expectChainIds([evm]),
		check: async () => {
			await refuseDelegatedRelayers(evm, { relayers: chain.relayers, field: relayersField(keys) });
			if (treasurer) {
				await refuseDelegatedRelayers(evm, {
					relayers: [treasurer.address],
					field: treasurersField(keys),
				});
			}
		},
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

/** Returns everything that a worker runs for an EVM chain. */
export function evmWorkerChain({
	config,
	chain,
	accounts,
	treasurer,
	agreeing,
}: {
	config: EvmChainConfig;
	chain: EvmChain;
	/** The accounts that send the transactions of swaps. */
	accounts: readonly LocalAccount[];
	/** The account that moves inventory. Absent if the treasury does not act. */
	treasurer?: LocalAccount | undefined;
	/** The same chain at each provider that cross-checks large deposits, without failover. */
	agreeing: readonly { host: string; chain: EvmChain }[];
}): WorkerChain {
	const { chainId, client } = chain;
	const relayers = accounts.map(({ address }) => address);
	const payers = treasurer ? [...relayers, treasurer.address] : relayers;
	return {
		chainId,
		config,
		relayers,
		payers,
		...(treasurer && { treasurer: treasurer.address }),
		isAnyLaneGood: true,
		news: chain.news,
		createLanes: (deps) => createLane({ ...deps, chain, policy: config, accounts, treasurer }),
		createFollower: (deps) =>
			evmFollower({
				...deps,
				chain,
				relayers,
				payers,
				// One provider would only agree with itself.
				agreeing: agreeing.length > 1 ? agreeing.map((one) => one.chain) : [],
			}),
		askSecondProvider: (deposit, needed) =>
			requestTwoHosts(
				agreeing.map(({ host, chain: at }) => ({ host, see: (asked) => readDeposit(at, asked) })),
				deposit,
				needed,
			),
		isVaultPaused: () =>
			client.readContract({
				address: chain.deployment.contracts.vault,
				abi: geoVaultAbi,
				functionName: "paused",
			}),
		readBalances: () =>
			Promise.all(
				payers.map(async (address) => ({
					relayer: formatAddress(chainId, address),
					balance: await client.getBalance({ address }),
				})),
			),
	};
}

/** Returns everything that a worker runs for Solana. */
export function solanaWorkerChain({
	config,
	chain,
	keys,
	agreeing,
}: {
	config: SolanaChainConfig;
	chain: SolanaChain;
	/** All keys of the service there. */
	keys: SolanaKeys;
	/** The same chain at each provider that cross-checks large deposits, without failover. */
	agreeing: readonly { host: string; chain: SolanaChain }[];
}): WorkerChain {
	const feePayers = keys.feePayers.map(({ address }) => address);
	const relayers = feePayers.map(toSolanaWord);
	return {
		chainId: chain.chainId,
		config,
		relayers,
		payers: relayers,
		isAnyLaneGood: false,
		createLanes: (deps) => createSolanaLane({ ...deps, chain, keys, policy: config }),
		createFollower: (deps) => solanaFollower({ ...deps, chain, relayers }),
		askSecondProvider: (deposit, needed) =>
			requestTwoHosts(
				agreeing.map(({ host, chain: at }) => ({ host, see: (asked) => readSolanaDeposit(at, asked) })),
				deposit,
				needed,
			),
		readBalances: () =>
			Promise.all(
				feePayers.map(async (address) => {
					const { value } = await chain.rpc.getBalance(address, { commitment: "confirmed" }).send();
					return { relayer: address, balance: value };
				}),
			),
		findProblems: () => checkOwnAccounts(chain),
		readSolanaOutcomes: async (orderIds) => {
			const records = await readRecords(chain, { orderIds, commitment: "finalized" });
			return records.map(({ record }) => record?.state ?? "none");
		},
		findLostOrders: createLostOrderSearch(chain),
	};
}

/**
 * Everything that a worker runs for one chain. Lanes and followers differ by the kind of chain, but code that runs
 * them need not distinguish the kinds.
 */
export type WorkerChain = {
	chainId: number;
	config: ChainConfig;
	/** The accounts that send transactions, in the form of the store. Each has a separate lane. */
	relayers: readonly Hex[];
	/** All accounts that pay for transactions: the relayers, and the treasurer if there is one. */
	payers: readonly Hex[];
	/** The account that moves inventory, in a lane of its own. Absent if the treasury does not act. */
	treasurer?: Address;
	/** True if every lane can do every job. On Solana an op names its fee payer, and no other lane can send it. */
	isAnyLaneGood: boolean;
	/** Notifications of the chain's blocks. Absent if no node is subscribed to. */
	news?: HeadNews | undefined;
	createLanes: (deps: LaneDeps) => Handler;
	createFollower: (deps: {
		pool: DatabasePool;
		engine: Engine;
		nowMs: () => Milliseconds;
		log: Log;
	}) => Follower;
	/** Cross-checks a deposit with two providers. Throws if no two answer. */
	askSecondProvider: (deposit: ToldDeposit, needed: NeededDepth) => Promise<DepositSight>;
	/** Reads the relayers' balances of the native token, by address in the chain's notation. */
	readBalances: () => Promise<{ relayer: string; balance: bigint }[]>;
	/** Returns whether the vault's contract is paused. Absent where there is no such contract. */
	isVaultPaused?: () => Promise<boolean>;
	/** Returns what is wrong with the service's own accounts, in sentences. Absent where nothing can be wrong. */
	findProblems?: () => Promise<string[]>;
	/** Reads the outcomes of orders to Solana at a final slot. Absent on EVM chains, whose events show them. */
	readSolanaOutcomes?: (orderIds: readonly Hex[]) => Promise<SolanaOutcome[]>;
	/** Stores orders whose swaps a restore has lost. Absent on EVM chains, whose followers find all orders. */
	findLostOrders?: LostOrderSearch;
};
