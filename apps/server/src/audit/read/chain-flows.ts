import { type Amount, geoEscrowAbi, geoVaultAbi } from "@geoswap/protocol";
import {
	type Address,
	decodeFunctionData,
	type Hex,
	isAddressEqual,
	type Log,
	parseAbi,
	parseEventLogs,
	toEventSelector,
} from "viem";
import type { AuditedChain } from "./audited-chain.ts";

/** What left or crossed the vaults of a chain without an order. */
export type ChainFlows = {
	withdrawn: Withdrawal[];
	moved: Move[];
	/** Withdrawals that are scheduled and neither executed nor cancelled, by operation id. */
	scheduled: Map<Hex, Scheduled>;
};

/** An amount that left a vault, or the credit of one, for an address that is no vault. */
type Withdrawal = { block: number; vault: Address; token: Address; to: Address; amount: Amount };

/**
 * A move that a vault made for a treasurer's key. `to` is a recipient or a route. A trade bought `received` of `toToken`.
 */
export type Move = {
	block: number;
	kind: "trade" | "send" | "bridge";
	moveId: Hex;
	token: Address;
	amount: Amount;
	to?: Address;
	toToken?: Address;
	received?: Amount;
};

/** A scheduled withdrawal. A claim of credit takes all that there is by then. */
type Scheduled = Omit<Withdrawal, "amount"> & { amount: Amount | undefined };

const managerAbi = parseAbi([
	"event OperationScheduled(bytes32 indexed operationId, uint32 indexed nonce, uint48 schedule, address caller, address target, bytes data)",
	"event OperationExecuted(bytes32 indexed operationId, uint32 indexed nonce)",
	"event OperationCanceled(bytes32 indexed operationId, uint32 indexed nonce)",
]);

/** First topics of the events of an AccessManager that tell what is scheduled. */
export const scheduleTopics: readonly Hex[] = managerAbi.map((event) => toEventSelector(event));

export function noFlows(): ChainFlows {
	return { withdrawn: [], moved: [], scheduled: new Map() };
}

/** Adds what some logs show to the flows of a chain. The logs are in no particular order. */
export function addFlows(
	{ escrows, vaults, accessManager }: AuditedChain,
	{ flows, logs }: { flows: ChainFlows; logs: readonly Log<bigint, number, false>[] },
): void {
	const isVault = (address: Address) => vaults.some((vault) => isAddressEqual(vault, address));
	const of = (addresses: readonly Address[]) =>
		logs.filter(({ address }) => addresses.some((one) => isAddressEqual(one, address)));
	for (const { address: vault, blockNumber, eventName, args } of parseEventLogs({
		abi: geoVaultAbi,
		logs: of(vaults),
	})) {
		const block = Number(blockNumber);
		if (eventName === "Withdrawn" && !isVault(args.to)) flows.withdrawn.push({ block, vault, ...args });
		if (eventName === "Traded") {
			const { moveId, tokenIn: token, amountIn: amount, tokenOut: toToken, amountOut: received } = args;
			flows.moved.push({ block, kind: "trade", moveId, token, amount, toToken, received });
		}
		if (eventName === "Sent") flows.moved.push({ block, kind: "send", ...args });
		if (eventName === "Bridged") {
			const { moveId, token, amount, route: to } = args;
			flows.moved.push({ block, kind: "bridge", moveId, token, amount, to });
		}
	}
	for (const { blockNumber, eventName, args } of parseEventLogs({ abi: geoEscrowAbi, logs: of(escrows) })) {
		if (eventName !== "Claimed" || !isVault(args.beneficiary) || isVault(args.to)) continue;
		const { beneficiary: vault, token, to, amount } = args;
		flows.withdrawn.push({ block: Number(blockNumber), vault, token, to, amount });
	}
	const operations = parseEventLogs({ abi: managerAbi, logs: of([accessManager]) }).sort(
		(one, other) => Number(one.blockNumber - other.blockNumber) || one.logIndex - other.logIndex,
	);
	for (const { blockNumber, eventName, args } of operations) {
		if (eventName !== "OperationScheduled") {
			flows.scheduled.delete(args.operationId);
			continue;
		}
		const { target, data, operationId } = args;
		if (!isVault(target)) continue;
		const withdrawal = withdrawalIn(data);
		if (!withdrawal || isVault(withdrawal.to)) continue;
		flows.scheduled.set(operationId, { block: Number(blockNumber), vault: target, ...withdrawal });
	}
}

function withdrawalIn(data: Hex): Omit<Scheduled, "block" | "vault"> | undefined {
	try {
		const { functionName, args } = decodeFunctionData({ abi: geoVaultAbi, data });
		if (functionName === "withdraw") return { token: args[0], to: args[1], amount: args[2] };
		if (functionName === "claimCredit") return { token: args[0], to: args[1], amount: undefined };
	} catch {
		// Data that is no call of the vault does nothing there.
	}
	return undefined;
}
