import type { StateManagerInterface } from "@ethereumjs/common";
import { Account, type Address } from "@ethereumjs/util";
import { bytesToHex, type Hex, hexToBytes, keccak256, numberToBytes } from "viem";
import { type StateOverlay, stateKey } from "./state-overlay.ts";

/** The state that the EVM reads and writes, which is an overlay without a trie. Nothing here is hashed but code. */
type EvmStateManager = StateManagerInterface & {
	/** Sets the state of the next call or transaction. */
	use: (state: StateOverlay) => void;
};

type Code = { bytes: Uint8Array; hash: Uint8Array };

/** All chains of all worlds have the same few codes. */
const codes = new Map<string, Code>();
const noBytes = new Uint8Array();

function codeOf(text: string): Code {
	let code = codes.get(text);
	if (!code) {
		const bytes = text === "" ? noBytes : hexToBytes(text as Hex);
		code = { bytes, hash: keccak256(bytes, "bytes") };
		codes.set(text, code);
	}
	return code;
}

export function createEvmStateManager(): EvmStateManager {
	let state: StateOverlay;
	const marks: number[] = [];
	/** Storage as it was before the transaction, which decides what a write costs. */
	const original = new Map<string, Uint8Array>();

	const slotKey = (address: Address, slot: Uint8Array) => stateKey.slot(address.toString(), bytesToHex(slot));
	const readSlot = (key: string): Uint8Array => {
		const value = state.number(key);
		return value === 0n ? noBytes : numberToBytes(value);
	};
	const write = (key: string, value: bigint) => {
		if (state.number(key) !== value) state.set(key, value);
	};
	const noRoots = () => {
		throw new Error("the simulated chain has no state roots");
	};

	const manager: EvmStateManager = {
		use: (next) => {
			state = next;
			marks.length = 0;
			original.clear();
		},
		getAccount: async (address) => {
			const at = address.toString();
			const [nonce, balance] = [state.number(stateKey.nonce(at)), state.number(stateKey.native(at))];
			const code = state.text(stateKey.code(at));
			if (nonce === 0n && balance === 0n && code === "") return undefined;
			return new Account(nonce, balance, undefined, codeOf(code).hash);
		},
		putAccount: async (address, account) => {
			write(stateKey.nonce(address.toString()), account?.nonce ?? 0n);
			write(stateKey.native(address.toString()), account?.balance ?? 0n);
		},
		deleteAccount: async (address) => {
			await manager.putAccount(address, undefined);
			const key = stateKey.code(address.toString());
			if (state.text(key) !== "") state.set(key, "");
		},
		modifyAccountFields: async (address, { nonce, balance }) => {
			if (nonce !== undefined) write(stateKey.nonce(address.toString()), nonce);
			if (balance !== undefined) write(stateKey.native(address.toString()), balance);
		},
		putCode: async (address, code) => state.set(stateKey.code(address.toString()), bytesToHex(code)),
		getCode: async (address) => codeOf(state.text(stateKey.code(address.toString()))).bytes,
		getCodeSize: async (address) => codeOf(state.text(stateKey.code(address.toString()))).bytes.length,
		getStorage: async (address, slot) => readSlot(slotKey(address, slot)),
		putStorage: async (address, slot, value) =>
			write(slotKey(address, slot), value.length === 0 ? 0n : BigInt(bytesToHex(value))),
		// Called for a contract that is created, whose address had no storage.
		clearStorage: async () => {},
		checkpoint: async () => {
			marks.push(state.mark());
		},
		commit: async () => {
			marks.pop();
		},
		revert: async () => state.undoTo(marks.pop() ?? 0),
		originalStorageCache: {
			get: async (address, slot) => {
				const key = slotKey(address, slot);
				let value = original.get(key);
				if (!value) {
					value = readSlot(key);
					original.set(key, value);
				}
				return value;
			},
			clear: () => original.clear(),
		},
		getStateRoot: async () => noRoots(),
		setStateRoot: async () => noRoots(),
		hasStateRoot: async () => noRoots(),
		clearCaches: () => {},
		shallowCopy: () => createEvmStateManager(),
	};
	return manager;
}
