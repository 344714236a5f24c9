import { geoEscrowAbi, geoVaultAbi, type Order, toWord } from "@geoswap/protocol";
import {
	type Address,
	type ContractFunctionArgs,
	encodeFunctionData,
	encodeFunctionResult,
	type Hex,
	zeroAddress,
} from "viem";
import {
	decodeCall,
	type EvmContext,
	type EvmContract,
	emit,
	lower,
	Revert,
	revertWith,
} from "./evm-call.ts";
import { knownOrderId } from "./known-order-id.ts";
import { balanceAt, payFromContract } from "./pay-from-contract.ts";
import { timesOf, toAddress } from "./sim-escrow.ts";
import { stateKey } from "./state-overlay.ts";

type Fill = ContractFunctionArgs<typeof geoVaultAbi, "nonpayable", "fillMany">[0][number];

export type VaultRoles = {
	admin: Address;
	operators: readonly Address[];
	guardians: readonly Address[];
	treasuries: readonly Address[];
};

const vaultState = { none: 0n, filled: 1n, voided: 2n } as const;
const hour = 3_600n;
const gas = { fill: 45_000n, void: 25_000n, setting: 30_000n, view: 3_000n };

/** GeoVault with the AccessManager's rules for it, rule by rule. It delivers from stock only: there is no router. */
export function createSimVault({
	chainId,
	address,
	escrow: escrowAddress,
	roles,
}: {
	chainId: number;
	address: Address;
	escrow: Address;
	roles: VaultRoles;
}): EvmContract {
	const [self, escrow] = [lower(address), lower(escrowAddress)];
	const chain = BigInt(chainId);
	const members = {
		admin: [lower(roles.admin)],
		operator: roles.operators.map(lower),
		guardian: roles.guardians.map(lower),
		treasury: roles.treasuries.map(lower),
	};
	const stateOf = ({ state }: EvmContext, orderId: Hex) => state.number(stateKey.vaultOrder(self, orderId));
	const outflowOf = ({ state }: EvmContext, token: Address, field: "perHour" | "used" | "updatedAt") =>
		state.number(stateKey.outflow(self, token, field));

	function used(context: EvmContext, token: Address): bigint {
		const age = context.timestamp - outflowOf(context, token, "updatedAt");
		const drained = (outflowOf(context, token, "perHour") * age) / hour;
		const before = outflowOf(context, token, "used");
		return drained < before ? before - drained : 0n;
	}

	function available(context: EvmContext, token: Address): bigint {
		const left = outflowOf(context, token, "perHour") - used(context, token);
		return left > 0n ? left : 0n;
	}

	function setOutflow(context: EvmContext, token: Address, next: { used: bigint; perHour?: bigint }): void {
		const { state, timestamp } = context;
		state.set(stateKey.outflow(self, token, "used"), next.used);
		state.set(stateKey.outflow(self, token, "updatedAt"), timestamp);
		if (next.perHour !== undefined) state.set(stateKey.outflow(self, token, "perHour"), next.perHour);
	}

	const isOwn = (order: Order) =>
		order.destinationChainId === chain && order.destinationVault === toWord(self);

	function undecided(context: EvmContext, order: Order): Hex {
		if (!isOwn(order)) {
			throw revertWith(geoVaultAbi, "WrongVault", [order.destinationChainId, order.destinationVault]);
		}
		const orderId = knownOrderId(order);
		if (stateOf(context, orderId) !== vaultState.none) {
			throw revertWith(geoVaultAbi, "AlreadyDecided", [orderId]);
		}
		return orderId;
	}

	function fill(context: EvmContext, item: Fill): void {
		const { order, amount } = item;
		const orderId = undecided(context, order);
		const { fill: fillDeadline } = timesOf(order.deadlines);
		if (context.timestamp >= fillDeadline) throw revertWith(geoVaultAbi, "FillExpired", [fillDeadline]);
		if (amount === 0n) throw revertWith(geoVaultAbi, "ZeroAmount");
		context.gas.used += gas.fill;
		context.state.set(stateKey.vaultOrder(self, orderId), vaultState.filled);

		if (order.originChainId === chain) {
			if (order.escrow !== toWord(escrow) || order.originVault !== toWord(self)) {
				throw revertWith(geoVaultAbi, "WrongOrigin", [order.escrow, order.originVault]);
			}
			const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: "releaseFilled", args: [order] });
			context.call({ from: self, to: escrow, value: 0n, data });
		}
		const token = toAddress(order.outputToken);
		if (item.poolFee !== 0) throw new Error("the simulated vault has no router: fill from stock");
		const left = available(context, token);
		if (amount > left) throw revertWith(geoVaultAbi, "OutflowCapExceeded", [token, amount, left]);
		setOutflow(context, token, { used: used(context, token) + amount });
		const delivered = deliver(context, { token, to: toAddress(order.recipient), amount });
		const minimum = [1n, order.minOutput, item.minOutput].reduce((a, b) => (a > b ? a : b));
		if (delivered < minimum) throw revertWith(geoVaultAbi, "TooLittleDelivered", [delivered, minimum]);
		emit(context, self, { abi: geoVaultAbi, name: "Filled", args: [orderId, delivered, token, amount] });
	}

	function deliver(
		context: EvmContext,
		{ token, to, amount }: { token: Address; to: Address; amount: bigint },
	): bigint {
		if (token === zeroAddress) {
			payNative(context, to, amount);
			return amount;
		}
		const before = balanceAt(context, token, to);
		payFromContract(context, { from: self, token, to, amount });
		return balanceAt(context, token, to) - before;
	}

	function payNative(context: EvmContext, to: Address, amount: bigint): void {
		try {
			payFromContract(context, { from: self, token: zeroAddress, to, amount });
		} catch (error) {
			if (!(error instanceof Revert)) throw error;
			throw revertWith(geoVaultAbi, "NativeTransferFailed", [to]);
		}
	}

	function skip(context: EvmContext, orderId: Hex, reason: Hex): void {
		emit(context, self, { abi: geoVaultAbi, name: "Skipped", args: [orderId, reason] });
	}

	/** Fills orders. An item that fails leaves nothing behind but its ID and the reason. */
	function fillMany(context: EvmContext, items: readonly Fill[]): void {
		for (const item of items) {
			const mark = context.state.mark();
			const logs = context.logs.length;
			try {
				fill(context, item);
			} catch (error) {
				if (!(error instanceof Revert)) throw error;
				context.state.undoTo(mark);
				context.logs.length = logs;
				const said = error.data.length >= 10 ? (error.data.slice(0, 10) as Hex) : "0x00000000";
				skip(context, knownOrderId(item.order), said);
			}
		}
	}

	function voidOrder(context: EvmContext, orderId: Hex): void {
		context.gas.used += gas.void;
		context.state.set(stateKey.vaultOrder(self, orderId), vaultState.voided);
		emit(context, self, { abi: geoVaultAbi, name: "Voided", args: [orderId] });
	}

	function voidMany(context: EvmContext, orders: readonly Order[]): void {
		for (const order of orders) {
			const orderId = knownOrderId(order);
			if (!isOwn(order)) skip(context, orderId, selectors.WrongVault);
			else if (stateOf(context, orderId) !== vaultState.none) {
				skip(context, orderId, selectors.AlreadyDecided);
			} else voidOrder(context, orderId);
		}
	}

	return (context, { from, value, data }) => {
		if (data === "0x") return "0x";
		const call = decodeCall(geoVaultAbi, data);
		if (value > 0n) throw new Revert();
		const { state } = context;
		const only = (who: keyof typeof members) => {
			if (!members[who].includes(from)) throw revertWith(geoVaultAbi, "AccessManagedUnauthorized", [from]);
		};
		const isPaused = () => state.number(stateKey.paused(self)) === 1n;
		const unlessPaused = () => {
			if (isPaused()) throw revertWith(geoVaultAbi, "EnforcedPause");
		};
		const view = (result: unknown) => {
			context.gas.used += gas.view;
			const answer = { abi: geoVaultAbi, functionName: call.functionName, result };
			return encodeFunctionResult(answer as Parameters<typeof encodeFunctionResult>[0]);
		};
		switch (call.functionName) {
			case "fill":
				only("operator");
				unlessPaused();
				fill(context, call.args[0]);
				return "0x";
			case "fillMany":
				only("operator");
				unlessPaused();
				fillMany(context, call.args[0]);
				return "0x";
			case "void":
				only("operator");
				voidOrder(context, undecided(context, call.args[0]));
				return "0x";
			case "voidMany":
				only("operator");
				voidMany(context, call.args[0]);
				return "0x";
			case "pause":
				only("guardian");
				unlessPaused();
				state.set(stateKey.paused(self), 1n);
				emit(context, self, { abi: geoVaultAbi, name: "Paused", args: [from] });
				return "0x";
			case "unpause":
				only("admin");
				if (!isPaused()) throw revertWith(geoVaultAbi, "ExpectedPause");
				state.set(stateKey.paused(self), 0n);
				emit(context, self, { abi: geoVaultAbi, name: "Unpaused", args: [from] });
				return "0x";
			case "setOutflowCap": {
				only("admin");
				const [token, perHour] = [lower(call.args[0]), call.args[1]];
				const before = used(context, token);
				context.gas.used += gas.setting;
				setOutflow(context, token, { used: lesser(before, perHour), perHour });
				emit(context, self, { abi: geoVaultAbi, name: "OutflowCapSet", args: [token, perHour] });
				return "0x";
			}
			case "withdraw": {
				only("treasury");
				const [token, to, amount] = [lower(call.args[0]), lower(call.args[1]), call.args[2]];
				emit(context, self, { abi: geoVaultAbi, name: "Withdrawn", args: [token, to, amount] });
				if (token === zeroAddress) payNative(context, to, amount);
				else payFromContract(context, { from: self, token, to, amount });
				return "0x";
			}
			case "claimCredit": {
				only("treasury");
				const claim = encodeFunctionData({ abi: geoEscrowAbi, functionName: "claimTo", args: call.args });
				context.call({ from: self, to: escrow, value: 0n, data: claim });
				return "0x";
			}
			case "orderState":
				return view(Number(stateOf(context, call.args[0])));
			case "outflowCap":
				return view(outflowOf(context, lower(call.args[0]), "perHour"));
			case "outflowAvailable":
				return view(available(context, lower(call.args[0])));
			case "paused":
				return view(isPaused());
			case "fillOne":
				throw revertWith(geoVaultAbi, "OnlySelf");
			case "ESCROW":
				return view(escrow);
			default:
				throw new Revert();
		}
	};
}

function lesser(a: bigint, b: bigint): bigint {
	return a < b ? a : b;
}

const selectors = {
	WrongVault: revertWith(geoVaultAbi, "WrongVault", [0n, toWord(zeroAddress)]).data.slice(0, 10) as Hex,
	AlreadyDecided: revertWith(geoVaultAbi, "AlreadyDecided", [toWord(zeroAddress)]).data.slice(0, 10) as Hex,
};
