import {
	type Abi,
	type AbiEvent,
	type AbiParameter,
	type Address,
	type ContractErrorArgs,
	type ContractErrorName,
	type ContractEventName,
	type DecodeFunctionDataReturnType,
	decodeFunctionData,
	encodeAbiParameters,
	encodeErrorResult,
	type Hex,
	toEventSelector,
} from "viem";
import { type StateOverlay, stateKey } from "./state-overlay.ts";

/** A call as it reaches a contract. Addresses are in lower case. */
export type EvmCall = { from: Address; to: Address; value: bigint; data: Hex };

export type EvmLog = { address: Address; topics: Hex[]; data: Hex };

export type ContractKind = "escrow" | "vault" | "token" | "entry-point" | "multicall" | "delegate" | "other";

/** The environment in which one transaction, call or simulation runs. */
export type EvmContext = {
	chainId: number;
	blockNumber: bigint;
	/** Unix seconds. */
	timestamp: bigint;
	/** The sender of the transaction. */
	origin: Address;
	state: StateOverlay;
	logs: EvmLog[];
	/** Gas used so far. The amounts are of the right order of magnitude only. */
	gas: { used: bigint };
	kindOf: (address: Address) => ContractKind | undefined;
	/** Throws a `Revert` if the call fails, which leaves nothing behind but the gas it used. */
	call: (call: EvmCall) => Hex;
};

/** A contract that the chain knows: answers a call or throws a `Revert`. The value was already paid to it. */
export type EvmContract = (context: EvmContext, call: EvmCall) => Hex;

/** The error of a call that failed, with its return data. */
export class Revert extends Error {
	override name = "Revert";
	readonly data: Hex;

	constructor(data: Hex = "0x") {
		super(`reverted with ${data.slice(0, 10)}`);
		this.data = data;
	}
}

export function revertWith<const TAbi extends Abi, TName extends ContractErrorName<TAbi>>(
	abi: TAbi,
	errorName: TName,
	args?: ContractErrorArgs<TAbi, TName>,
): Revert {
	return new Revert(encodeErrorResult({ abi, errorName, args } as Parameters<typeof encodeErrorResult>[0]));
}

const decoded = new WeakMap<Abi, Map<Hex, unknown>>();
const mostDecoded = 2_000;

/** Decodes a call, with a cache: the same bytes come many times, simulated, sent, and again after a fork. */
export function decodeCall<const TAbi extends Abi>(abi: TAbi, data: Hex): DecodeFunctionDataReturnType<TAbi> {
	let known = decoded.get(abi);
	if (!known) {
		known = new Map();
		decoded.set(abi, known);
	}
	const found = known.get(data);
	if (found) return found as DecodeFunctionDataReturnType<TAbi>;
	let call: DecodeFunctionDataReturnType<TAbi>;
	try {
		call = decodeFunctionData({ abi, data } as Parameters<
			typeof decodeFunctionData
		>[0]) as DecodeFunctionDataReturnType<TAbi>;
	} catch {
		throw new Revert();
	}
	if (known.size >= mostDecoded) known.clear();
	known.set(data, call);
	return call;
}

type EventShape = { topic: Hex; inputs: AbiEvent["inputs"] };
const eventShapes = new WeakMap<Abi, Map<string, EventShape>>();

/** Emits an event of the contract. The arguments are in the order of the event's declaration. */
export function emit<const TAbi extends Abi>(
	{ logs }: EvmContext,
	address: Address,
	event: { abi: TAbi; name: ContractEventName<TAbi>; args: readonly unknown[] },
): void {
	const { topic, inputs } = shapeOf(event.abi, event.name);
	const topics = [topic];
	const others: { type: AbiParameter; value: unknown }[] = [];
	inputs.forEach((input, i) => {
		if (input.indexed) topics.push(`0x${staticWord(input.type, event.args[i])}`);
		else others.push({ type: input, value: event.args[i] });
	});
	const words = others.map(({ type, value }) => staticWord(type.type, value));
	const data: Hex = words.every((word) => word !== undefined)
		? `0x${words.join("")}`
		: encodeAbiParameters(
				others.map(({ type }) => type),
				others.map(({ value }) => value),
			);
	logs.push({ address, topics, data });
}

/**
 * Returns the word of a value that fits into one, without the checks that make viem's encoder slow; undefined for all
 * others.
 */
function staticWord(type: string, value: unknown): string | undefined {
	switch (type) {
		case "address":
			return String(value).slice(2).toLowerCase().padStart(64, "0");
		case "uint256":
			return (value as bigint).toString(16).padStart(64, "0");
		case "bool":
			return (value === true ? "1" : "0").padStart(64, "0");
		case "bytes32":
		case "bytes4":
			return String(value).slice(2).padEnd(64, "0");
		default:
			return undefined;
	}
}

function shapeOf(abi: Abi, name: string): EventShape {
	let shapes = eventShapes.get(abi);
	if (!shapes) {
		shapes = new Map();
		eventShapes.set(abi, shapes);
	}
	const known = shapes.get(name);
	if (known) return known;
	const item = eventOf(abi, name);
	const shape = { topic: toEventSelector(item), inputs: item.inputs };
	shapes.set(name, shape);
	return shape;
}

function eventOf(abi: Abi, name: string): AbiEvent {
	const item = abi.find((entry) => entry.type === "event" && entry.name === name);
	if (item?.type !== "event") throw new Error(`there is no event ${name}`);
	return item;
}

export function lower(address: string): Address {
	return address.toLowerCase() as Address;
}

/** Moves the native token. Throws a `Revert` if the payer has too little. */
export function moveNative(
	{ state }: EvmContext,
	{ from, to, amount }: { from: Address; to: Address; amount: bigint },
): void {
	if (amount === 0n) return;
	const native = "0x0000000000000000000000000000000000000000";
	const held = state.number(stateKey.balance(native, from));
	if (held < amount) throw new Revert();
	state.set(stateKey.balance(native, from), held - amount);
	const key = stateKey.balance(native, to);
	state.set(key, state.number(key) + amount);
}
