import { type SolanaAddress, toSolanaWord } from "@geoswap/protocol";
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { Hex } from "viem";
import type { EvmChainConfig, SolanaChainConfig } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";

const token2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb" as SolanaAddress;
const memo = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr" as SolanaAddress;
const firstMemo = "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo" as SolanaAddress;
const wrappedSol = "So11111111111111111111111111111111111111112" as SolanaAddress;

/**
 * Returns every contract, key and program involved in swaps on these chains. None may be a wallet or a recipient. The
 * service's token accounts on Solana are omitted, because addresses without a key are refused anyway.
 */
export function ownAddresses({ chains }: Pick<Config, "chains">): Set<Hex> {
	return new Set(chains.flatMap((chain) => (chain.kind === "evm" ? onEvm(chain) : onSolana(chain))));
}

function onEvm({ deployment: { contracts, uniswap, assets, ...deployment } }: EvmChainConfig): Hex[] {
	return [
		...Object.values(contracts)
			.flat()
			.filter((address) => address !== undefined),
		...Object.values(uniswap),
		...assets.flatMap(({ address, feed }) => (feed ? [address, feed.address] : [address])),
		...(deployment.sequencerUptimeFeed ? [deployment.sequencerUptimeFeed] : []),
		deployment.wrappedNative,
		...(deployment.feeDiscountToken ? [deployment.feeDiscountToken.address] : []),
	];
}

function onSolana({ deployment: { feePayers, program, assets } }: SolanaChainConfig): Hex[] {
	const addresses = [
		...feePayers,
		program.address,
		program.vault,
		program.operator,
		...assets.map(({ address }) => address),
		TOKEN_PROGRAM_ADDRESS,
		ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
		memo,
		token2022,
		firstMemo,
		wrappedSol,
	];
	return [...addresses.map(toSolanaWord), ...assets.map(({ feed }) => feed.address)];
}
