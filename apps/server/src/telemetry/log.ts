import { toSwapId } from "@geoswap/protocol";
import { type Logger, type LoggerOptions, pino } from "pino";

export type Log = Logger;

/** Lines of JSON with `swapId` where there is one. What could be a secret is cut out wherever it stands. */
export function createLog({
	level,
	process: name,
	write,
}: {
	level: string;
	process: string;
	/** Where lines go instead of stdout. */
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

/** As its caller knows it: who looks for a swap has that spelling. */
function spellSwapId(id: unknown): unknown {
	return typeof id === "string" && /^[0-9a-f]{8}-/.test(id) ? toSwapId(id) : id;
}

/**
 * An error's names, messages and first stack. viem's messages hold the endpoint, which may hold a key, and the whole
 * request: of those only the short message is kept.
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
