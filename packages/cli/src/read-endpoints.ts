import type { Deployment } from "@geoswap/protocol";
import { CliError } from "./cli-error.ts";
import { findChain } from "./pinned-assets.ts";

/** Reads `--rpc <chain>=<url>` options. Returns the endpoints by chain id. */
export function readEndpoints(pins: Deployment, entries: readonly string[]): Record<string, string> {
	return Object.fromEntries(
		entries.map((entry) => {
			const [, chain, url] = /^([^=]+)=(.+)$/.exec(entry) ?? [];
			// The messages leave out the entry, which may contain an API key.
			if (chain === undefined || url === undefined)
				throw usage("must be <chain>=<url>, such as 8453=https://…");
			if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
				throw usage("that is not an http address. Write it in full, such as 8453=https://rpc.example.");
			}
			return [String(findChain(pins, chain).chainId), url];
		}),
	);
}

function usage(message: string): CliError {
	return new CliError(`--rpc: ${message}`, { code: "USAGE", section: "init" });
}
