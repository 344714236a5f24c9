import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import type { ConsoleConfig } from "./console-parts.ts";

/** Throws if the configuration has no section for the console. */
export function expectConsole(config: Config, path: string): ConsoleConfig {
	const { console: section } = config;
	if (!section) {
		throw new ConfigError(path, 'console: is missing. Add "console": { "port": 9090 }: see docs/console.md');
	}
	return { ...config, console: section };
}

/** Returns the address that operators type into the browser. */
export function publicUrlOf({ console: { publicUrl, port } }: ConsoleConfig): string {
	return publicUrl ?? `http://localhost:${port}`;
}
