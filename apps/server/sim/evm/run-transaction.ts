import { type Address, type Hex, zeroAddress } from "viem";
import type { BlockTerms, EvmLog, SimEvm } from "./create-evm.ts";
import type { EvmTransaction, SignedAuthorization } from "./parse-raw-transaction.ts";
import { type StateOverlay, stateKey } from "./state-overlay.ts";

export type TransactionOutcome = {
	isSuccess: boolean;
	gasUsed: bigint;
	logs: EvmLog[];
	/** The return data, or the revert data. */
	data: Hex;
};

export type RunnableCall = Pick<EvmTransaction, "from" | "to" | "value" | "data" | "gas" | "authorizations">;

const delegationPrefix = "0xef0100";
const gasPerAuthorization = 25_000n;
/** The refund for an authorization of an account that already exists. */
const refundPerAuthorization = 12_500n;

/** Applies one transaction to the state of its block. Its sender can pay, and its nonce is the next one. */
export async function runTransaction({
	transaction,
	block,
	state,
	evm,
}: {
	transaction: EvmTransaction;
	block: BlockTerms;
	state: StateOverlay;
	evm: SimEvm;
}): Promise<TransactionOutcome> {
	const { from, gas, nonce } = transaction;
	const gasPrice = effectiveGasPrice(transaction, block);
	const balance = stateKey.native(from);
	state.set(stateKey.nonce(from), BigInt(nonce) + 1n);
	state.set(balance, state.number(balance) - gas * gasPrice);
	const outcome = await runCall({ call: transaction, gasPrice, block, state, evm });
	state.set(balance, state.number(balance) + (gas - outcome.gasUsed) * gasPrice);
	return outcome;
}

/** Runs a call without nonce and fee, as a simulation does. */
export async function runCall({
	call,
	gasPrice = 0n,
	block,
	state,
	evm,
}: {
	call: RunnableCall;
	gasPrice?: bigint;
	block: BlockTerms;
	state: StateOverlay;
	evm: SimEvm;
}): Promise<TransactionOutcome> {
	const { from, to, value, data, gas, authorizations } = call;
	// Authorizations hold even if the call reverts.
	let refund = 0n;
	for (const authorization of authorizations) refund += delegate(state, evm.chainId, authorization);
	const intrinsic = intrinsicGas(call);
	if (gas < intrinsic) return { isSuccess: false, gasUsed: gas, logs: [], data: "0x" };
	const warm = authorizations.flatMap(({ authority }) => authority ?? []);
	const run = await evm.run({ from, to, value, data, gas: gas - intrinsic, gasPrice, warm }, block, state);
	const used = intrinsic + run.gasUsed;
	const paid = used - least(refund + run.refund, used / 5n);
	const floor = floorGas(data);
	const gasUsed = least(paid, floor) === paid ? floor : paid;
	return { isSuccess: run.isSuccess, gasUsed, logs: run.logs, data: run.data };
}

function least(one: bigint, other: bigint): bigint {
	return one < other ? one : other;
}

/** Applies an authorization (EIP-7702) and returns its gas refund. An invalid one is skipped. */
function delegate(state: StateOverlay, chainId: number, authorization: SignedAuthorization): bigint {
	const { authority, nonce } = authorization;
	if (authorization.chainId !== 0 && authorization.chainId !== chainId) return 0n;
	if (!authority) return 0n;
	const code = state.text(stateKey.code(authority));
	if (code !== "" && !code.startsWith(delegationPrefix)) return 0n;
	const used = state.number(stateKey.nonce(authority));
	if (used !== BigInt(nonce)) return 0n;
	const isThere = code !== "" || used > 0n || state.number(stateKey.native(authority)) > 0n;
	state.set(stateKey.code(authority), designator(authorization.delegate));
	state.set(stateKey.nonce(authority), used + 1n);
	return isThere ? refundPerAuthorization : 0n;
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
	return 21_000n + 4n * dataTokens(data) + gasPerAuthorization * BigInt(authorizations.length);
}

/** Returns the minimum that a transaction with this data costs (EIP-7623). */
function floorGas(data: Hex): bigint {
	return 21_000n + 10n * dataTokens(data);
}

function dataTokens(data: Hex): bigint {
	let tokens = 0;
	for (let i = 2; i < data.length; i += 2) tokens += data[i] === "0" && data[i + 1] === "0" ? 1 : 4;
	return BigInt(tokens);
}
