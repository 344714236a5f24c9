import {
	type Amount,
	type Authorization,
	type ChainDeployment,
	emptyAccountRentLamports,
	fromSolanaWord,
	fromWord,
	type Order,
	SwapError,
	solanaNativeToken,
	toWord,
} from "@geoswap/protocol";
import type { Address } from "viem";
import { checkDelegation } from "../../chain/evm/wallet/check-delegation.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { isPassingFailure } from "../../chain/solana/send/send-raw.ts";
import type { TransactionSimulation } from "../../chain/solana/send/simulate-transaction.ts";
import type { OriginReading } from "./read-origin.ts";

/** Throws if the wallet could not open the order; otherwise returns the delegate with which it would pay. */
export async function checkOrigin(
	{ chain, order, authorization, reading, readNonces }: OriginReading,
	{ targets }: { targets: readonly [Address, ...Address[]] },
): Promise<{ delegate: Address; authorization?: Authorization }> {
	const delegation = await checkDelegation({
		chain,
		wallet: fromWord(order.wallet),
		delegation: reading.delegation,
		targets,
		authorization,
		readNonces,
	});
	checkBalance(order, reading.available);
	return delegation;
}

/** Throws if the wallet cannot pay the order's input. */
export function checkBalance({ inputAmount }: Order, available: Amount): void {
	if (available >= inputAmount) return;
	throw new SwapError("INSUFFICIENT_BALANCE", {
		balance: String(available > 0n ? available : 0n),
		required: String(inputAmount),
	});
}

/** Throws if the wallet cannot pay the order's input. */
export function checkSolanaBalance(order: Order, available: Amount): void {
	checkBalance(order, available);
	const { inputToken, inputAmount } = order;
	const left = available - inputAmount;
	if (fromSolanaWord(inputToken) !== solanaNativeToken || left === 0n) return;
	if (left < emptyAccountRentLamports) {
		throw new SwapError(
			"INSUFFICIENT_BALANCE",
			{ balance: String(available), required: String(inputAmount + emptyAccountRentLamports) },
			{
				message: `The swap must leave nothing in the wallet, or at least ${emptyAccountRentLamports} lamports, because Solana keeps no account with less. Fund it, or request a quote for another amount.`,
			},
		);
	}
}

/** Throws if the order's transaction would fail. A failure that the caller cannot fix may be retried unchanged. */
export function checkSimulation(
	{ chainId, deployment }: SolanaChain,
	simulation: TransactionSimulation,
): void {
	if (simulation.ok) return;
	if (isPassingFailure(simulation, deployment)) {
		const cause = new Error(`the transaction would fail: ${simulation.reason}`);
		throw new SwapError("UPSTREAM_UNAVAILABLE", { upstream: `chain ${chainId}` }, { cause });
	}
	throw new SwapError("SIMULATION_FAILED", { reason: simulation.reason });
}

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
