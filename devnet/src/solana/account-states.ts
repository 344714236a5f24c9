import type { Address, EncodedAccount } from "@solana/kit";
import type { LiteSVM } from "litesvm";
import { systemAccount } from "./new-account.ts";

/** Undefined where there is none. */
export type AccountState = EncodedAccount | undefined;

type Version = { slot: number; account: AccountState };

/**
 * The accounts as they are, and as they were in each slot that is not final yet. The virtual machine knows the newest
 * state only.
 */
export function accountStates(svm: LiteSVM) {
	// Reading from the machine is the slow part of running a transaction.
	const newest = new Map<Address, AccountState>();
	/** Oldest first. The first one says what was there before the others. */
	const versions = new Map<Address, Version[]>();
	/** What the machine had before, of all that is otherwise now. */
	const originals = new Map<Address, AccountState>();

	const load = (address: Address): AccountState => {
		const account = svm.getAccount(address);
		// An account without lamports is one that the chain removes.
		const state = account.exists && account.lamports > 0n ? account : undefined;
		newest.set(address, state);
		return state;
	};
	const read = (address: Address) => (newest.has(address) ? newest.get(address) : load(address));
	const set = (address: Address, account: AccountState) => {
		svm.setAccount(account ?? systemAccount(address, 0n));
		newest.set(address, account);
	};
	const write = (address: Address, account: AccountState) => {
		if (!originals.has(address)) originals.set(address, read(address));
		set(address, account);
	};

	return {
		read,
		/** As it was at the end of that slot. */
		readAt: (address: Address, slot: number): AccountState => {
			const past = versions.get(address);
			return past ? past.findLast((version) => version.slot <= slot)?.account : read(address);
		},
		write,
		/** Takes over what a transaction has left. Says whether it is another account now. */
		refresh: (address: Address, slot: number): boolean => {
			const before = read(address);
			const after = load(address);
			if (isSame(before, after)) return false;
			if (!originals.has(address)) originals.set(address, before);
			const past = versions.get(address) ?? [{ slot: -1, account: before }];
			versions.set(address, past);
			const last = past.at(-1);
			if (last?.slot === slot) last.account = after;
			else past.push({ slot, account: after });
			return true;
		},
		/** As if it had always been so: what is not of the chain's own history has no slot in it. */
		amend: (address: Address, change: (account: AccountState) => AccountState) => {
			for (const version of versions.get(address) ?? []) version.account = change(version.account);
			write(address, change(read(address)));
		},
		/** Nobody asks for what was before that slot any more. */
		forgetBefore: (address: Address, slot: number) => {
			const past = versions.get(address);
			if (!past) return;
			const kept = past.findLastIndex((version) => version.slot <= slot);
			if (kept > 0) past.splice(0, kept);
			if (past.length === 1) versions.delete(address);
		},
		/** Makes all that happened after that slot undone. */
		restore: (slot: number) => {
			for (const [address, past] of versions) {
				const kept = past.findLastIndex((version) => version.slot <= slot);
				if (kept === past.length - 1) continue;
				past.splice(kept + 1);
				write(address, past[kept]?.account);
			}
		},
		/** Leaves the machine as it was found. */
		reset: () => {
			for (const [address, account] of originals) set(address, account);
			originals.clear();
			newest.clear();
			versions.clear();
		},
		/** Lets something look at these accounts as they were at the end of that slot. */
		during: <T>(addresses: readonly Address[], slot: number, look: () => T): T => {
			const past = addresses.flatMap((address) => {
				const was = versions.get(address)?.findLast((version) => version.slot <= slot)?.account;
				const is = read(address);
				return versions.has(address) && was !== is ? [{ address, was, is }] : [];
			});
			for (const { address, was } of past) write(address, was);
			try {
				return look();
			} finally {
				for (const { address, is } of past) write(address, is);
			}
		},
		/** Those of a program, and those that were while a slot was not final. */
		addressesOf: (program: Address): Address[] => [
			...new Set([...svm.getProgramAccounts(program).map(({ address }) => address), ...versions.keys()]),
		],
	};
}

export type AccountStates = ReturnType<typeof accountStates>;

function isSame(one: AccountState, other: AccountState): boolean {
	if (!one || !other) return one === other;
	return (
		one.lamports === other.lamports &&
		one.programAddress === other.programAddress &&
		Buffer.compare(one.data as Uint8Array, other.data as Uint8Array) === 0
	);
}
