import {
	attesterSetHash,
	type BuildResponse,
	type ChainDeployment,
	type Deployment,
	newSwapUuid,
	type Order,
	orderDigest,
	orderId,
	orderToJson,
	orderTypedDataToJson,
	packDeadlines,
	type QuoteRequestBody,
	type QuoteResponse,
	toSwapId,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { type Address, getAddress, numberToHex, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { toJson } from "../src/answer.ts";
import type { Quote } from "../src/get-quote.ts";

export const nowMs = 1_800_000_000_000;
export const account = privateKeyToAccount(`0x${"11".repeat(32)}`);

const address = (n: number): Address => getAddress(numberToHex(n, { size: 20 }));
const [usdc, otherUsdc, recipient] = [address(0xa1), address(0xa2), address(0xa3)];
const uuid = newSwapUuid({ nowMs, random: new Uint8Array(10).fill(7) });

function pinnedChain(chainId: number, settlementToken: Address): ChainDeployment {
	const at = (n: number) => address(chainId * 0x100 + n);
	const attesterSet = { threshold: 2, attesters: [at(0x51), at(0x52), at(0x53)] };
	return {
		chainId,
		name: `Chain ${chainId}`,
		kind: "eip1559",
		contracts: {
			delegate: at(1),
			typedDelegate: at(13),
			earlierDelegates: [at(2)],
			escrow: at(3),
			earlierEscrows: [at(4)],
			vault: at(5),
			earlierVaults: [at(6)],
			accessManager: at(7),
		},
		attesterSet: { ...attesterSet, hash: attesterSetHash(attesterSet) },
		uniswap: { factory: at(8), router: at(9), quoterV2: at(10) },
		wrappedNative: at(11),
		settlementToken,
		assets: [
			{
				symbol: "USDC",
				address: settlementToken,
				decimals: 6,
				kind: "stable",
				feed: { address: at(12), heartbeatSeconds: 60 },
				paths: [],
			},
		],
		deployedAtBlock: 1,
	};
}

export function makePins(): Deployment {
	return { chains: [pinnedChain(31337, usdc), pinnedChain(31338, otherUsdc)] };
}

export type FixtureIntent = QuoteRequestBody & { amount: bigint | string | number };

export function makeIntent(changes: Partial<FixtureIntent> = {}): FixtureIntent {
	return {
		originChain: 31337,
		destinationChain: "31338",
		inputToken: usdc,
		outputToken: otherUsdc,
		amount: "10000000",
		walletAddress: account.address,
		recipient,
		slippageBps: 50,
		...changes,
	};
}

/** Returns the order for `makeIntent`. */
export function makeOrder(changes: Partial<Order> = {}): Order {
	const [origin, destination] = makePins().chains;
	if (!origin || !destination) throw new Error("two chains are pinned");
	const now = BigInt(nowMs / 1000);
	return {
		wallet: toWord(account.address),
		inputToken: toWord(usdc),
		inputAmount: 10_000_000n,
		originChainId: 31337n,
		destinationChainId: 31338n,
		outputToken: toWord(otherUsdc),
		minOutput: 9_930_100n,
		recipient: toWord(recipient),
		topUp: 0n,
		escrow: toWord(origin.contracts.escrow),
		originVault: toWord(origin.contracts.vault),
		destinationVault: toWord(destination.contracts.vault),
		attesterSet: origin.attesterSet.hash,
		swapKey: toSwapKey(uuid),
		deadlines: packDeadlines({
			openDeadline: now + 300n,
			fillDeadline: now + 2_000n,
			refundAfter: now + 90_000n,
		}),
		...changes,
	};
}

/** Returns the quote as the service sends it. */
export function makeQuoteBody(changes: Partial<Quote> = {}): QuoteResponse {
	return JSON.parse(toJson(makeQuote(changes)));
}

export function makeQuote(changes: Partial<Quote> = {}): Quote {
	return {
		geoQuoteToken: "sealed-quote",
		expiresAt: new Date(nowMs + 30_000).toISOString(),
		origin: "evm",
		amount: 10_000_000n,
		output: 9_980_000n,
		minOutput: 9_930_100n,
		feeBps: 12.5,
		inputUsd: "10.00",
		outputUsd: "9.98",
		priceImpactBps: -20,
		warnings: [{ code: "HIGH_PRICE_IMPACT", message: "not really" }],
		swapId: toSwapId(uuid),
		recipient,
		slippageBps: 50,
		etaSeconds: 12,
		summary: "10 USDC for 9.98 USDC",
		...changes,
	};
}

/** Returns a build that is consistent with any order, as a hostile service could make it. */
export function makeBuild({
	order = makeOrder(),
	delegate = makePins().chains[0]?.contracts.delegate ?? zeroAddress,
}: {
	order?: Order;
	delegate?: Address;
} = {}): BuildResponse {
	return {
		geoOpHash: orderDigest(order),
		geoOpToken: "sealed-op",
		expiresAt: new Date(nowMs + 90_000).toISOString(),
		geoOp: {
			chainId: Number(order.originChainId),
			orderId: orderId(order),
			order: orderToJson(order),
			delegate,
			typedData: orderTypedDataToJson(order),
		},
	};
}
