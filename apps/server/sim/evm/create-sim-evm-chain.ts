import type { AttesterSet, ChainDeployment } from "@geoswap/protocol";
import { type Address, type Hex, parseEther, zeroAddress } from "viem";
import { RpcFailure, type SimChain } from "../sim-chain.ts";
import { answerRpc } from "./answer-rpc.ts";
import { evmOf } from "./create-evm.ts";
import { type EvmBlock, mineBlock } from "./evm-blocks.ts";
import { lower } from "./lower.ts";
import { parseRawTransaction } from "./parse-raw-transaction.ts";
import { placeContracts, type VaultRoles } from "./place-contracts.ts";
import { firstInventoryOf, simEvmDeployment } from "./sim-evm-deployment.ts";
import { stateKey } from "./state-overlay.ts";
import { storageKeys } from "./storage-keys.ts";
import { createTransactionPool } from "./transaction-pool.ts";
import { createVersionedState } from "./versioned-state.ts";

type At = "latest" | "finalized" | number;

/** An EVM chain in memory. Its readers return the true state, while a node in front of it may answer wrongly. */
export type SimEvmChain = SimChain & {
	deployment: ChainDeployment;
	/** Adds to a balance in all blocks, so that no reorg removes it. The zero address is the native token. */
	give: (token: Address, holder: Address, amount: bigint) => void;
	/** Sets an account's code in all blocks. */
	placeCode: (address: Address, code: Hex) => void;
	balanceOf: (token: Address, holder: Address, at?: At) => bigint;
	allowanceOf: (token: Address, owner: Address, spender: Address, at?: At) => bigint;
	nonceOf: (account: Address, at?: At) => number;
	/** Returns the account's code, also a delegation; empty if it has none. */
	codeOf: (account: Address, at?: At) => string;
	escrowStateOf: (orderId: Hex, at?: At) => "none" | "opened" | "released" | "refunded";
	vaultStateOf: (orderId: Hex, at?: At) => "none" | "filled" | "voided";
	creditOf: (token: Address, beneficiary: Address, at?: At) => bigint;
	/** Returns all mined transactions of a sender, in the chain's order. */
	minedOf: (
		sender: Address,
		at?: At,
	) => { hash: Hex; raw: Hex; nonce: number; blockNumber: number; isSuccess: boolean }[];
	/** Returns a block's time in unix seconds; of the newest block by default. */
	timestamp: (at?: At) => number;
};

/** The admin of the vault, unless `roles` contains another. */
const defaultAdmin: Address = "0x00000000000000000000000000000000000ad3e1";
const usualBaseFee = 1_000_000_000n;
/** Blocks by which a stale node is behind. */
const blocksBehind = 3;

export async function createSimEvmChain({
	chainId,
	name,
	startMs,
	finalityBlocks,
	attesterSet,
	relayers,
	roles = {},
	deployment = simEvmDeployment({ chainId, name, attesterSet }),
	blockMs = 1_000,
}: {
	chainId: number;
	name: string;
	/** The time of the newest initial block. There are as many initial blocks as it takes to make the contracts final. */
	startMs: number;
	/** Number of blocks behind the newest one at which a block is final. */
	finalityBlocks: number;
	attesterSet: AttesterSet;
	/** The vault's operators, who may fill and void. Each is given 100 of the native token. */
	relayers: readonly Address[];
	roles?: Partial<Omit<VaultRoles, "operators">>;
	/** Pass one to put the contracts at given addresses. By default they follow from the chain id. */
	deployment?: ChainDeployment;
	/** Milliseconds between the initial blocks. */
	blockMs?: number;
}): Promise<SimEvmChain> {
	const state = createVersionedState();
	const keys = storageKeys(deployment);
	const evm = await evmOf(chainId);
	const firstBlocks = finalityBlocks + deployment.deployedAtBlock + 1;
	const firstMs = startMs - (firstBlocks - 1) * blockMs;
	const contracts = await placeContracts({
		deployment,
		roles: { admin: defaultAdmin, guardians: [], treasuries: [], ...roles, operators: relayers },
		timestamp: Math.floor(firstMs / 1_000),
	});
	state.write(0, contracts);
	const blocks: EvmBlock[] = [];
	let finalized = 0;
	let isStalled = false;
	let baseFee = usualBaseFee;
	let forks = 0;

	const latest = () => blocks.length - 1;
	const heightOf = (at: At) => (at === "latest" ? latest() : at === "finalized" ? finalized : at);
	const read = (key: string, at: At = "latest") => state.read(key, heightOf(at));
	const number = (key: string, at?: At) => (read(key, at) ?? 0n) as bigint;
	const pool = createTransactionPool({
		chainId,
		accounts: {
			nonce: (account) => Number(number(stateKey.nonce(account))),
			balance: (account) => number(stateKey.native(account)),
			// On a real chain, the code of an account that has a key can only be a delegation.
			isDelegated: (account) => (read(stateKey.code(account)) ?? "") !== "",
		},
	});

	const mine = async (options: {
		timestamp: number;
		baseFee: bigint;
		isHeldBack: (transactionHash: string) => boolean;
	}) => {
		const parent = blocks.at(-1);
		blocks.push(await mineBlock({ ...options, parent, salt: forks, pool, state, evm }));
		pool.purge();
		if (!isStalled) finalized = Math.max(finalized, latest() - finalityBlocks);
	};

	const chain: SimEvmChain = {
		chainId,
		deployment,
		request: (method, params, { isBehind = false } = {}) => {
			const world = { chainId, blocks, finalized, baseFee, state, pool, evm, send };
			const seen = isBehind
				? {
						...world,
						blocks: blocks.slice(0, Math.max(1, blocks.length - blocksBehind)),
						finalized: Math.max(0, finalized - blocksBehind),
					}
				: world;
			return answerRpc(seen, { method, params });
		},
		produce: async ({ atMs, holdBack = () => false, isEmpty = false }) => {
			const timestamp = Math.max(Math.floor(atMs / 1_000), blocks.at(-1)?.timestamp ?? 0);
			await mine({ timestamp, baseFee, isHeldBack: isEmpty ? () => true : holdBack });
		},
		reorg: async ({ depth, keep, pastFinality = false }) => {
			const deepest = latest() - (pastFinality ? 0 : finalized);
			const dropped = blocks.splice(blocks.length - Math.min(depth, deepest));
			if (dropped.length === 0) return;
			forks++;
			state.dropAbove(latest());
			const transactions = dropped.flatMap(({ mined }) => mined.map(({ transaction }) => transaction));
			pool.takeBack(transactions.filter(({ hash }) => keep(hash)));
			// The first new block is empty. The others include kept and pending transactions by their usual rules, so a kept
			// one can be mined in another block than before, or stay pending.
			for (const [i, { timestamp, baseFee: fee }] of dropped.entries()) {
				await mine({ timestamp, baseFee: fee, isHeldBack: () => i === 0 });
			}
		},
		drop: pool.drop,
		stallFinality: (stalled) => {
			isStalled = stalled;
		},
		setGasPrice: (multiple) => {
			baseFee = (usualBaseFee * BigInt(Math.round(multiple * 1_000))) / 1_000n;
		},
		heights: () => ({ latest: latest(), finalized }),
		waiting: pool.hashes,

		give: (token, holder, amount) =>
			state.rewrite(keys.balance(token, holder), (value) => ((value ?? 0n) as bigint) + amount),
		placeCode: (address, code) => state.rewrite(stateKey.code(lower(address)), () => code.toLowerCase()),
		balanceOf: (token, holder, at) => number(keys.balance(token, holder), at),
		allowanceOf: (token, owner, spender, at) => number(keys.allowance(token, owner, spender), at),
		nonceOf: (account, at) => Number(number(stateKey.nonce(lower(account)), at)),
		codeOf: (account, at) => (read(stateKey.code(lower(account)), at) ?? "") as string,
		escrowStateOf: (orderId, at) =>
			(["none", "opened", "released", "refunded"] as const)[Number(number(keys.escrowOrder(orderId), at))] ??
			"none",
		vaultStateOf: (orderId, at) =>
			(["none", "filled", "voided"] as const)[Number(number(keys.vaultOrder(orderId), at))] ?? "none",
		creditOf: (token, beneficiary, at) => number(keys.credit(token, beneficiary), at),
		minedOf: (sender, at = "latest") =>
			blocks.slice(0, heightOf(at) + 1).flatMap(({ number: blockNumber, mined }) =>
				mined
					.filter(({ transaction }) => transaction.from === lower(sender))
					.map(({ transaction: { hash, raw, nonce }, isSuccess }) => ({
						hash,
						raw,
						nonce,
						blockNumber,
						isSuccess,
					})),
			),
		timestamp: (at = "latest") => blocks[heightOf(at)]?.timestamp ?? 0,
	};

	function send(raw: Hex): Hex {
		const transaction = parseRawTransaction(raw);
		if (!transaction) throw new RpcFailure(-32_602, "failed to decode signed transaction");
		pool.add(transaction);
		return transaction.hash;
	}

	const { vault } = deployment.contracts;
	for (const { address, symbol } of deployment.assets) {
		const { inventory } = firstInventoryOf(symbol);
		chain.give(address, vault, inventory);
		if (symbol === "WETH") chain.give(zeroAddress, address, inventory);
	}
	for (const relayer of relayers) chain.give(zeroAddress, relayer, parseEther("100"));
	for (let i = 0; i < firstBlocks; i++) await chain.produce({ atMs: firstMs + i * blockMs, isEmpty: true });
	return chain;
}
