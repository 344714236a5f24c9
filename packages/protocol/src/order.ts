import {
	type Address,
	type ContractFunctionArgs,
	concat,
	getAbiItem,
	type Hex,
	hashDomain,
	keccak256,
	numberToHex,
	type TypedDataDefinition,
	toHex,
} from "viem";
import { geoEscrowAbi } from "./abi/geo-escrow-abi.ts";
import { toChainId } from "./chain-id.ts";
import { unpackDeadlines } from "./deadlines.ts";
import { fromWord } from "./word.ts";

/** The terms of one swap, fixed when its quote was issued. Every address is a 32-byte word. */
export type Order = ContractFunctionArgs<typeof geoEscrowAbi, "pure", "orderIdOf">[0];

/** An order without what the escrow derives when it is opened: origin chain, escrow and wallet. */
export type Terms = ContractFunctionArgs<typeof geoEscrowAbi, "payable", "open">[0];

const words = getAbiItem({ abi: geoEscrowAbi, name: "orderIdOf" })
	.inputs[0].components.map(({ name }) => name)
	.filter((name) => name !== "deadlines");

/** An order's types as wallets show them. Names and sequence are the contracts'; the deadlines are unpacked. */
export const orderTypes = {
	Order: [
		{ name: "wallet", type: "address" },
		{ name: "inputToken", type: "address" },
		{ name: "inputAmount", type: "uint256" },
		{ name: "originChainId", type: "uint256" },
		{ name: "destinationChainId", type: "uint256" },
		{ name: "outputToken", type: "bytes32" },
		{ name: "minOutput", type: "uint256" },
		{ name: "recipient", type: "bytes32" },
		{ name: "topUp", type: "uint256" },
		{ name: "escrow", type: "address" },
		{ name: "originVault", type: "address" },
		{ name: "destinationVault", type: "bytes32" },
		{ name: "attesterSet", type: "bytes32" },
		{ name: "swapKey", type: "bytes32" },
		{ name: "openDeadline", type: "uint256" },
		{ name: "fillDeadline", type: "uint256" },
		{ name: "refundAfter", type: "uint256" },
	],
} as const;

const orderTypeHash = keccak256(
	toHex(`Order(${orderTypes.Order.map(({ name, type }) => `${type} ${name}`).join(",")})`),
);

const uint64 = (1n << 64n) - 1n;

/** Ids of frozen orders only, because other orders could change after they were hashed. */
const knownIds = new WeakMap<Order, Hex>();

/** Returns the order's EIP-712 struct hash as the contracts compute it, with each address encoded as its word. */
export function orderId(order: Order): Hex {
	const known = knownIds.get(order);
	if (known) return known;
	const { deadlines } = order;
	// Bits above the three times stay in the first time, as in the contracts, so that no two words have the same id.
	const times = [deadlines >> 128n, (deadlines >> 64n) & uint64, deadlines & uint64];
	const id = keccak256(
		concat([orderTypeHash, ...words.map((name) => toWord(order[name])), ...times.map(toWord)]),
	);
	if (Object.isFrozen(order)) knownIds.set(order, id);
	return id;
}

function toWord(value: bigint | Hex): Hex {
	if (typeof value === "bigint") return numberToHex(value, { size: 32 });
	if (value.length !== 66) throw new RangeError(`${value} is not a word of 32 bytes`);
	return value;
}

/** Returns the argument with which `open` and `openFor` open exactly this order. */
export function orderTerms(order: Order): Terms {
	const { originChainId: _, escrow: __, wallet: ___, ...terms } = order;
	return terms;
}

/** Returns the domain of everything that is signed for an escrow. */
export function escrowDomain({ chainId, escrow }: { chainId: number; escrow: Address }) {
	return { name: "Geoswap", version: "1", chainId, verifyingContract: escrow } as const;
}

/** The type of the escrow's domain. A document for `eth_signTypedData_v4` must have it; viem adds it by itself. */
export const escrowDomainType = [
	{ name: "name", type: "string" },
	{ name: "version", type: "string" },
	{ name: "chainId", type: "uint256" },
	{ name: "verifyingContract", type: "address" },
] as const;

/** Returns the order as the EIP-712 document that its wallet signs. Its digest is `orderDigest`. */
export function orderTypedData(order: Order) {
	const { deadlines, ...fields } = order;
	const escrow = fromWord(order.escrow);
	return {
		domain: escrowDomain({ chainId: toChainId(order.originChainId), escrow }),
		types: orderTypes,
		primaryType: "Order",
		message: {
			...fields,
			wallet: fromWord(order.wallet),
			inputToken: fromWord(order.inputToken),
			escrow,
			originVault: fromWord(order.originVault),
			...unpackDeadlines(deadlines),
		},
	} as const satisfies TypedDataDefinition<typeof orderTypes, "Order">;
}

/** Returns the 32 bytes that a wallet signs to open an order, as typed data or by `personal_sign` of the bytes. */
export function orderDigest(order: Order): Hex {
	const domain = domainHash(toChainId(order.originChainId), fromWord(order.escrow));
	return keccak256(concat(["0x1901", domain, orderId(order)]));
}

/** Cache of domain hashes. It stays small, because few escrows are ever in use. */
const domainHashes = new Map<string, Hex>();

export function domainHash(chainId: number, escrow: Address): Hex {
	const key = `${chainId} ${escrow}`;
	const known = domainHashes.get(key);
	if (known) return known;
	const hash = hashDomain({
		domain: { ...escrowDomain({ chainId, escrow }), chainId: BigInt(chainId) },
		types: { EIP712Domain: [...escrowDomainType] },
	});
	domainHashes.set(key, hash);
	return hash;
}
