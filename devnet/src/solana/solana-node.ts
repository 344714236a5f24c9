import { accountMethods } from "./account-methods.ts";
import { adminMethods } from "./admin-methods.ts";
import { blockMethods } from "./block-methods.ts";
import { faultState } from "./faults.ts";
import { genesisAccounts } from "./genesis-accounts.ts";
import { giveLamports, giveTokens } from "./give.ts";
import { tokenAccountAt } from "./new-account.ts";
import { type SolanaChainOptions, solanaChain } from "./solana-chain.ts";
import { readTokenAccount } from "./token-balance.ts";
import { transactionMethods } from "./transaction-methods.ts";

export { RpcError } from "./rpc-error.ts";
export type { Commitment, LandedTransaction } from "./solana-chain.ts";
export { solanaMachine } from "./solana-machine.ts";
export { readTokenAccount };

/** Creates a chain with its genesis accounts and all RPC methods. The caller advances its slots. */
export async function solanaNode(options: SolanaChainOptions) {
	const chain = solanaChain(options);
	for (const account of await genesisAccounts()) chain.states.write(account.address, account);
	const faults = faultState({ onStall: chain.stallFinality });
	const methods = {
		...accountMethods(chain),
		...blockMethods(chain),
		...transactionMethods(chain, faults),
		...adminMethods(chain, faults),
	};
	return {
		chain,
		faults,
		methods,
		giveLamports: (address: Parameters<typeof giveLamports>[1], amount: bigint) =>
			giveLamports(chain, address, amount),
		/** Gives tokens in the account at the address, which is created if it is missing. */
		giveTokens: (...holding: Parameters<typeof tokenAccountAt>) =>
			giveTokens(chain, tokenAccountAt(...holding)),
	};
}
