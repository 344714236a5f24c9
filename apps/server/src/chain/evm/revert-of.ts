import { BaseError, ContractFunctionRevertedError } from "viem";

/** Returns the revert that caused an error of a contract's call; undefined if the chain did not revert the call. */
export function revertOf(error: unknown): ContractFunctionRevertedError | undefined {
	if (!(error instanceof BaseError)) return undefined;
	const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
	return reverted instanceof ContractFunctionRevertedError ? reverted : undefined;
}
