import { isDeepStrictEqual } from "node:util";
import type { Milliseconds } from "@geoswap/protocol";
import type { Log } from "../telemetry/log.ts";
import type { Certificates } from "./read-certificates.ts";

/**
 * Reads the certificates periodically, and uses them when they have changed. Files that are replaced one after the
 * other belong together, so a change is used only once two readings agree. If the new files cannot be used, the current
 * ones stay in use.
 */
export function followCertificates({
	first,
	read,
	use,
	everyMs,
	log,
}: {
	/** The certificates in use. */
	first: Certificates;
	/** Reads the files. Throws if one is missing or is not a certificate. */
	read: () => Certificates;
	/** Throws if the certificates cannot be used. */
	use: (certificates: Certificates) => void;
	everyMs: Milliseconds;
	log: Log;
}): { stop: () => void } {
	let seen: Certificates | string = first;
	let isSettled = true;
	const look = () => {
		const now = readOrWhyNot(read);
		const isChanged = !isDeepStrictEqual(now, seen);
		const isDue = !isChanged && !isSettled;
		seen = now;
		isSettled = !isChanged;
		if (!isDue) return;
		try {
			if (typeof now === "string") throw new Error(now);
			use(now);
			log.info("the certificates were read again");
		} catch (error) {
			log.error({ err: error }, "the certificates could not be read again; the old ones stay in use");
		}
	};
	const timer = setInterval(look, everyMs);
	return { stop: () => clearInterval(timer) };
}

function readOrWhyNot(read: () => Certificates): Certificates | string {
	try {
		return read();
	} catch (error) {
		return (error as Error).message;
	}
}
