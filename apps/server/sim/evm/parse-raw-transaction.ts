import { type Address, type Hex, keccak256, parseTransaction, serializeTransaction } from "viem";
import { hashAuthorization } from "viem/utils";
import { lower } from "./lower.ts";
import { recoverSigner } from "./recover-signer.ts";

export type SignedAuthorization = {
	/** Zero is valid on every chain. */
	chainId: number;
	delegate: Address;
	nonce: number;
	/** Undefined if the signature is invalid. */
	authority: Address | undefined;
};

/** A transaction as a node decodes it. Addresses are in lower case. */
export type EvmTransaction = {
	hash: Hex;
	raw: Hex;
	type: "legacy" | "eip2930" | "eip1559" | "eip7702";
	from: Address;
	/** Undefined if it would create a contract. */
	to: Address | undefined;
	nonce: number;
	value: bigint;
	data: Hex;
	gas: bigint;
	maxFeePerGas: bigint;
	maxPriorityFeePerGas: bigint;
	chainId: number | undefined;
	authorizations: SignedAuthorization[];
};

const maxParsed = 5_000;
const parsed = new Map<Hex, EvmTransaction | undefined>();

/** Returns undefined if the bytes are not a signed transaction. */
export function parseRawTransaction(raw: Hex): EvmTransaction | undefined {
	if (parsed.size > maxParsed) parsed.clear();
	if (!parsed.has(raw)) {
		try {
			parsed.set(raw, parse(raw));
		} catch {
			parsed.set(raw, undefined);
		}
	}
	return parsed.get(raw);
}

function parse(raw: Hex): EvmTransaction | undefined {
	const { r, s, v, yParity, ...transaction } = parseTransaction(raw);
	if (!r || !s) return undefined;
	const parity = yParity ?? (v === undefined ? 0 : Number(v >= 35n ? (v - 35n) % 2n : v - 27n));
	const from = recoverSigner(keccak256(serializeTransaction(transaction)), {
		r: BigInt(r),
		s: BigInt(s),
		yParity: parity,
	});
	const { type } = transaction;
	if (!from || type === "eip4844") return undefined;
	const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, authorizationList } = transaction as unknown as {
		gasPrice?: bigint;
		maxFeePerGas?: bigint;
		maxPriorityFeePerGas?: bigint;
		authorizationList?: RpcAuthorization[];
	};
	return {
		hash: keccak256(raw),
		raw,
		type: type as EvmTransaction["type"],
		from,
		to: transaction.to ? lower(transaction.to) : undefined,
		nonce: transaction.nonce ?? 0,
		value: transaction.value ?? 0n,
		data: transaction.data ?? "0x",
		gas: transaction.gas ?? 0n,
		maxFeePerGas: maxFeePerGas ?? gasPrice ?? 0n,
		maxPriorityFeePerGas: maxPriorityFeePerGas ?? (maxFeePerGas === undefined ? (gasPrice ?? 0n) : 0n),
		chainId: transaction.chainId,
		authorizations: (authorizationList ?? []).map(parseAuthorization),
	};
}

/** An authorization as a transaction has it, with numbers, or as a request has it, with numbers in hex. */
export type RpcAuthorization = {
	chainId: number | Hex;
	address: Address;
	nonce: number | Hex;
	r: Hex;
	s: Hex;
	yParity?: number | Hex | undefined;
};

export function parseAuthorization(given: RpcAuthorization): SignedAuthorization {
	const [chainId, nonce] = [Number(given.chainId), Number(given.nonce)];
	const { address } = given;
	const signature = { r: BigInt(given.r), s: BigInt(given.s), yParity: Number(given.yParity ?? 0) };
	const authority = recoverSigner(hashAuthorization({ address, chainId, nonce }), signature);
	return { chainId, delegate: lower(address), nonce, authority };
}
