import { deriveSolanaDevnetKeys, describeSolana } from "@geoswap/devnet";
import {
	type Commitment,
	type LandedTransaction,
	RpcError,
	readTokenAccount,
	solanaMachine,
	solanaNode,
} from "@geoswap/devnet/solana-node";
import {
	decodeOrderAccount,
	decodeRecordAccount,
	type OrderAccount,
	orderAddress,
	type ProgramDeployment,
	type RecordAccount,
	recordAddress,
	type SolanaAddress,
	type SolanaDeployment,
	solanaNativeToken,
} from "@geoswap/protocol";
import {
	createKeyPairSignerFromBytes,
	createKeyPairSignerFromPrivateKeyBytes,
	type KeyPairSigner,
} from "@solana/kit";
import type { Hex } from "viem";
import type { SolanaKeys } from "../../src/chain/solana/send/sign-instructions.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { RpcFailure, type SimChain } from "../sim-chain.ts";
import { tokenAddressOf } from "./account-address.ts";

export type SimSolanaChain = Omit<SimChain, "produce" | "reorg"> & {
	produce: (options: Parameters<SimChain["produce"]>[0]) => void;
	reorg: (options: Parameters<SimChain["reorg"]>[0]) => void;
	deployment: SolanaDeployment;
	genesisHash: string;
	/** The service's keys. */
	keys: SolanaKeys;
	/** Returns slots. Not every slot has a block. */
	heights: () => { latest: number; confirmed: number; finalized: number };
	/** Creates a wallet that holds nothing. */
	newWallet: () => Promise<KeyPairSigner>;
	/** Gives tokens as if they had always been there, at every commitment. The native token is lamports. */
	give: (token: SolanaAddress, owner: SolanaAddress, amount: bigint) => void;
	balanceOf: (token: SolanaAddress, owner: SolanaAddress, commitment?: Commitment) => bigint;
	/** Returns the account of an order that began on Solana; undefined if it was never prepared or is closed. */
	orderOf: (orderId: Hex, commitment?: Commitment) => Promise<OrderAccount | undefined>;
	/** Returns the program's record of an order from another chain. */
	recordOf: (orderId: Hex, commitment?: Commitment) => Promise<RecordAccount | undefined>;
	/** Returns a landed transaction by its signature in base58. */
	landed: (signature: string, commitment?: Commitment) => LandedTransaction | undefined;
	/** Returns the transactions that contain the address, oldest first, including failed ones. */
	landedOf: (address: SolanaAddress, commitment?: Commitment) => LandedTransaction[];
	/** Closes the chain. It cannot be used any more, because another chain takes its machine. */
	close: () => void;
};

type SimSolanaOptions = {
	startMs: number;
	random: SeededRandom;
	/** Slots until a block is confirmed, and until it is final. */
	confirmedSlots?: number;
	finalitySlots?: number;
	/** Every `skipEvery`th slot has no block. */
	skipEvery?: number | undefined;
	/** The usual price that transactions offer for a compute unit. */
	usualMicroLamports?: bigint;
	/** The attesters that decide orders which begin on this chain. By default they are the devnet's. */
	attesterSet?: ProgramDeployment["attesterSet"];
};

/**
 * Creates the devnet's Solana in this process, without its clock. With the same seed and calls, all answers are the
 * same.
 */
export async function createSimSolanaChain({
	startMs,
	random,
	confirmedSlots = 2,
	finalitySlots = 32,
	skipEvery,
	usualMicroLamports = 50_000n,
	attesterSet,
}: SimSolanaOptions): Promise<SimSolanaChain> {
	let nowMs = startMs;
	const run = random.fork("blockhashes").bytes(16);
	const walletKeys = random.fork("wallets");
	const svm = spareMachines.pop() ?? solanaMachine();
	const options = { confirmedSlots, finalitySlots, skipEvery, now: () => nowMs, run, svm };
	const { chain, methods, giveLamports, giveTokens } = await solanaNode(options);
	const genesisHash = chain.blocks[0]?.blockhash ?? "";
	const deployment = describeWorld(genesisHash, attesterSet);
	const program = deployment.program.address;
	const keys = await serviceKeys();
	/** Minimum price of a compute unit. */
	let minMicroLamports = 0n;
	let isClosed = false;

	const isReached = ({ block }: LandedTransaction, commitment: Commitment) =>
		block.slot <= chain.head(commitment).slot;
	/** Returns the data of an account of the program. */
	const programDataAt = (address: SolanaAddress, commitment: Commitment) => {
		const account = chain.accountAt(address, commitment);
		return account?.programAddress === program ? new Uint8Array(account.data) : undefined;
	};
	const tokenAt = (address: SolanaAddress, commitment: Commitment) =>
		readTokenAccount(chain.accountAt(address, commitment));

	return {
		chainId: deployment.chainId,
		deployment,
		genesisHash,
		keys,
		request: (method, given, { isBehind = false } = {}) => {
			const params = isBehind ? given.map(asFinalized) : given;
			const answer = isNodes(method) && Object.hasOwn(methods, method) ? methods[method] : undefined;
			if (!answer) throw new RpcFailure(-32601, "Method not found");
			try {
				const answered = answer(params.map(withNumbers));
				const isOfStatuses = isBehind && method === "getSignatureStatuses";
				return isOfStatuses ? statusesUpTo(answered, chain.head("finalized").slot) : answered;
			} catch (error) {
				if (error instanceof RpcError) throw new RpcFailure(error.code, error.message, error.data);
				throw error;
			}
		},
		produce: ({ atMs, holdBack, isEmpty = false }) => {
			nowMs = atMs;
			chain.tick({
				isHeldBack: ({ signature, microLamportsPerUnit }) =>
					isEmpty || microLamportsPerUnit < minMicroLamports || (holdBack?.(signature) ?? false),
			});
		},
		reorg: ({ depth, keep, pastFinality = false }) => {
			const { slot: finalSlot } = chain.head("finalized");
			if (pastFinality && (chain.blocks.at(-depth)?.slot ?? 0) <= finalSlot) {
				throw new Error(`slot ${finalSlot} is final, and stays`);
			}
			chain.fork({ depth, isKept: keep });
		},
		drop: (isDropped) => {
			for (const signature of chain.waiting().filter(isDropped)) chain.forget(signature);
		},
		stallFinality: chain.stallFinality,
		setGasPrice: (multiple) => {
			const hundredths = BigInt(Math.round(multiple * 100));
			minMicroLamports = multiple > 1 ? (usualMicroLamports * hundredths) / 100n : 0n;
		},
		heights: () => ({
			latest: chain.head("processed").slot,
			confirmed: chain.head("confirmed").slot,
			finalized: chain.head("finalized").slot,
		}),
		waiting: chain.waiting,
		newWallet: () => createKeyPairSignerFromPrivateKeyBytes(walletKeys.bytes(32)),
		give: (token, owner, amount) => {
			if (token === solanaNativeToken) giveLamports(owner, amount);
			else giveTokens(tokenAddressOf({ owner, token }), { token, owner, amount });
		},
		balanceOf: (token, owner, commitment = "processed") => {
			if (token === solanaNativeToken) return chain.accountAt(owner, commitment)?.lamports ?? 0n;
			const held = tokenAt(tokenAddressOf({ owner, token }), commitment);
			return held?.owner === owner && held.mint === token ? held.amount : 0n;
		},
		orderOf: async (orderId, commitment = "processed") => {
			const data = programDataAt(await orderAddress(program, orderId), commitment);
			return data && decodeOrderAccount(data);
		},
		recordOf: async (orderId, commitment = "processed") => {
			const data = programDataAt(await recordAddress(program, orderId), commitment);
			return data && decodeRecordAccount(data);
		},
		landed: (signature, commitment = "processed") => {
			const landed = chain.transaction(signature);
			return landed && isReached(landed, commitment) ? landed : undefined;
		},
		landedOf: (address, commitment = "processed") =>
			chain.transactionsOf(address).filter((landed) => isReached(landed, commitment)),
		close: () => {
			if (isClosed) return;
			isClosed = true;
			chain.states.reset();
			spareMachines.push(svm);
		},
	};
}

/** Machines for reuse, because one takes 15 ms to create, and 8 MB that the garbage collector does not count. */
const spareMachines: ReturnType<typeof solanaMachine>[] = [];

/** Returns false for methods that only a private chain has, or that do not answer immediately. */
function isNodes(method: string): boolean {
	return !method.startsWith("devnet_") && method !== "requestAirdrop";
}

/** Converts bigints to numbers, as over the wire, where an integer is just digits. */
function withNumbers(param: unknown): unknown {
	if (typeof param === "bigint") return Number(param);
	if (typeof param !== "object" || param === null || Array.isArray(param)) return param;
	return Object.fromEntries(Object.entries(param).map(([name, value]) => [name, withNumbers(value)]));
}

/** Lowers the commitment, because a stale node has only final blocks, and takes them for all that is confirmed. */
function asFinalized(param: unknown): unknown {
	if (typeof param !== "object" || param === null || !("commitment" in param)) return param;
	return { ...param, commitment: "finalized" };
}

function statusesUpTo(answered: unknown, slot: number): unknown {
	const { context, value } = answered as { context: object; value: ({ slot: number } | null)[] };
	return {
		context: { ...context, slot },
		value: value.map((status) => (status && status.slot <= slot ? status : null)),
	};
}

function describeWorld(
	genesisHash: string,
	attesterSet: ProgramDeployment["attesterSet"] | undefined,
): SolanaDeployment {
	const deployment = describeSolana({ genesisHash });
	return attesterSet ? { ...deployment, program: { ...deployment.program, attesterSet } } : deployment;
}

let parsed: Promise<SolanaKeys> | undefined;

/** Returns the service's keys, the same on every chain. Only what they sign differs from run to run. */
function serviceKeys(): Promise<SolanaKeys> {
	const { feePayers, operator } = deriveSolanaDevnetKeys();
	const signerOf = (key: Uint8Array) => createKeyPairSignerFromBytes(key);
	parsed ??= Promise.all([Promise.all(feePayers.map(signerOf)), signerOf(operator)]).then(
		([payers, ofVault]) => ({ feePayers: payers, operator: ofVault }),
	);
	return parsed;
}
