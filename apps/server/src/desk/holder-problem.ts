import { fromSolanaWord } from "@geoswap/protocol";
import { isOffCurveAddress } from "@solana/kit";
import { type Hex, zeroAddress, zeroHash } from "viem";
import type { DeskChain } from "./desk-chain.ts";

/** Where precompiles are, and where chains put system contracts of their own. */
const lastReservedAddress = 0xffffn;

/** How Solana writes its built-in programs and sysvars. No key was ever found for such an address. */
const builtIn = /1{8}$/;

/** Why nobody can hold what is sent to this address, or sign for it; undefined where someone may. */
export function holderProblem(
	{ kind }: DeskChain,
	address: Hex,
	ownAddresses: ReadonlySet<Hex>,
): string | undefined {
	return kind === "evm" ? evmProblem(address, ownAddresses) : solanaProblem(address, ownAddresses);
}

function evmProblem(address: Hex, ownAddresses: ReadonlySet<Hex>): string | undefined {
	if (address === zeroAddress) return "is the zero address: name an address that someone holds";
	if (BigInt(address) <= lastReservedAddress) return "is a precompile: name an address that someone holds";
	if (ownAddresses.has(address)) {
		return "is a token or a contract of this service: name an address that someone holds";
	}
	return undefined;
}

function solanaProblem(address: Hex, ownAddresses: ReadonlySet<Hex>): string | undefined {
	if (address === zeroHash) return "is the native token's id: name the address of a wallet";
	if (ownAddresses.has(address)) {
		return "is a token, a program or a key of this service: name the address of a wallet";
	}
	const text = fromSolanaWord(address);
	if (builtIn.test(text)) return "is a program or a sysvar: name the address of a wallet";
	// Associated accounts and those of programs are off the curve, so that no key can be theirs.
	if (isOffCurveAddress(text)) return "has no key: name the wallet itself, not its token account";
	return undefined;
}
