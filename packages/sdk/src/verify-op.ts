import {
	type BuildResponse,
	type Deployment,
	fromSwapId,
	mulDivDown,
	type Order,
	orderCalls,
	orderId,
	orderToJson,
	orderUserOp,
	packDeadlines,
	type QuoteRequestBody,
	type QuoteResponse,
	toSwapKey,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import { entryPoint09Address } from "viem/account-abstraction";
import { pinnedChain } from "./pinned-chain.ts";
import { VerificationError } from "./verification-error.ts";

export type OpToVerify = {
	/** What the caller asked for. */
	intent: QuoteRequestBody;
	quote: QuoteResponse;
	build: BuildResponse;
	/** What is deployed where, from a file that the caller trusts: not from the service. */
	pins: Deployment;
	limits?: {
		/** The least output that the caller will sign for, whatever was quoted. */
		minOutput?: bigint;
		nowMs?: number;
	};
};

const maxUint256 = (1n << 256n) - 1n;
const maxDefaultSlippageBps = 300;
const maxVerificationGas = 200_000n;
const maxCallGas = 1_000_000n;
const maxSecondsToOpen = 15n * 60n;
/** The escrow's own limit. */
const maxSecondsToRefund = 3n * 24n * 60n * 60n;

/**
 * The hash to sign. The op is made here, from the caller's request, the pins and the quoted minimum; of the build only
 * deadlines, delegate, allowance and gas limits are taken, each within bounds. Then the build must say the very same:
 * whatever differs is refused by its name.
 */
export function verifyOp({ wallet, ...op }: OpToVerify & { wallet: Address }): Hex {
	const { build, pins } = op;
	const order = expectedOrder({ wallet, ...op });
	const { delegate: current, earlierDelegates } = pinnedChain(pins, {
		field: "intent.originChain",
		chainId: Number(order.originChainId),
	}).contracts;

	const named = at(build, "geoOp.delegate");
	const delegate = [current, ...earlierDelegates].find((pinned) => isSame(pinned, named));
	if (delegate === undefined) refuse("geoOp.delegate", [current, ...earlierDelegates].join(" or "), named);
	const allowance = natural("geoOp.allowance", at(build, "geoOp.allowance"));
	const gas = {
		verificationGasLimit: bounded("geoOp.gas.verificationGasLimit", build, maxVerificationGas),
		callGasLimit: bounded("geoOp.gas.callGasLimit", build, maxCallGas),
	};

	const { hash, userOp } = orderUserOp({ order, delegate, allowance, gas });
	const { signature: _, ...unsigned } = userOp;
	const expected = {
		geoOp: {
			order: orderToJson(order),
			orderId: orderId(order),
			entryPoint: entryPoint09Address,
			chainId: Number(order.originChainId),
			delegate,
			allowance,
			gas,
			calls: orderCalls({ order, allowance }),
			userOp: unsigned,
		},
		geoOpHash: hash,
	};
	for (const [field, value] of leaves(expected)) {
		if (!isSame(value, at(build, field))) refuse(field, value, at(build, field));
	}
	return hash;
}

/** The order that the caller's request, the quote and the pins leave, with the build's deadlines. */
function expectedOrder({
	intent,
	quote,
	build,
	pins,
	wallet,
	limits = {},
}: Parameters<typeof verifyOp>[0]): Order {
	const originChainId = Number(intent.originChain);
	const destinationChainId = Number(intent.destinationChain);
	const origin = pinnedChain(pins, { field: "intent.originChain", chainId: originChainId });
	const destination = pinnedChain(pins, { field: "intent.destinationChain", chainId: destinationChainId });
	const recipient = intent.recipient ?? intent.walletAddress;
	if (!isSame(wallet, intent.walletAddress)) refuse("intent.walletAddress", wallet, intent.walletAddress);
	if (quote.origin !== "evm") refuse("quote.origin", "evm", quote.origin);
	if (!isSame(recipient, quote.recipient)) refuse("quote.recipient", recipient, quote.recipient);
	const uuid = fromSwapId(quote.swapId);
	if (uuid === undefined) refuse("quote.swapId", "a swap's id", quote.swapId);
	return {
		originChainId: BigInt(originChainId),
		destinationChainId: BigInt(destinationChainId),
		escrow: wordOf("pins.escrow", origin.contracts.escrow),
		originVault: wordOf("pins.vault", origin.contracts.vault),
		destinationVault: wordOf("pins.vault", destination.contracts.vault),
		attesterSet: origin.attesterSet.hash,
		wallet: toWord(wallet),
		inputToken: wordOf("intent.inputToken", intent.inputToken),
		inputAmount: natural("intent.amount", String(intent.amount)),
		outputToken: wordOf("intent.outputToken", intent.outputToken),
		minOutput: expectedMinimum({ intent, quote, limits }),
		recipient: wordOf("intent.recipient", recipient),
		swapKey: toSwapKey(uuid),
		deadlines: expectedDeadlines(build, limits.nowMs ?? Date.now()),
	};
}

/** The quoted minimum, where slippage explains it and the caller accepts it. */
function expectedMinimum({ intent, quote, limits }: Omit<Required<OpToVerify>, "build" | "pins">): bigint {
	const { slippageBps } = quote;
	const isDefault = intent.slippageBps === undefined;
	const isExpected = isDefault
		? Number.isInteger(slippageBps) && slippageBps >= 1 && slippageBps <= maxDefaultSlippageBps
		: slippageBps === intent.slippageBps;
	if (!isExpected) {
		refuse(
			"quote.slippageBps",
			isDefault ? `1 to ${maxDefaultSlippageBps}` : intent.slippageBps,
			slippageBps,
		);
	}
	const output = natural("quote.output", quote.output);
	const minOutput = natural("quote.minOutput", quote.minOutput);
	const leastBySlippage = mulDivDown(output, 10_000n - BigInt(slippageBps), 10_000n);
	const least = [1n, leastBySlippage, limits.minOutput ?? 0n].reduce((a, b) => (a > b ? a : b));
	if (minOutput < least) refuse("quote.minOutput", `at least ${least}`, minOutput);
	if (minOutput > output) refuse("quote.minOutput", `at most the output, ${output}`, minOutput);
	return minOutput;
}

/** The build's deadlines: open soon, and the input back within the escrow's limit if all else fails. */
function expectedDeadlines(build: BuildResponse, nowMs: number): bigint {
	const field = "geoOp.order.deadlines";
	const word = natural(field, at(build, field));
	const now = BigInt(Math.floor(nowMs / 1000));
	try {
		const deadlines = unpackDeadlines(word);
		const { openDeadline, refundAfter } = deadlines;
		if (openDeadline <= now || openDeadline > now + maxSecondsToOpen) {
			refuse(`${field} (openDeadline)`, `after ${now}, at most ${now + maxSecondsToOpen}`, openDeadline);
		}
		if (refundAfter > openDeadline + maxSecondsToRefund) {
			refuse(`${field} (refundAfter)`, `at most ${openDeadline + maxSecondsToRefund}`, refundAfter);
		}
		return packDeadlines(deadlines);
	} catch (error) {
		if (error instanceof VerificationError) throw error;
		return refuse(field, "three times in order", (error as Error).message);
	}
}

function bounded(field: string, build: BuildResponse, most: bigint): bigint {
	const value = natural(field, at(build, field));
	if (value < 1n || value > most) refuse(field, `1 to ${most}`, value);
	return value;
}

function natural(field: string, value: unknown): bigint {
	const isNatural = typeof value === "string" && /^(0|[1-9]\d{0,77})$/.test(value);
	if (!isNatural || BigInt(value) > maxUint256) return refuse(field, "a whole number of 256 bits", value);
	return BigInt(value);
}

function wordOf(field: string, address: string): Hex {
	if (!/^0x[0-9a-fA-F]{40}$/.test(address)) refuse(field, "an EVM address", address);
	return toWord(address as Address);
}

/** Every value in it, with the path to it. */
function leaves(value: unknown, path = ""): [path: string, value: unknown][] {
	if (typeof value !== "object" || value === null) return [[path, value]];
	// An element too many would have no counterpart.
	const children: [string, unknown][] = Object.entries(value);
	if (Array.isArray(value)) children.push(["length", value.length]);
	return children.flatMap(([key, child]) => leaves(child, path === "" ? key : `${path}.${key}`));
}

/** The value at a path of something that came over the wire, and may have any form. */
function at(value: unknown, path: string): unknown {
	return path
		.split(".")
		.reduce<unknown>((parent, key) => (parent as Record<string, unknown> | null | undefined)?.[key], value);
}

/** As written, but for the case of hex: a checksum is a matter of spelling. */
function isSame(expected: unknown, actual: unknown): boolean {
	if (typeof expected === "bigint") return String(expected) === actual;
	if (typeof expected !== "string" || typeof actual !== "string") return expected === actual;
	const isHex = expected.startsWith("0x") && actual.startsWith("0x");
	return isHex ? expected.toLowerCase() === actual.toLowerCase() : expected === actual;
}

function refuse(field: string, expected: unknown, actual: unknown): never {
	throw new VerificationError({ field, expected, actual });
}
