import type { ProgramDeployment, SolanaAddress } from "@geoswap/protocol";
import { getBase58Encoder } from "@solana/kit";

/** Instructions of the program that change what orders and the vault hold, by their number. */
const names = new Map([
	[1, "open"],
	[4, "pay"],
	[5, "close"],
	[15, "withdraw"],
	[16, "fill"],
	[17, "void"],
	[18, "close-record"],
] as const);
type CallName = NonNullable<ReturnType<typeof names.get>>;

/** An instruction of the program, sent by the transaction itself or by another program. */
export type ProgramCall = { name: CallName; accounts: SolanaAddress[] };

/** A top-level instruction of a message, not one of a program that it calls. */
export type SolanaInstruction = { program: SolanaAddress; accounts: SolanaAddress[]; data: Uint8Array };

/** Inner instructions as a node returns them, with indexes of accounts and data in base58. */
type InnerInstructions = readonly {
	instructions: readonly { programIdIndex: number; accounts: readonly number[]; data: string }[];
}[];

/** Returns the calls of the program in a transaction that succeeded, without those of other vaults. */
export function programCalls(
	deployment: Pick<ProgramDeployment, "address" | "vault">,
	{
		instructions,
		inner,
		addresses,
	}: {
		instructions: readonly SolanaInstruction[];
		inner: InnerInstructions;
		addresses: readonly SolanaAddress[];
	},
): ProgramCall[] {
	const called = inner.flatMap(({ instructions: some }) =>
		some.map(({ programIdIndex, accounts, data }) => ({
			program: addresses[programIdIndex],
			accounts: accounts.flatMap((index) => addresses[index] ?? []),
			data: new Uint8Array(getBase58Encoder().encode(data)),
		})),
	);
	return [...instructions, ...called].flatMap(({ program, accounts, data }) => {
		const name = program === deployment.address ? names.get(data[0] as 1) : undefined;
		if (!name) return [];
		// The other instructions name no vault.
		const isOfOrder = name === "open" || name === "pay" || name === "close";
		return isOfOrder || accounts[1] === deployment.vault ? [{ name, accounts }] : [];
	});
}
