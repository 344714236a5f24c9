import {
	type Authorization,
	fromWord,
	geoAccountAbi,
	geoEscrowAbi,
	type Order,
	orderTerms,
} from "@geoswap/protocol";
import {
	type Address,
	decodeErrorResult,
	encodeFunctionData,
	type Hex,
	parseAbi,
	prepareEncodeFunctionData,
} from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";
import { maxTransactionGas } from "../send/simulate-bundle.ts";
import { simulate } from "../simulate/simulate.ts";
import { simulatedPayer } from "../simulate/simulated-payer.ts";
import type { SimulatedCall } from "../simulate/simulation.ts";
import { signedAuthorization } from "./signed-authorization.ts";

export type OpenSimulation =
	| { opens: true; gasUsed: bigint }
	/** The name of the contracts' error with its arguments, or the text that a token gives. */
	| { opens: false; reason: string; args?: readonly unknown[] | undefined };

/** An address without a key. The escrow opens a signed order for every sender. */
const anySender: Address = "0x000000000000000000000000000000000000dEaD";

// Prepared once, because viem otherwise hashes the function's name at each call.
const openFor = prepareEncodeFunctionData({ abi: geoEscrowAbi, functionName: "openFor" });

/** Simulates an order that is not signed yet, with code in the wallet's place that pays without a signature. */
export function simulateUnsigned({
	chain,
	order,
}: {
	chain: EvmChain;
	order: Order;
}): Promise<OpenSimulation> {
	const codes = [{ address: fromWord(order.wallet), code: simulatedPayer.runtimeCode }];
	return simulateOpen(chain, order, { proof: "0x", codes });
}

/** Simulates an order with its proof, and with the delegation that the authorization makes. */
export function simulateSigned({
	chain,
	order,
	proof,
	authorization,
}: {
	chain: EvmChain;
	order: Order;
	proof: Hex;
	authorization?: Authorization | undefined;
}): Promise<OpenSimulation> {
	const authorizationList = authorization && [signedAuthorization(authorization)];
	return simulateOpen(chain, order, { proof, authorizationList });
}

/** Simulates `openFor`, which reverts unless it opens the order, so its success is sufficient. */
async function simulateOpen(
	chain: EvmChain,
	order: Order,
	{ proof, ...call }: { proof: Hex } & Pick<SimulatedCall, "codes" | "authorizationList">,
): Promise<OpenSimulation> {
	const simulation = await requestChain(
		chain.chainId,
		simulate(chain, {
			...call,
			from: anySender,
			to: fromWord(order.escrow),
			data: encodeFunctionData({ ...openFor, args: [fromWord(order.wallet), orderTerms(order), proof] }),
			gas: maxTransactionGas,
			orders: [],
		}),
	);
	if (!simulation.succeeds) return { opens: false, ...revertReason(simulation.data) };
	return { opens: true, gasUsed: simulation.gasUsed };
}

const reasonAbi = [
	...geoEscrowAbi,
	...geoAccountAbi,
	...parseAbi([
		"error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
		"error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
	]),
];

function revertReason(data: Hex): { reason: string; args?: readonly unknown[] | undefined } {
	try {
		const { errorName, args } = decodeErrorResult({ abi: reasonAbi, data });
		const words = args?.find((arg) => typeof arg === "string" && !arg.startsWith("0x"));
		return typeof words === "string" ? { reason: words } : { reason: errorName, args };
	} catch {
		return { reason: data === "0x" ? "reverted without a reason" : `reverted with ${data.slice(0, 10)}` };
	}
}

/** Gas that a wallet's account uses beside the payment, to hash the order and check one signature. */
const accountGas = 15_000n;
/** Gas for storage slots that may be empty when the order is opened, though they were not when it was simulated. */
const spare = 30_000n;
const step = 10_000n;

/**
 * Returns the gas limit for opening an order whose simulation without a signature used this much. Gas refunds hide up
 * to a fifth of what a call needs at its peak. Unused gas costs nothing.
 */
export function openGas(gasUsed: bigint): bigint {
	const needed = ((gasUsed + accountGas) * 3n) / 2n + spare;
	return ((needed + step - 1n) / step) * step;
}
