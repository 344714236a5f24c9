import type { AccountMeta } from "@solana/kit";

// The published package imports these instead of `@solana/kit/program-client-core`, which the instructions of
// @solana-program import and which kits before 6.1 do not have. They do the same for the accounts of an order's
// instructions, each of which is an address or a signer.

type Account = string | { address: string };

/** Returns a function that describes an instruction's accounts. An account that is left out is the program itself. */
export function getAccountMetaFactory(programAddress: string, optionalAccounts: "omitted" | "programId") {
	return (
		_name: string,
		{ value, isWritable }: { value: Account | null; isWritable: boolean },
	): AccountMeta | undefined => {
		if (!value) return optionalAccounts === "omitted" ? undefined : meta(programAddress, 0);
		const writable = isWritable ? 1 : 0;
		if (typeof value === "string") return meta(value, writable);
		return Object.assign(meta(value.address, writable + 2), { signer: value });
	};
}

export function getNonNullResolvedInstructionInput<Value>(
	name: string,
	value: Value | null | undefined,
): Value {
	if (value === null || value === undefined) throw new TypeError(`${name} is missing`);
	return value;
}

/** The roles are kit's: 1 is writable, 2 signs. */
function meta(address: string, role: number): AccountMeta {
	return { address, role } as AccountMeta;
}
