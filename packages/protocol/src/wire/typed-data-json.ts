import { escrowDomainType } from "../order.ts";

type Field = { name: string; type: string };

/** EIP-712 typed data as JSON. The message has no bigint. */
export type TypedDataJson = {
	domain: { name: string; version: string; chainId: number; verifyingContract: `0x${string}` };
	types: Record<string, readonly Field[]>;
	primaryType: string;
	message: Record<string, unknown>;
};

/** Returns typed data for an escrow as JSON, complete for `eth_signTypedData_v4`. Numbers are decimal strings. */
export function typedDataToJson({
	domain,
	types,
	primaryType,
	message,
}: TypedDataJson): TypedDataJson & { types: Record<string, Field[]> } {
	const named = { EIP712Domain: escrowDomainType, ...types };
	return {
		domain,
		// Copies, which the caller may change.
		types: Object.fromEntries(
			Object.entries(named).map(([name, fields]) => [name, fields.map((field) => ({ ...field }))]),
		),
		primaryType,
		message: plain(message) as Record<string, unknown>,
	};
}

function plain(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(plain);
	if (typeof value !== "object" || value === null) {
		return typeof value === "bigint" || typeof value === "number" ? String(value) : value;
	}
	return Object.fromEntries(Object.entries(value).map(([field, part]) => [field, plain(part)]));
}
