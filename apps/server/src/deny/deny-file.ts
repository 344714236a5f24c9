import { readFile, stat } from "node:fs/promises";
import { type Milliseconds, parseAddress, solanaChainId } from "@geoswap/protocol";
import { type Hex, isAddress } from "viem";
import { ConfigError } from "../config/config-error.ts";
import type { DenyMetrics } from "../telemetry/deny-metrics.ts";
import type { Log } from "../telemetry/log.ts";
import type { DenySource } from "./deny-list.ts";

const field = "denyList.file";
/** Interval at which the file is compared with what was read. Its directory may be one that reports no changes. */
const lookEveryMs = 1_000;
/** A larger file is refused, because it is kept in memory. It is enough for a million addresses. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Opens a file of denied addresses, and reads it again when it changes. Throws if it cannot be read at first. While a
 * changed file cannot be read or has a line that is no address, the addresses read before stay denied.
 */
export async function openDenyFile({
	path,
	onLookup,
	everyMs = lookEveryMs,
	log,
}: {
	path: string;
	onLookup?: DenyMetrics["lookedUp"] | undefined;
	everyMs?: Milliseconds;
	log: Log;
}): Promise<DenySource> {
	/** Identifies the version of the file that `denied` was read from; undefined if the last reading failed. */
	let version: string | undefined;
	let denied: ReadonlySet<Hex> = new Set();
	let isBroken = false;

	async function look(): Promise<void> {
		const found = await versionOf(path);
		if (found === version) return;
		denied = parseDenied(await readFile(path, "utf8"));
		version = found;
		log.info({ path, addresses: denied.size }, "the deny list was read");
		onLookup?.("ok");
	}

	async function lookAgain(): Promise<void> {
		try {
			await look();
			isBroken = false;
		} catch (err) {
			version = undefined;
			onLookup?.("failed");
			if (!isBroken) log.error({ path, err }, "the deny list cannot be read; the last one stays in force");
			isBroken = true;
		}
	}

	try {
		await look();
	} catch (error) {
		throw error instanceof ConfigError
			? error
			: new ConfigError(field, `${path}: ${(error as Error).message}`);
	}
	let looking: Promise<void> | undefined;
	const timer = setInterval(() => {
		looking ??= lookAgain().finally(() => {
			looking = undefined;
		});
	}, everyMs);
	return {
		isDenied: (address) => denied.has(address),
		async close() {
			clearInterval(timer);
			await looking;
		},
	};
}

async function versionOf(path: string): Promise<string> {
	const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
	if (size > maxBytes) throw new ConfigError(field, `${path} has more than ${maxBytes} bytes`);
	return [dev, ino, size, mtimeNs, ctimeNs].join();
}

/** Parses a list with one address per line. Text after # is a comment. */
export function parseDenied(text: string): Set<Hex> {
	const denied = new Set<Hex>();
	for (const [index, line] of text.split("\n").entries()) {
		const address = line.replace(/#.*/, "").trim();
		if (address === "") continue;
		const parsed = isAddress(address) ? address : parseAddress(solanaChainId, address);
		if (!parsed) {
			throw new ConfigError(
				field,
				`line ${index + 1} is not an address of an EVM chain or of Solana; write one address per line`,
			);
		}
		denied.add(parsed.toLowerCase() as Hex);
	}
	return denied;
}
