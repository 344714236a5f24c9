import { type Address, BaseError } from "viem";
import { DeployError } from "./deploy-error.ts";

/** A contract that is asked who it is did not say. The reason tells a wrong address from a node that is overrun. */
export function doesNotAnswer(name: string, address: Address, cause: unknown): DeployError {
	// Not the whole message: it names the endpoint, which may hold a key.
	const reason = cause instanceof BaseError ? `: ${cause.shortMessage}` : "";
	return new DeployError(`${address} does not answer as ${name}${reason}`, {
		next: "correct its address in the config; if it was the node that failed, run again",
		cause,
	});
}
