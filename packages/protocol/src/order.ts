import { type ContractFunctionArgs, concat, getAbiItem, type Hex, keccak256, numberToHex } from "viem";
import { geoEscrowAbi } from "./abi/geo-escrow-abi.ts";

/** The terms of one swap, fixed when its quote was issued. Every address is a 32-byte word. */
export type Order = ContractFunctionArgs<typeof geoEscrowAbi, "pure", "orderIdOf">[0];

/** An order without what the escrow derives when it is opened: origin chain, escrow and wallet. */
export type Terms = ContractFunctionArgs<typeof geoEscrowAbi, "payable", "open">[0];

const fields = getAbiItem({ abi: geoEscrowAbi, name: "orderIdOf" }).inputs[0].components;

/** Ids of frozen orders only: those cannot change after they were hashed. */
const knownIds = new WeakMap<Order, Hex>();

/** Returns the hash of the order's fourteen words, as the contracts compute it. */
export function orderId(order: Order): Hex {
	const known = knownIds.get(order);
	if (known) return known;
	const id = keccak256(concat(fields.map(({ name }) => toWord(order[name]))));
	if (Object.isFrozen(order)) knownIds.set(order, id);
	return id;
}

function toWord(value: bigint | Hex): Hex {
	if (typeof value === "bigint") return numberToHex(value, { size: 32 });
	if (value.length !== 66) throw new RangeError(`${value} is not a word of 32 bytes`);
	return value;
}

/** Returns the argument with which `open` opens exactly this order. */
export function orderTerms(order: Order): Terms {
	const { originChainId: _, escrow: __, wallet: ___, ...terms } = order;
	return terms;
}
