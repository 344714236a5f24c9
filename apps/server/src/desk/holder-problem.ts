import { fromSolanaWord } from "@geoswap/protocol";
import { isOffCurveAddress } from "@solana/kit";
import { type Hex, zeroAddress, zeroHash } from "viem";
import type { DeskChain } from "./desk-chain.ts";

/** The last address of the range in which precompiles and the system contracts of chains are. */
const lastReservedAddress = 0xffffn;

/** Addresses of Solana's built-in programs and sysvars end like this. No key is known for such an address. */
const builtIn = /1{8}$/;

/** Returns why nobody can hold funds at this address or sign for it; undefined if someone may. */
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
	// Associated token accounts and program-derived addresses are off the curve, so no key exists for them.
	if (isOffCurveAddress(text)) return "has no key: name the wallet itself, not its token account";
	return undefined;
}
