import {
	type Amount,
	formatAddress,
	fromSolanaWord,
	noZeroSlippage,
	parseAddress,
	type QuoteRequest,
	SwapError,
} from "@geoswap/protocol";
import { isOffCurveAddress } from "@solana/kit";
import { type Address, getAddress, type Hex, zeroAddress, zeroHash } from "viem";
import { isOfferedTo } from "../config/chain-config.ts";
import type { DeskAsset, DeskChain, Side } from "./desk-chain.ts";

export type ResolvedRequest = NamedRequest & { amount: Amount };

/** A request whose input is not known yet, if it names an output. */
export type NamedRequest = {
	origin: Side;
	destination: Side;
	wallet: Hex;
	recipient: Hex;
	slippageBps: number;
};

type SideName = "origin" | "destination";

const notAnAddress = {
	evm: "is not an EVM address, or its checksum is wrong",
	solana: "is not a Solana address",
} as const;

const stableSlippageBps = 50;
const volatileSlippageBps = 300;

/** Returns the chains, assets and addresses that a request names. Throws if one is malformed or not offered. */
export function resolveRequest(
	request: QuoteRequest,
	{
		chains,
		ownAddresses,
		accountId,
	}: {
		chains: ReadonlyMap<number, DeskChain>;
		ownAddresses: ReadonlySet<Hex>;
		accountId: string | undefined;
	},
): NamedRequest {
	const originChain = chainOf("origin", request.originChain);
	const destinationChain = chainOf("destination", request.destinationChain);
	const issues: { path: string; message: string }[] = [];
	const inputToken = read("inputToken", request.inputToken, originChain);
	const outputToken = read("outputToken", request.outputToken, destinationChain);
	const wallet = readHolder("walletAddress", request.walletAddress, originChain);
	const recipient =
		request.recipient === undefined
			? sameAsWallet()
			: readHolder("recipient", request.recipient, destinationChain);
	if (issues.length > 0 || !inputToken || !outputToken || !wallet || !recipient) {
		throw new SwapError("INVALID_REQUEST", { issues });
	}

	const origin: Side = { chain: originChain, asset: assetOf("origin", originChain, inputToken) };
	const destination: Side = {
		chain: destinationChain,
		asset: assetOf("destination", destinationChain, outputToken),
	};
	if (originChain.chainId === destinationChain.chainId && inputToken === outputToken) {
		throw noRoute(
			"pair",
			"Input and output are the same token on the same chain. Choose another token or chain.",
		);
	}
	const hasOneAsset = origin.asset.symbol === destination.asset.symbol;
	if (request.slippageBps === 0 && (request.outputAmount === undefined || !hasOneAsset)) {
		throw new SwapError("INVALID_REQUEST", { issues: [{ path: "slippageBps", message: noZeroSlippage }] });
	}
	const areStable = origin.asset.kind === "stable" && destination.asset.kind === "stable";
	return {
		origin,
		destination,
		wallet,
		recipient,
		slippageBps: request.slippageBps ?? (areStable ? stableSlippageBps : volatileSlippageBps),
	};

	function chainOf(side: SideName, chainId: number): DeskChain {
		const chain = chains.get(chainId);
		// A chain that is not offered to this account gets the same answer as one that does not exist.
		if (!chain || !isOfferedTo(accountId, chain)) {
			const offered = [...chains.values()].filter((one) => isOfferedTo(accountId, one));
			const accepted = offered.map((one) => String(one.chainId));
			const message = `Chain ${chainId} is not offered as the ${side} of a swap. Choose one of ${accepted.join(", ")}.`;
			throw noRoute("chain", message, { side, accepted });
		}
		return chain;
	}

	function read(path: string, text: string, { kind, chainId }: DeskChain): Hex | undefined {
		const address = kind === "evm" ? evmAddress(text) : parseAddress(chainId, text);
		if (!address) issues.push({ path, message: notAnAddress[kind] });
		return address;
	}

	/** Parses an address that can hold funds, because anything sent to another address would be lost. */
	function readHolder(path: string, text: string, chain: DeskChain): Hex | undefined {
		const address = read(path, text, chain);
		const problem = address && holderProblem(chain, address, ownAddresses);
		if (problem) issues.push({ path, message: problem });
		return problem ? undefined : address;
	}

	function sameAsWallet(): Hex | undefined {
		if (originChain.kind === destinationChain.kind) return wallet;
		const { name } = destinationChain;
		issues.push({
			path: "recipient",
			message: `is required, because the wallet's address is not an address on ${name}`,
		});
		return undefined;
	}
}

export function noRoute(
	reason: SwapError<"NO_ROUTE">["details"]["reason"],
	message: string,
	details: Omit<SwapError<"NO_ROUTE">["details"], "reason"> = {},
): SwapError<"NO_ROUTE"> {
	return new SwapError(
		"NO_ROUTE",
		{ reason, ...details },
		// A paused chain or asset becomes available again without a change by the caller. Any other reason needs one.
		{ message, ...(reason === "paused" && { next: "retry", retryable: true }) },
	);
}

function assetOf(side: SideName, { chainId, name, assets }: DeskChain, address: Hex): DeskAsset {
	const asset = assets.find((candidate) => candidate.address === address);
	if (!asset) {
		const token = formatAddress(chainId, address);
		const offered = assets.map(({ symbol }) => symbol).join(", ");
		const accepted = assets.map((known) => formatAddress(chainId, known.address));
		const message = `${token} is not offered on ${name}, the ${side} of this swap. Choose one of ${offered}; details.accepted has their addresses.`;
		throw noRoute("token", message, { side, accepted });
	}
	return asset;
}

/**
 * Parses an address in any case and returns it with its checksum. Undefined if it is not an address, or has mixed case
 * and a wrong checksum.
 */
function evmAddress(text: string): Address | undefined {
	if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
	const address = getAddress(text.toLowerCase());
	const digits = text.slice(2);
	const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
	return hasChecksum && text !== address ? undefined : address;
}

/** The last address of the range in which precompiles and the system contracts of chains are. */
const lastReservedAddress = 0xffffn;

/** Addresses of Solana's built-in programs and sysvars end like this. No key is known for such an address. */
const builtIn = /1{8}$/;

/** Returns why no wallet can hold funds at this address or sign for it, or undefined if one may. */
function holderProblem(
	{ kind }: DeskChain,
	address: Hex,
	ownAddresses: ReadonlySet<Hex>,
): string | undefined {
	return kind === "evm" ? evmProblem(address, ownAddresses) : solanaProblem(address, ownAddresses);
}

function evmProblem(address: Hex, ownAddresses: ReadonlySet<Hex>): string | undefined {
	if (address === zeroAddress) return "is the zero address; name an address that has an owner";
	if (BigInt(address) <= lastReservedAddress) return "is a precompile; name an address that has an owner";
	if (ownAddresses.has(address)) {
		return "is a token or a contract of this service; name the address of a wallet";
	}
	return undefined;
}

function solanaProblem(address: Hex, ownAddresses: ReadonlySet<Hex>): string | undefined {
	if (address === zeroHash) return "is the native token's id; name the address of a wallet";
	if (ownAddresses.has(address)) {
		return "is a token, a program or a key of this service; name the address of a wallet";
	}
	const text = fromSolanaWord(address);
	if (builtIn.test(text)) return "is a program or a sysvar; name the address of a wallet";
	// Associated token accounts and program-derived addresses are off the curve, so no key exists for them.
	if (isOffCurveAddress(text)) return "has no key; name the wallet itself, not its token account";
	return undefined;
}
