import { type Address, BaseError } from "viem";
import { DeployError } from "./deploy-error.ts";

/**
 * Returns the error for a contract that did not identify itself. The reason distinguishes a wrong address from an
 * overloaded node.
 */
export function doesNotAnswer(name: string, address: Address, cause: unknown): DeployError {
	// The full message is left out, because it names the endpoint, which may hold a key.
	const reason = cause instanceof BaseError ? `: ${cause.shortMessage}` : "";
	return new DeployError(`${address} does not answer as ${name}${reason}`, {
		next: "correct its address in the config; if it was the node that failed, run again",
		cause,
	});
}
