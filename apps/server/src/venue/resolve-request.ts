import { type AssetDeployment, type QuoteRequest, SwapError } from "@geoswap/protocol";
import { type Address, zeroAddress } from "viem";
import type { ChainConfig } from "../config.ts";
import { evmAddress } from "./evm-address.ts";

/** One end of a swap. */
export type Side = { chain: ChainConfig; asset: AssetDeployment };

export type ResolvedRequest = {
	origin: Side;
	destination: Side;
	amount: bigint;
	wallet: Address;
	recipient: Address;
	slippageBps: number;
};

/** Where precompiles are, and where chains put system contracts of their own. */
const lastReservedAddress = 0xffffn;

const stableSlippageBps = 50;
const volatileSlippageBps = 300;

/** The chains, assets and addresses that a request names. Throws where one is malformed or not offered. */
export function resolveRequest(
	request: QuoteRequest,
	{ chains, ownAddresses }: { chains: ReadonlyMap<number, ChainConfig>; ownAddresses: ReadonlySet<Address> },
): ResolvedRequest {
	const originChain = chainOf(request.originChain);
	const destinationChain = chainOf(request.destinationChain);
	const issues: { path: string; message: string }[] = [];
	const inputToken = read("inputToken", request.inputToken);
	const outputToken = read("outputToken", request.outputToken);
	const wallet = readHolder("walletAddress", request.walletAddress);
	const recipient = request.recipient === undefined ? wallet : readHolder("recipient", request.recipient);
	if (issues.length > 0 || !inputToken || !outputToken || !wallet || !recipient) {
		throw new SwapError("INVALID_REQUEST", { issues });
	}

	const origin = { chain: originChain, asset: assetOf(originChain, inputToken) };
	const destination = { chain: destinationChain, asset: assetOf(destinationChain, outputToken) };
	if (originChain.chainId === destinationChain.chainId && inputToken === outputToken) {
		throw noRoute(
			"pair",
			"Input and output are the same token on the same chain. Choose another token or chain.",
		);
	}
	const areStable = origin.asset.kind === "stable" && destination.asset.kind === "stable";
	return {
		origin,
		destination,
		amount: request.amount,
		wallet,
		recipient,
		slippageBps: request.slippageBps ?? (areStable ? stableSlippageBps : volatileSlippageBps),
	};

	function chainOf(chainId: number): ChainConfig {
		const chain = chains.get(chainId);
		if (!chain) {
			const offered = [...chains.keys()].join(", ");
			throw noRoute("chain", `Chain ${chainId} is not offered. Choose one of ${offered}.`);
		}
		return chain;
	}

	function read(path: string, text: string): Address | undefined {
		const address = evmAddress(text);
		if (!address) issues.push({ path, message: "is not an EVM address, or its checksum is wrong" });
		return address;
	}

	/** An address that can hold what it gets: what is sent to any other is gone. */
	function readHolder(path: string, text: string): Address | undefined {
		const address = read(path, text);
		const problem = address && holderProblem(address);
		if (problem) issues.push({ path, message: problem });
		return problem ? undefined : address;
	}

	function holderProblem(address: Address): string | undefined {
		if (address === zeroAddress) return "is the zero address: name an address that someone holds";
		if (BigInt(address) <= lastReservedAddress) return "is a precompile: name an address that someone holds";
		if (ownAddresses.has(address)) {
			return "is a token or a contract of this service: name an address that someone holds";
		}
		return undefined;
	}
}

/** Every contract that the chains' swaps involve, none of which is ever a wallet or a recipient. */
export function ownAddressesOf(chains: readonly ChainConfig[]): Set<Address> {
	return new Set(
		chains.flatMap(({ deployment: { contracts, uniswap, assets, ...deployment } }) => [
			...Object.values(contracts)
				.flat()
				.filter((address) => address !== undefined),
			...Object.values(uniswap),
			...assets.flatMap(({ address, feed }) => [address, feed.address]),
			deployment.wrappedNative,
			...(deployment.feeDiscountToken ? [deployment.feeDiscountToken.address] : []),
		]),
	);
}

export function noRoute(
	reason: SwapError<"NO_ROUTE">["details"]["reason"],
	message: string,
	maximumAmount?: bigint,
): SwapError<"NO_ROUTE"> {
	return new SwapError(
		"NO_ROUTE",
		{ reason, ...(maximumAmount === undefined ? {} : { maximumAmount: String(maximumAmount) }) },
		// What is paused comes back by itself; anything else is for the caller to change.
		{ message, ...(reason === "paused" && { next: "retry", retryable: true }) },
	);
}

function assetOf({ deployment }: ChainConfig, address: Address): AssetDeployment {
	const asset = deployment.assets.find((candidate) => candidate.address === address);
	if (!asset) {
		const offered = deployment.assets.map(({ symbol }) => symbol).join(", ");
		throw noRoute("token", `${address} is not offered on ${deployment.name}. Choose one of ${offered}.`);
	}
	return asset;
}
