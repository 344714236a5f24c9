import { type CompiledTransactionMessage, getCompiledTransactionMessageDecoder } from "@solana/kit";

type ChangedPart =
	| "version"
	| "fee payer"
	| "blockhash"
	| "lookup tables"
	| "instructions"
	| "accounts"
	| "bytes";
type V0 = Extract<CompiledTransactionMessage, { version: 0 }>;

/** Returns the first part found in a message that is not as it was built. */
export function changedPart(built: Uint8Array, given: Uint8Array): ChangedPart {
	const before = decode(built);
	const after = decode(given);
	if (before?.version !== 0 || !after) return "bytes";
	if (after.version !== 0) return "version";
	if (before.staticAccounts[0] !== after.staticAccounts[0]) return "fee payer";
	if (before.lifetimeToken !== after.lifetimeToken) return "blockhash";
	if ((after.addressTableLookups ?? []).length > 0) return "lookup tables";
	if (!isSame(calls(before), calls(after))) return "instructions";
	if (!isSame(accounts(before), accounts(after))) return "accounts";
	return "bytes";
}

function decode(message: Uint8Array) {
	try {
		return getCompiledTransactionMessageDecoder().decode(message);
	} catch {
		return undefined;
	}
}

/** Returns the programs that are called, each with its data, in order. */
function calls({ instructions, staticAccounts }: V0) {
	return instructions.map(({ programAddressIndex, data }) => [
		staticAccounts[programAddressIndex],
		...(data ?? []),
	]);
}

/** Returns the accounts, which of them sign or are written, and which instruction takes which. */
function accounts({ header, staticAccounts, instructions }: V0) {
	return [header, staticAccounts, instructions.map(({ accountIndices }) => accountIndices ?? [])];
}

function isSame(left: unknown, right: unknown): boolean {
	return JSON.stringify(left) === JSON.stringify(right);
}
