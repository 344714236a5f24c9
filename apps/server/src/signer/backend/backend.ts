import type { EvmSigner, SolanaSigner } from "../signer.ts";
import type { KeyName } from "../signer-error.ts";

/** A key to open: its name, and what its reference says after the backend. */
export type KeyToOpen = { name: KeyName; rest: string };

/** A place that holds keys. It throws a ConfigError if a person must change something before the key can be used. */
export type Backend = {
	openEvm: (key: KeyToOpen) => Promise<EvmSigner>;
	openSolana: (key: KeyToOpen) => Promise<SolanaSigner>;
	close?: () => Promise<void>;
};
