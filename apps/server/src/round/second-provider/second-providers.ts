import type { DepositSight, ToldDeposit } from "../../chain/deposit-sight.ts";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import { seeDeposit } from "../../chain/evm/read/see-deposit.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { seeSolanaDeposit } from "../../chain/solana/read/see-solana-deposit.ts";

/** Asks a chain's second provider for a deposit. Throws if it does not answer. */
export type SecondProviders = (chainId: number, deposit: ToldDeposit) => Promise<DepositSight>;

/** Takes the chains as connected to their second providers. */
export function createSecondProviders({
	evm,
	solana,
}: {
	evm: readonly EvmChain[];
	solana?: SolanaChain | undefined;
}): SecondProviders {
	return async (chainId, deposit) => {
		if (chainId === solana?.chainId) return seeSolanaDeposit(solana, deposit);
		const chain = evm.find((candidate) => candidate.chainId === chainId);
		if (!chain) throw new Error(`chain ${chainId} has no second provider`);
		return seeDeposit(chain, deposit);
	};
}
