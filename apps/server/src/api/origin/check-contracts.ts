import { type ChainDeployment, type Order, SwapError, toWord } from "@geoswap/protocol";

type Contracts = Pick<ChainDeployment["contracts"], "escrow" | "vault">;

/**
 * Throws if the order names contracts that were replaced since its quote. An open order is completed in the contracts
 * that it names. No further order is opened there, because the earlier delegates are no longer offered, and because a
 * submit reserves inventory of the current vault.
 */
export function checkContracts(
	order: Order,
	/** Returns the contracts that new orders name on a chain; undefined on Solana, where none can be replaced. */
	contractsOn: (chainId: bigint) => Contracts | undefined,
): void {
	const origin = contractsOn(order.originChainId);
	const destination = contractsOn(order.destinationChainId);
	const isCurrent =
		(!origin || (order.escrow === toWord(origin.escrow) && order.originVault === toWord(origin.vault))) &&
		(!destination || order.destinationVault === toWord(destination.vault));
	if (isCurrent) return;
	throw new SwapError(
		"SIMULATION_FAILED",
		{ reason: "the service's contracts were replaced since the quote" },
		{
			message:
				"The service's contracts were replaced since the quote, and nothing was executed. Request a fresh quote.",
		},
	);
}
