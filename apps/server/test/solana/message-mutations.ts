import type { SolanaAddress } from "@geoswap/protocol";
import {
	type AccountMeta,
	AccountRole,
	appendTransactionMessageInstructions,
	type Blockhash,
	compileTransactionMessage,
	createTransactionMessage,
	decompileTransactionMessage,
	getAddressDecoder,
	getCompiledTransactionMessageDecoder,
	getCompiledTransactionMessageEncoder,
	type Instruction,
	pipe,
	setTransactionMessageFeePayer,
	setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";

const [unitLimit, unitPrice, prepare, transfer, open] = [0, 1, 2, 3, 4] as const;

/** Returns an integer from 0 up to, but not including, `below`. A mutation calls it for each of its choices. */
export type Dice = (below: number) => number;

/** The message in a form that can be changed and compiled again. */
type Draft = {
	version: 0 | 1 | "legacy";
	feePayer: SolanaAddress;
	blockhash: string;
	instructions: Instruction[];
};

/** Returns a changed copy of a message. It can equal the message if the choices happen to change nothing. */
export type MessageMutation = (message: Uint8Array, dice: Dice) => Uint8Array;

/**
 * Mutations of the message that `openTransaction` builds and a Solana wallet signs to open its order.
 * `checkSignedTransaction` and `coSignOrder` must refuse every result, even if the wallet signed it.
 *
 * The message has version 0, no lookup tables and five instructions:
 *
 * 0. the compute unit limit: one byte, then four bytes of limit
 * 1. the compute unit price: one byte, then eight bytes of price
 * 2. the program's `prepare`: one byte, then the order's terms. Its first account is the fee payer, its second the
 *    order's account.
 * 3. the transfer of the input. For a token it is the Token program's `TransferChecked` to the order's token account: the
 *    byte 12, then eight bytes of amount; accounts are source, mint, destination, wallet. For lamports it is the System
 *    program's transfer to the order's account: four bytes, then eight bytes of amount; accounts are wallet and order.
 * 4. the program's `open`: one byte. Its first account is the order's.
 */
export const messageMutations: Record<string, MessageMutation> = {
	"a flipped bit": (message, dice) => {
		const bytes = new Uint8Array(message);
		const at = dice(bytes.length);
		bytes[at] = (bytes[at] ?? 0) ^ (1 << dice(8));
		return bytes;
	},
	"another byte": (message, dice) => {
		const bytes = new Uint8Array(message);
		const at = dice(bytes.length);
		bytes[at] = ((bytes[at] ?? 0) + 1 + dice(255)) % 256;
		return bytes;
	},
	"bytes removed from the end": (message, dice) => message.slice(0, dice(message.length)),
	"bytes added": (message, dice) =>
		new Uint8Array([...message, ...Array.from({ length: 1 + dice(40) }, () => dice(256))]),
	"a byte inserted": (message, dice) => {
		const at = dice(message.length);
		return new Uint8Array([...message.slice(0, at), dice(256), ...message.slice(at)]);
	},
	"an instruction added": redrafted((draft, dice) => {
		draft.instructions.splice(dice(draft.instructions.length + 1), 0, anyInstruction(draft, dice));
	}),
	"an instruction removed": redrafted((draft, dice) => {
		draft.instructions.splice(dice(draft.instructions.length), 1);
	}),
	"an instruction repeated": redrafted((draft, dice) => {
		const instruction = pick(draft.instructions, dice);
		draft.instructions.splice(dice(draft.instructions.length + 1), 0, instruction);
	}),
	"an instruction replaced": redrafted((draft, dice) => {
		draft.instructions[dice(draft.instructions.length)] = anyInstruction(draft, dice);
	}),
	"instructions in another order": redrafted((draft, dice) => {
		const from = dice(draft.instructions.length);
		const [moved] = draft.instructions.splice(from, 1);
		const to = (from + 1 + dice(draft.instructions.length)) % (draft.instructions.length + 1);
		if (moved) draft.instructions.splice(to, 0, moved);
	}),
	"another program": redrafted((draft, dice) =>
		change(draft, dice(draft.instructions.length), { programAddress: anyAddress(dice) }),
	),
	"another unit limit": redrafted((draft, dice) => changeData(draft, unitLimit, 1 + dice(4), dice)),
	"another unit price": redrafted((draft, dice) => changeData(draft, unitPrice, 1 + dice(8), dice)),
	"another amount": redrafted((draft, dice) =>
		changeData(draft, transfer, (draft.instructions[transfer]?.data?.[0] === 12 ? 1 : 4) + dice(8), dice),
	),
	"another term of the order": redrafted((draft, dice) =>
		changeData(draft, prepare, 1 + dice((draft.instructions[prepare]?.data?.length ?? 1) - 1), dice),
	),
	"another instruction of the program": redrafted((draft, dice) =>
		changeData(draft, pick([prepare, open], dice), 0, dice),
	),
	"another account": redrafted((draft, dice) => {
		const instruction = pick([prepare, transfer, open], dice);
		const accounts = [...(draft.instructions[instruction]?.accounts ?? [])] as AccountMeta[];
		const at = dice(accounts.length);
		accounts[at] = { role: AccountRole.WRITABLE, ...accounts[at], address: anyAddress(dice) };
		change(draft, instruction, { accounts });
	}),
	"accounts swapped": redrafted((draft, dice) => {
		const instruction = pick([prepare, transfer, open], dice);
		const accounts = [...(draft.instructions[instruction]?.accounts ?? [])] as AccountMeta[];
		const at = dice(accounts.length);
		const [one, other] = [accounts[at], accounts[(at + 1) % accounts.length]];
		if (one && other) [accounts[at], accounts[(at + 1) % accounts.length]] = [other, one];
		change(draft, instruction, { accounts });
	}),
	"an additional account": redrafted((draft, dice) => {
		const at = dice(draft.instructions.length);
		const role = pick([AccountRole.READONLY, AccountRole.WRITABLE], dice);
		change(draft, at, {
			accounts: [...(draft.instructions[at]?.accounts ?? []), { address: anyAddress(dice), role }],
		});
	}),
	"another account role": redrafted((draft, dice) => {
		const instruction = pick([prepare, transfer, open], dice);
		const accounts = [...(draft.instructions[instruction]?.accounts ?? [])] as AccountMeta[];
		// A message in which a called program is writable cannot be compiled.
		const called = draft.instructions.map(({ programAddress }) => programAddress);
		const was = pick(
			accounts.filter(({ address }) => !called.includes(address)),
			dice,
		);
		const roles = [
			AccountRole.READONLY,
			AccountRole.WRITABLE,
			AccountRole.READONLY_SIGNER,
			AccountRole.WRITABLE_SIGNER,
		].filter((role) => role !== was.role);
		accounts[accounts.indexOf(was)] = { ...was, role: pick(roles, dice) };
		change(draft, instruction, { accounts });
	}),
	"the wallet in an instruction of the program": redrafted((draft, dice) => {
		const wallet = draft.instructions[transfer]?.accounts?.find(isSigner);
		const at = pick([prepare, open], dice);
		if (wallet) change(draft, at, { accounts: [...(draft.instructions[at]?.accounts ?? []), wallet] });
	}),
	"an additional signer": redrafted((draft, dice) => {
		const at = pick([prepare, transfer, open], dice);
		const accounts = draft.instructions[at]?.accounts ?? [];
		change(draft, at, {
			accounts: [...accounts, { address: anyAddress(dice), role: AccountRole.READONLY_SIGNER }],
		});
	}),
	"another fee payer": redrafted((draft, dice) => {
		replaceFeePayer(draft, anyAddress(dice));
	}),
	// For a token the last account is the wallet, for lamports the order's.
	"the transfer's last account as fee payer": redrafted((draft) => {
		const last = draft.instructions[transfer]?.accounts?.at(-1)?.address;
		if (last) replaceFeePayer(draft, last);
	}),
	"another blockhash": redrafted((draft, dice) => {
		draft.blockhash = anyAddress(dice);
	}),
	"the legacy version": redrafted((draft) => {
		draft.version = "legacy";
	}),
	"version 1": redrafted((draft) => {
		draft.version = 1;
	}),
	// The first byte is 0x80 plus the version.
	"a version from 1 to 127": (message, dice) => new Uint8Array([0x81 + dice(127), ...message.slice(1)]),
	"a lookup table": (message, dice) => {
		// The last byte is the number of lookup tables. The table added here loads one account, which no instruction uses.
		const table = new Uint8Array(32).map(() => dice(256));
		const [writable, readonly] = dice(2) ? [[1, dice(256)], [0]] : [[0], [1, dice(256)]];
		return new Uint8Array([...message.slice(0, -1), 1, ...table, ...writable, ...readonly]);
	},
	"a lookup table in place of an account": redrafted((draft, dice) => {
		const writable = draft.instructions.flatMap(({ accounts = [] }) =>
			accounts.filter(({ role }) => role === AccountRole.WRITABLE),
		);
		const { address } = pick(writable, dice);
		const lookup = { address, addressIndex: dice(256), lookupTableAddress: anyAddress(dice) };
		// An account that one instruction contains directly is not looked up for the others.
		for (const [at, { accounts = [] }] of draft.instructions.entries()) {
			change(draft, at, {
				accounts: accounts.map((one) =>
					one.address === address
						? { ...lookup, role: one.role as AccountRole.READONLY | AccountRole.WRITABLE }
						: one,
				),
			});
		}
	}),
};

/** Returns a mutation that decompiles the message, changes the draft and compiles it again. */
function redrafted(mutate: (draft: Draft, dice: Dice) => void): MessageMutation {
	return (message, dice) => {
		const decompiled = decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(message));
		const draft: Draft = {
			version: 0,
			feePayer: decompiled.feePayer.address,
			blockhash: (decompiled.lifetimeConstraint as { blockhash: string }).blockhash,
			instructions: [...decompiled.instructions],
		};
		mutate(draft, dice);
		return compile(draft);
	};
}

function compile({ version, feePayer, blockhash, instructions }: Draft): Uint8Array {
	const message = pipe(
		createTransactionMessage({ version: version as 0 }),
		(empty) => setTransactionMessageFeePayer(feePayer, empty),
		(withFeePayer) =>
			setTransactionMessageLifetimeUsingBlockhash(
				{ blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n },
				withFeePayer,
			),
		(withLifetime) => appendTransactionMessageInstructions(instructions, withLifetime),
	);
	return new Uint8Array(getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(message)));
}

/** Returns a transfer of lamports from the fee payer or the wallet, or an instruction of an unknown program. */
function anyInstruction({ feePayer, instructions }: Draft, dice: Dice): Instruction {
	const wallet = instructions[transfer]?.accounts?.find(isSigner);
	const source = dice(2) ? feePayer : (wallet?.address ?? feePayer);
	const payment = getTransferSolInstruction({
		source: { address: source } as never,
		destination: anyAddress(dice),
		amount: BigInt(1 + dice(1_000_000)),
	});
	return dice(3)
		? { ...payment, accounts: payment.accounts.map(({ address, role }) => ({ address, role })) }
		: {
				programAddress: anyAddress(dice),
				accounts: [{ address: feePayer, role: AccountRole.WRITABLE_SIGNER }],
				data: new Uint8Array([dice(256), dice(256)]),
			};
}

function isSigner({ role }: AccountMeta): boolean {
	return role >= AccountRole.READONLY_SIGNER;
}

/** Lets another account pay the fee, and the rent of the order's accounts. */
function replaceFeePayer(draft: Draft, feePayer: SolanaAddress): void {
	const [, ...others] = draft.instructions[prepare]?.accounts ?? [];
	change(draft, prepare, {
		accounts: [{ address: feePayer, role: AccountRole.WRITABLE_SIGNER }, ...others],
	});
	draft.feePayer = feePayer;
}

function change(draft: Draft, at: number, changes: Partial<Instruction>): void {
	const instruction = draft.instructions[at];
	if (instruction) draft.instructions[at] = { ...instruction, ...changes };
}

/** Changes one byte of an instruction's data to another value. */
function changeData(draft: Draft, at: number, byte: number, dice: Dice): void {
	const data = new Uint8Array(draft.instructions[at]?.data ?? []);
	data[byte] = ((data[byte] ?? 0) + 1 + dice(255)) % 256;
	change(draft, at, { data });
}

function pick<T>(from: readonly T[], dice: Dice): T {
	const picked = from[dice(from.length)];
	if (picked === undefined) throw new RangeError("nothing to pick from");
	return picked;
}

function anyAddress(dice: Dice): SolanaAddress {
	return getAddressDecoder().decode(new Uint8Array(32).map(() => dice(256)));
}
