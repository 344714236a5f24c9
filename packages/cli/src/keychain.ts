import { CliError } from "./cli-error.ts";

const service = "geoswap";

export type KeyName = "api-key" | "evm-key" | "solana-key";

/** Secrets in the keychain of the system, for one configuration. */
export type Keychain = {
	/** Returns undefined if the keychain has no such key, or there is no keychain. */
	get: (name: KeyName) => Promise<string | undefined>;
	set: (name: KeyName, secret: string) => Promise<void>;
};

export function openKeychain(home: string): Keychain {
	const entryOf = async (name: KeyName) => {
		// The import loads a native library, which few calls need.
		const { AsyncEntry } = await import("@napi-rs/keyring");
		// The kernel's store, which would be used otherwise, loses its content when the machine restarts.
		return new AsyncEntry(service, `${name} of ${home}`, { linux: { store: "secret-service" } });
	};
	return {
		get: async (name) => {
			try {
				return (await (await entryOf(name)).getPassword()) ?? undefined;
			} catch {
				return undefined;
			}
		},
		set: async (name, secret) => {
			try {
				await (await entryOf(name)).setPassword(secret);
			} catch {
				throw new CliError(
					"This machine has no usable keychain. Set the key in the environment instead: GEOSWAP_API_KEY, GEOSWAP_EVM_KEY, GEOSWAP_SOLANA_KEY.",
					{ code: "NO_KEYCHAIN", section: "keys" },
				);
			}
		},
	};
}
