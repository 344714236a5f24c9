import type { Budget } from "../src/budget-ledger.ts";
import * as evm from "./op-fixture.ts";
import * as solana from "./solana-op-fixture.ts";

/** Returns a budget for the fixtures' intents: 10 USDC in one swap, 25 in a day, and a worst price of 0.97. */
export function makeBudget(changes: Partial<Budget> = {}): Budget {
	const intents = [evm.makeIntent(), solana.makeIntent()];
	return {
		spend: intents.map(({ originChain, inputToken }) => ({
			chainId: Number(originChain),
			token: inputToken,
			perSwap: 10_000_000n,
			perDay: 25_000_000n,
		})),
		routes: intents.map(({ originChain, inputToken, destinationChain, outputToken }) => ({
			from: { chainId: Number(originChain), token: inputToken },
			to: { chainId: Number(destinationChain), token: outputToken },
			worstPrice: { output: 97n, input: 100n },
		})),
		recipients: intents.map(({ recipient, walletAddress }) => recipient ?? walletAddress),
		...changes,
	};
}
