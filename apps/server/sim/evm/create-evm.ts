import { createCustomCommon, Hardfork, Mainnet } from "@ethereumjs/common";
import { createEVM, type EVMResult, type EVMRunCallOpts } from "@ethereumjs/evm";
import { createAddressFromString, createZeroAddress } from "@ethereumjs/util";
import { type Address, bytesToHex, type Hex, hexToBytes } from "viem";
import { blockGasLimit } from "./block-gas-limit.ts";
import { createEvmStateManager } from "./evm-state-manager.ts";
import { recoverPublicKey } from "./recover-signer.ts";
import type { StateOverlay } from "./state-overlay.ts";

/** Fields of a block that its transactions depend on. */
export type BlockTerms = { number: bigint; timestamp: bigint; baseFee: bigint };

export type EvmLog = { address: Address; topics: Hex[]; data: Hex };

type EvmMessage = {
	from: Address;
	/** Undefined if it creates a contract. */
	to: Address | undefined;
	value: bigint;
	data: Hex;
	/** The gas limit less the intrinsic gas. */
	gas: bigint;
	gasPrice: bigint;
	/** Accounts that are warm beside the sender, the recipient and the precompiles. */
	warm: readonly Address[];
};

type EvmOutcome = {
	isSuccess: boolean;
	gasUsed: bigint;
	refund: bigint;
	logs: EvmLog[];
	/** The return data, or the revert data. */
	data: Hex;
};

/** An EVM without own state. It runs one message at a time. */
export type SimEvm = {
	chainId: number;
	run: (message: EvmMessage, block: BlockTerms, state: StateOverlay) => Promise<EvmOutcome>;
	/** Runs creation code as if it were at this address, and returns the contract's code. */
	construct: (
		creation: { address: Address; initCode: Hex },
		block: BlockTerms,
		state: StateOverlay,
	) => Promise<Hex>;
};

const evms = new Map<number, Promise<SimEvm>>();
const noRandao = new Uint8Array(32);
const constructionGas = 30_000_000n;

/** Returns the EVM of a chain, which is made once and shared by consecutive worlds. */
export function evmOf(chainId: number): Promise<SimEvm> {
	let evm = evms.get(chainId);
	if (!evm) {
		evm = createSimEvm(chainId);
		evms.set(chainId, evm);
	}
	return evm;
}

async function createSimEvm(chainId: number): Promise<SimEvm> {
	const stateManager = createEvmStateManager();
	const common = createCustomCommon({ chainId }, Mainnet, {
		hardfork: Hardfork.Prague,
		customCrypto: {
			ecrecover: (hash, v, r, s) => {
				const publicKey = recoverPublicKey(bytesToHex(hash), {
					r: BigInt(bytesToHex(r)),
					s: BigInt(bytesToHex(s)),
					yParity: Number(v - 27n),
				});
				return hexToBytes(publicKey).subarray(1);
			},
		},
	});
	const evm = await createEVM({ common, stateManager });
	const precompiles = [...evm.precompiles.keys()];
	const addresses = new Map<string, ReturnType<typeof createAddressFromString>>();
	const at = (address: Address) => {
		let known = addresses.get(address);
		if (!known) {
			if (addresses.size > 10_000) addresses.clear();
			known = createAddressFromString(address);
			addresses.set(address, known);
		}
		return known;
	};

	let last: Promise<unknown> = Promise.resolve();
	const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
		const turn = last.then(work);
		last = turn.catch(() => {});
		return turn;
	};
	const blockOf = ({ number, timestamp, baseFee }: BlockTerms): NonNullable<EVMRunCallOpts["block"]> => ({
		header: {
			number,
			timestamp,
			baseFeePerGas: baseFee,
			coinbase: createZeroAddress(),
			difficulty: 0n,
			prevRandao: noRandao,
			gasLimit: blockGasLimit,
			getBlobGasPrice: () => 1n,
		},
	});

	return {
		chainId,
		run: ({ from, to, value, data, gas, gasPrice, warm }, block, state) =>
			inTurn(async () => {
				stateManager.use(state);
				for (const precompile of precompiles) evm.journal.addAlwaysWarmAddress(precompile);
				for (const account of [from, createZeroAddress().toString(), ...warm, ...(to ? [to] : [])]) {
					evm.journal.addAlwaysWarmAddress(account);
				}
				const result = await evm.runCall({
					caller: at(from),
					...(to && { to: at(to) }),
					value,
					data: hexToBytes(data),
					gasLimit: gas,
					gasPrice,
					block: blockOf(block),
					skipNonceIncrement: true,
				});
				await evm.journal.cleanup();
				return outcomeOf(result);
			}),
		construct: ({ address, initCode }, block, state) =>
			inTurn(async () => {
				stateManager.use(state);
				const { returnValue, exceptionError } = await evm.runCode({
					code: hexToBytes(initCode),
					to: at(address),
					gasLimit: constructionGas,
					block: blockOf(block),
				});
				await evm.journal.cleanup();
				if (exceptionError) throw new Error(`${address} cannot be constructed: ${exceptionError.error}`);
				return bytesToHex(returnValue);
			}),
	};
}

function outcomeOf({ execResult }: EVMResult): EvmOutcome {
	const { exceptionError, executionGasUsed, gasRefund = 0n, logs = [], returnValue } = execResult;
	return {
		isSuccess: exceptionError === undefined,
		gasUsed: executionGasUsed,
		refund: gasRefund,
		logs: logs.map(([address, topics, data]) => ({
			address: bytesToHex(address),
			topics: topics.map((topic) => bytesToHex(topic)),
			data: bytesToHex(data),
		})),
		data: bytesToHex(returnValue),
	};
}
