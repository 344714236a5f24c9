import type { EvmSigner, SolanaSigner } from "../signer.ts";
import type { KeyName } from "../signer-error.ts";

/** A key to open: its name, and the part of its reference after the backend. */
export type KeyToOpen = { name: KeyName; rest: string };

/** A place that holds keys. It throws a ConfigError if an operator must change something before the key can be used. */
export type Backend = {
	openEvm: (key: KeyToOpen) => Promise<EvmSigner>;
	openSolana: (key: KeyToOpen) => Promise<SolanaSigner>;
	close?: () => Promise<void>;
};

/** The variables of a process. */
export type Surroundings = {
	environment: NodeJS.ProcessEnv;
	/** The variables with secrets, which no library of a device may read. */
	secretNames: readonly string[];
};
