import type { TestChain } from "@geoswap/devnet";
import type { SolanaAddress } from "@geoswap/protocol";
import type { Address } from "viem";
import { solanaBalance } from "../solana/solana-balance.ts";
import type { SolanaTestChain } from "../solana/solana-chain.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { tokenBalance } from "./token-balance.ts";

export type AnyChain = TestChain | SolanaTestChain;

export function isSolanaChain(chain: AnyChain): chain is SolanaTestChain {
	return "wsUrl" in chain;
}

/** Returns an owner's balance of an asset, on a chain of either kind. */
export function holding(chain: AnyChain, symbol: string, owner: string): Promise<bigint> {
	return isSolanaChain(chain)
		? solanaBalance(chain, assetAddress(chain, symbol), owner as SolanaAddress)
		: tokenBalance(chain, assetAddress(chain, symbol), owner as Address);
}
