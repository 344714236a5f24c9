import { type Client, createClient } from "@geoswap/sdk";
import { type LoadedConfig, readConfig } from "./config.ts";
import type { Io } from "./io.ts";
import { type Keychain, openKeychain } from "./keychain.ts";
import type { Output } from "./output.ts";
import { readApiKey } from "./read-keys.ts";

/** The context of every command. */
export type Call = {
	io: Io;
	output: Output;
	/** Aborted by Ctrl-C, or when the system requests the program to end. */
	signal: AbortSignal;
};

/** The context of a command that calls the service. */
export type Context = Call & {
	config: LoadedConfig;
	client: Client;
	keys: { env: Io["env"]; keychain: Keychain };
};

export async function openContext(call: Call): Promise<Context> {
	const { config, keys } = await openConfig(call);
	const client = createClient({ baseUrl: config.baseUrl, apiKey: await readApiKey(keys) });
	return { ...call, config, client, keys };
}

/** Opens the configuration and the keys, for a command that does not call the service. */
export async function openConfig({ io }: Pick<Call, "io">): Promise<Pick<Context, "config" | "keys">> {
	const config = await readConfig(io);
	return { config, keys: { env: io.env, keychain: openKeychain(config.home) } };
}
