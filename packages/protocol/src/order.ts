import { type ContractFunctionArgs, encodeAbiParameters, getAbiItem, type Hex, keccak256 } from "viem";
import { geoEscrowAbi } from "./abi/geo-escrow-abi.ts";

/** The terms of one swap, fixed when its quote was issued. Every address is a 32-byte word. */
export type Order = ContractFunctionArgs<typeof geoEscrowAbi, "pure", "orderIdOf">[0];

/** An order without what the escrow derives when it is opened: origin chain, escrow and wallet. */
export type Terms = ContractFunctionArgs<typeof geoEscrowAbi, "payable", "open">[0];

const orderParameters = getAbiItem({ abi: geoEscrowAbi, name: "orderIdOf" }).inputs;

/** The hash of the order's fourteen words, as the contracts compute it. */
export function orderId(order: Order): Hex {
	return keccak256(encodeAbiParameters(orderParameters, [order]));
}

/** What `open` is called with so that it opens exactly this order. */
export function orderTerms(order: Order): Terms {
	const { originChainId: _, escrow: __, wallet: ___, ...terms } = order;
	return terms;
}
