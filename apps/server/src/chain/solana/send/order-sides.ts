import { fromSolanaWord, isSolana, type Order, type SolanaDeployment, toSolanaWord } from "@geoswap/protocol";
import { isHex } from "viem";

// Callers have already checked the order. Still, a key signs for no order that is not this deployment's.

/** Throws unless the order's input comes to this deployment's escrow, and on to its vault. */
export function expectOrigin(deployment: SolanaDeployment, order: Order): void {
	expectEscrow(deployment, order);
	expectSame("origin vault", order.originVault, toSolanaWord(deployment.vault));
}

/** Throws unless the order's input is in this deployment's escrow. A refund requires that. */
export function expectEscrow(deployment: SolanaDeployment, order: Order): void {
	if (!isSolana(order.originChainId)) throw new RangeError("the order's input is not on Solana");
	expectSame("escrow", order.escrow, toSolanaWord(deployment.escrow));
	expectAsset(deployment, order.inputToken);
	expectStranger(deployment, order.wallet);
	if (order.inputAmount <= 0n) throw new RangeError("the order has no input");
}

/** Throws unless the order's output comes from this deployment's vault. A void requires that. */
export function expectVault(deployment: SolanaDeployment, order: Order): void {
	if (!isSolana(order.destinationChainId)) throw new RangeError("the order's output is not on Solana");
	expectSame("destination vault", order.destinationVault, toSolanaWord(deployment.vault));
}

/** Throws unless this deployment's vault can pay the order's output: in a listed asset, to an address of others. */
export function expectDestination(deployment: SolanaDeployment, order: Order): void {
	expectVault(deployment, order);
	expectAsset(deployment, order.outputToken);
	expectStranger(deployment, order.recipient);
}

/** Returns whether both sides of the order are on Solana. One marker, the vault's, decides such an order. */
export function isWithinSolana({ originChainId, destinationChainId }: Order): boolean {
	return isSolana(originChainId) && originChainId === destinationChainId;
}

/**
 * Throws if the order is within Solana. A payout takes its input in the same transaction and a refund closes it, so that
 * a release or a void of its own would be a second end of the order.
 */
export function expectTwoChains(order: Order): void {
	if (isWithinSolana(order)) throw new RangeError("an order within Solana is only paid or refunded");
}

function expectSame(name: string, given: string, expected: string): void {
	if (!isHex(given) || given.toLowerCase() !== expected) {
		throw new RangeError(`the order's ${name} is not the deployment's`);
	}
}

function expectAsset({ assets }: SolanaDeployment, token: Order["inputToken"]): void {
	const address = fromSolanaWord(token);
	if (!assets.some((asset) => asset.address === address)) {
		throw new RangeError(`${address} is not an asset of this deployment`);
	}
}

/** Throws if the address is one of our own keys: a transfer between those is never a user's. */
function expectStranger({ feePayers, escrow, vault }: SolanaDeployment, word: Order["wallet"]): void {
	const address = fromSolanaWord(word);
	if ([...feePayers, escrow, vault].includes(address))
		throw new RangeError(`${address} is one of our own keys`);
}
