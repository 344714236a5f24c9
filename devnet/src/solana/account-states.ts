import type { Address, EncodedAccount } from "@solana/kit";
import type { LiteSVM } from "litesvm";
import { systemAccount } from "./new-account.ts";

/** Undefined if the account does not exist. */
export type AccountState = EncodedAccount | undefined;

type Version = { slot: number; account: AccountState };

/**
 * Keeps the current accounts, and their versions in each slot that is not final yet. The virtual machine has the
 * newest state only.
 */
export function accountStates(svm: LiteSVM) {
	// Reading from the machine is the slow part of running a transaction.
	const newest = new Map<Address, AccountState>();
	/** Oldest first. The first version is the state before the others. */
	const versions = new Map<Address, Version[]>();
	/** The machine's original state of every account that has changed. */
	const originals = new Map<Address, AccountState>();

	const load = (address: Address): AccountState => {
		const account = svm.getAccount(address);
		// The chain removes accounts without lamports.
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
		/** Returns the account at the end of that slot. */
		readAt: (address: Address, slot: number): AccountState => {
			const past = versions.get(address);
			return past ? past.findLast((version) => version.slot <= slot)?.account : read(address);
		},
		write,
		/** Takes over the account that a transaction left. Returns true if it changed. */
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
		/**
		 * Changes the account in all slots, as if it had always been so, because changes outside the chain's own history have
		 * no slot.
		 */
		amend: (address: Address, change: (account: AccountState) => AccountState) => {
			for (const version of versions.get(address) ?? []) version.account = change(version.account);
			write(address, change(read(address)));
		},
		/** Drops the versions before that slot, which can no longer be requested. */
		forgetBefore: (address: Address, slot: number) => {
			const past = versions.get(address);
			if (!past) return;
			const kept = past.findLastIndex((version) => version.slot <= slot);
			if (kept > 0) past.splice(0, kept);
			if (past.length === 1) versions.delete(address);
		},
		/** Undoes everything that happened after that slot. */
		restore: (slot: number) => {
			for (const [address, past] of versions) {
				const kept = past.findLastIndex((version) => version.slot <= slot);
				if (kept === past.length - 1) continue;
				past.splice(kept + 1);
				write(address, past[kept]?.account);
			}
		},
		/** Restores the machine's original state. */
		reset: () => {
			for (const [address, account] of originals) set(address, account);
			originals.clear();
			newest.clear();
			versions.clear();
		},
		/** Runs `look` with these accounts as they were at the end of that slot. */
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
		/** Returns the program's addresses, and those of all accounts that changed in a slot that is not final. */
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
