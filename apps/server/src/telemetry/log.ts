import { type SwapUuid, toSwapId } from "@geoswap/protocol";
import { type Logger, type LoggerOptions, pino } from "pino";

export type Log = Logger;

/** Creates a log of JSON lines, with `swapId` where there is one. Fields that could hold a secret are redacted. */
export function createLog({
	level,
	process: name,
	write,
}: {
	level: string;
	process: string;
	/** Receives the lines instead of stdout. */
	write?: (line: string) => void;
}): Log {
	const options: LoggerOptions = {
		level,
		base: { process: name },
		serializers: {
			err: describeError,
			swapId: spellSwapId,
			swapIds: (ids: unknown[]) => ids.map(spellSwapId),
		},
		redact: {
			paths: [
				"signature",
				"*.signature",
				"*.*.signature",
				"privateKey",
				"*.privateKey",
				"apiKey",
				"*.apiKey",
				'req.headers["x-api-key"]',
				'headers["x-api-key"]',
				"geoQuoteToken",
				"geoOpToken",
				"*.geoQuoteToken",
				"*.geoOpToken",
				"signedTransaction",
				"*.signedTransaction",
				"authorization",
				"*.authorization",
				"raw",
				"*.raw",
			],
			censor: "[redacted]",
		},
	};
	return write ? pino(options, { write }) : pino(options);
}

/** Returns the id in the form of the API, because operators search for a swap by that form. */
function spellSwapId(id: unknown): unknown {
	return typeof id === "string" && /^[0-9a-f]{8}-/.test(id) ? toSwapId(id as SwapUuid) : id;
}

/**
 * Returns an error's names, messages and first stack. viem's messages contain the endpoint, which may contain a key,
 * and the whole request, so only the short message of its errors is kept.
 */
export function describeError(error: unknown): Record<string, unknown> {
	if (!(error instanceof Error)) return { message: String(error) };
	const { shortMessage, code } = error as { shortMessage?: string; code?: unknown };
	return {
		name: error.name,
		message: shortMessage ?? error.message,
		...(code === undefined ? {} : { code }),
		...(shortMessage === undefined ? { stack: error.stack } : {}),
		...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
	};
}
