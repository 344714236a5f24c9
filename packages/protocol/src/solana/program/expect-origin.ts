import { isHex } from "viem";
import { isSolana } from "../../chain-address.ts";
import type { Order } from "../../order.ts";
import { fromSolanaWord, toSolanaWord } from "../solana-address.ts";
import type { SolanaDeployment } from "../solana-deployment.ts";

// Callers have already checked the order. These checks still ensure that no key signs for an order of another
// deployment.

/** Returns whether both sides of the order are on Solana. Its fill or its refund decides it, and no attester does. */
export function isWithinSolana({ originChainId, destinationChainId }: Order): boolean {
	return isSolana(originChainId) && originChainId === destinationChainId;
}

/** Throws unless the order's input is in this deployment's program, for its vault. */
export function expectOrigin(deployment: SolanaDeployment, order: Order): void {
	const { program } = deployment;
	if (!isSolana(order.originChainId)) throw new RangeError("the order's input is not on Solana");
	expectSame("escrow", order.escrow, toSolanaWord(program.address));
	expectSame("origin vault", order.originVault, toSolanaWord(program.vault));
	expectAsset(deployment, order.inputToken);
	if (order.inputAmount <= 0n) throw new RangeError("the order has no input");
}

/** Throws unless the order's output comes from this deployment's vault. */
export function expectVault({ program }: SolanaDeployment, order: Order): void {
	if (!isSolana(order.destinationChainId)) throw new RangeError("the order's output is not on Solana");
	expectSame("destination vault", order.destinationVault, toSolanaWord(program.vault));
}

/**
 * Throws unless this deployment's vault can pay the order's output, in a listed asset and to an address outside the
 * deployment.
 */
export function expectDestination(deployment: SolanaDeployment, order: Order): void {
	expectVault(deployment, order);
	expectAsset(deployment, order.outputToken);
	expectOthers(deployment, order.recipient);
}

/** Throws if an order's wallet or recipient is an address of the deployment. */
export function expectOthers({ program, feePayers }: SolanaDeployment, word: Order["recipient"]): void {
	const address = fromSolanaWord(word);
	if ([...feePayers, program.operator, program.address, program.vault].includes(address)) {
		throw new RangeError(`${address} is one of the service's own addresses`);
	}
}

/** Throws unless two words are equal. `name` is the order's field, for the message. */
function expectSame(name: string, given: string, expected: string): void {
	if (!isHex(given) || given.toLowerCase() !== expected) {
		throw new RangeError(`the order's ${name} is not the deployment's`);
	}
}

/** Throws unless the token is an asset of the deployment. */
function expectAsset({ assets }: SolanaDeployment, token: Order["inputToken"]): void {
	const address = fromSolanaWord(token);
	if (!assets.some((asset) => asset.address === address)) {
		throw new RangeError(`${address} is not an asset of this deployment`);
	}
}
