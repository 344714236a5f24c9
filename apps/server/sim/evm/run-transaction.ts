import { type Address, type Hex, zeroAddress } from "viem";
import { type ContractPlace, createEvmContext } from "./create-evm-context.ts";
import { type EvmLog, Revert } from "./evm-call.ts";
import type { EvmTransaction, SignedAuthorization } from "./parse-raw-transaction.ts";
import { type StateOverlay, stateKey } from "./state-overlay.ts";

export type TransactionOutcome = {
	isSuccess: boolean;
	gasUsed: bigint;
	logs: EvmLog[];
	/** The return data, or the revert data. */
	data: Hex;
};

/** Fields of a block that its transactions depend on. */
export type BlockTerms = { number: bigint; timestamp: bigint; baseFee: bigint };

export type RunnableCall = Pick<EvmTransaction, "from" | "to" | "value" | "data" | "gas" | "authorizations">;

const delegationPrefix = "0xef0100";
const gasPerAuthorization = 25_000n;

/** Applies one transaction to the state of its block. Its sender can pay, and its nonce is the next one. */
export function runTransaction({
	transaction,
	block,
	state,
	...chain
}: {
	transaction: EvmTransaction;
	block: BlockTerms;
	state: StateOverlay;
	chainId: number;
	contracts: ReadonlyMap<string, ContractPlace>;
}): TransactionOutcome {
	const { from } = transaction;
	state.set(stateKey.nonce(from), BigInt(transaction.nonce) + 1n);
	const outcome = runCall({ call: transaction, block, state, ...chain });
	const key = stateKey.balance(zeroAddress, from);
	state.set(key, state.number(key) - outcome.gasUsed * effectiveGasPrice(transaction, block));
	return outcome;
}

/** Runs a call without nonce and fee, as a simulation does. */
export function runCall({
	call,
	block,
	state,
	chainId,
	contracts,
}: {
	call: RunnableCall;
	block: BlockTerms;
	state: StateOverlay;
	chainId: number;
	contracts: ReadonlyMap<string, ContractPlace>;
}): TransactionOutcome {
	// Authorizations hold even if the call reverts.
	for (const authorization of call.authorizations) delegate(state, chainId, authorization);
	const context = createEvmContext({
		contracts,
		chainId,
		blockNumber: block.number,
		timestamp: block.timestamp,
		origin: call.from,
		state,
	});
	context.gas.used = intrinsicGas(call);
	const mark = state.mark();
	try {
		if (!call.to) throw new Error("the simulated chain makes no contracts");
		const data = context.call({ from: call.from, to: call.to, value: call.value, data: call.data });
		if (context.gas.used <= call.gas) {
			return { isSuccess: true, gasUsed: context.gas.used, logs: context.logs, data };
		}
		state.undoTo(mark);
		return { isSuccess: false, gasUsed: call.gas, logs: [], data: "0x" };
	} catch (error) {
		if (!(error instanceof Revert)) throw error;
		const isOver = context.gas.used > call.gas;
		return { isSuccess: false, gasUsed: isOver ? call.gas : context.gas.used, logs: [], data: error.data };
	}
}

/** Applies an authorization (EIP-7702). An invalid one is skipped. */
function delegate(state: StateOverlay, chainId: number, authorization: SignedAuthorization): void {
	const { authority, nonce } = authorization;
	if (authorization.chainId !== 0 && authorization.chainId !== chainId) return;
	if (!authority) return;
	const code = state.text(stateKey.code(authority));
	if (code !== "" && !code.startsWith(delegationPrefix)) return;
	if (state.number(stateKey.nonce(authority)) !== BigInt(nonce)) return;
	state.set(stateKey.code(authority), designator(authorization.delegate));
	state.set(stateKey.nonce(authority), BigInt(nonce) + 1n);
}

function designator(address: Address): string {
	return address === zeroAddress ? "" : `${delegationPrefix}${address.slice(2)}`;
}

export function effectiveGasPrice(
	{ maxFeePerGas, maxPriorityFeePerGas }: Pick<EvmTransaction, "maxFeePerGas" | "maxPriorityFeePerGas">,
	{ baseFee }: Pick<BlockTerms, "baseFee">,
): bigint {
	const offered = baseFee + maxPriorityFeePerGas;
	return offered < maxFeePerGas ? offered : maxFeePerGas;
}

/** Returns the gas that a transaction costs before it does anything. */
export function intrinsicGas({
	data,
	authorizations,
}: Pick<EvmTransaction, "data" | "authorizations">): bigint {
	let bytes = 0;
	for (let i = 2; i < data.length; i += 2) bytes += data[i] === "0" && data[i + 1] === "0" ? 4 : 16;
	return 21_000n + BigInt(bytes) + gasPerAuthorization * BigInt(authorizations.length);
}
