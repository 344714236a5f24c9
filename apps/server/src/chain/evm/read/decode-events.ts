import {
	type ChainDeployment,
	geoEscrowAbi,
	geoVaultAbi,
	type OrderJson,
	orderToJson,
	ourContracts,
	toWord,
} from "@geoswap/protocol";
import { type Address, type Hash, type Hex, isAddressEqual, type Log, parseEventLogs } from "viem";

/** The data of each event beside its order's id, as JSON with amounts as decimal strings. */
type ContractEventData = {
	Opened: { order: OrderJson };
	Released: { paid: boolean };
	Refunded: { paid: boolean };
	Credited: { beneficiary: Address; token: Address; amount: string };
	Claimed: { beneficiary: Address; token: Address; to: Address; amount: string };
	Filled: { delivered: string; spentToken: Address; spent: string };
	/** Not paid if the recipient refused the native token, which the vault then keeps. */
	ToppedUp: { amount: string; paid: boolean };
	Voided: Record<never, never>;
	/** The selector of an error, which the vault gives and the escrow does not. */
	Skipped: { reason?: Hex };
	Withdrawn: { token: Address; to: Address; amount: string };
	Traded: { moveId: Hex; tokenIn: Address; tokenOut: Address; amountIn: string; amountOut: string };
	Sent: { moveId: Hex; token: Address; to: Address; amount: string };
	/** `route` is the contract that takes the amount to another chain, `data` its parameters. */
	Bridged: { moveId: Hex; token: Address; route: Address; amount: string; data: Hex };
};
type ContractEventName = keyof ContractEventData;

/** An event of one of our escrows or vaults. */
export type ContractEvent = {
	[Name in ContractEventName]: {
		name: Name;
		data: ContractEventData[Name];
		orderId: Hex | undefined;
		contract: Address;
		transactionHash: Hash;
		logIndex: number;
	};
}[ContractEventName];

/** Returns the events among the logs that move money or decide an order, in the chain's order. */
export function decodeEvents(
	deployment: ChainDeployment,
	logs: readonly Log<bigint, number, false>[],
): ContractEvent[] {
	const { escrows, vaults } = ourContracts(deployment);
	const of = (addresses: Address[]) =>
		logs.filter((log) => addresses.some((address) => isAddressEqual(address, log.address)));
	return [...escrowEvents(deployment, of(escrows)), ...vaultEvents(of(vaults))].sort(
		(a, b) => a.logIndex - b.logIndex,
	);
}

function escrowEvents(
	{ chainId }: ChainDeployment,
	logs: readonly Log<bigint, number, false>[],
): ContractEvent[] {
	return parseEventLogs({ abi: geoEscrowAbi, logs: [...logs] }).flatMap((log): ContractEvent[] => {
		const place = placeOf(log);
		switch (log.eventName) {
			case "Opened": {
				const { orderId, wallet, terms } = log.args;
				const derived = {
					originChainId: BigInt(chainId),
					escrow: toWord(log.address),
					wallet: toWord(wallet),
				};
				return [
					{ ...place, name: "Opened", orderId, data: { order: orderToJson({ ...derived, ...terms }) } },
				];
			}
			case "Released":
			case "Refunded":
				return [{ ...place, name: log.eventName, orderId: log.args.orderId, data: { paid: log.args.paid } }];
			case "Credited": {
				const { orderId, beneficiary, token, amount } = log.args;
				return [
					{ ...place, name: "Credited", orderId, data: { beneficiary, token, amount: String(amount) } },
				];
			}
			case "Claimed": {
				const { beneficiary, token, to, amount } = log.args;
				const data = { beneficiary, token, to, amount: String(amount) };
				return [{ ...place, name: "Claimed", orderId: undefined, data }];
			}
			case "Skipped":
				return [{ ...place, name: "Skipped", orderId: log.args.orderId, data: {} }];
			default:
				return [];
		}
	});
}

function vaultEvents(logs: readonly Log<bigint, number, false>[]): ContractEvent[] {
	return parseEventLogs({ abi: geoVaultAbi, logs: [...logs] }).flatMap((log): ContractEvent[] => {
		const place = placeOf(log);
		switch (log.eventName) {
			case "Filled": {
				const { orderId, delivered, spentToken, spent } = log.args;
				const data = { delivered: String(delivered), spentToken, spent: String(spent) };
				return [{ ...place, name: "Filled", orderId, data }];
			}
			case "ToppedUp": {
				const { orderId, amount, paid } = log.args;
				return [{ ...place, name: "ToppedUp", orderId, data: { amount: String(amount), paid } }];
			}
			case "Voided":
				return [{ ...place, name: "Voided", orderId: log.args.orderId, data: {} }];
			case "Skipped":
				return [{ ...place, name: "Skipped", orderId: log.args.orderId, data: { reason: log.args.reason } }];
			case "Withdrawn": {
				const { token, to, amount } = log.args;
				return [
					{ ...place, name: "Withdrawn", orderId: undefined, data: { token, to, amount: String(amount) } },
				];
			}
			case "Traded": {
				const { moveId, tokenIn, tokenOut, amountIn, amountOut } = log.args;
				const amounts = { amountIn: String(amountIn), amountOut: String(amountOut) };
				const data = { moveId, tokenIn, tokenOut, ...amounts };
				return [{ ...place, name: "Traded", orderId: undefined, data }];
			}
			case "Sent": {
				const { moveId, token, to, amount } = log.args;
				const data = { moveId, token, to, amount: String(amount) };
				return [{ ...place, name: "Sent", orderId: undefined, data }];
			}
			case "Bridged": {
				const { moveId, token, route, amount, data: parameters } = log.args;
				const data = { moveId, token, route, amount: String(amount), data: parameters };
				return [{ ...place, name: "Bridged", orderId: undefined, data }];
			}
			default:
				return [];
		}
	});
}

function placeOf({ address, transactionHash, logIndex }: Log<bigint, number, false>) {
	return { contract: address, transactionHash, logIndex };
}
